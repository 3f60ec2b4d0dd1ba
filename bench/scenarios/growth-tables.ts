/** Whether a node costs the same in small runs and in large ones. */
import type { Figure } from '../bench.ts';
import { fittedExponent } from '../growth.ts';
import { counterValues } from './counter-figures.ts';
import type { Counted, CountingHost } from './counting-host.ts';
import type { Scenario } from './scenario.ts';
import { chainOf, fanOf, layersOf, mapOf } from './shapes.ts';

/** A total grows no faster than its nodes; slower, where a run costs something itself. */
const MOST = 1.02;
/** A total below this is too small to fit anything to. */
const LEAST = 0.5;

/** Shapes by their name; a fan and a map have a node before and one after. */
const SHAPES = new Map<string, (size: number) => Scenario>([
  ['a line', (size) => chainOf(size)],
  ['1 → n → 1', (size) => fanOf(size - 2)],
  ['layers of 100', layersOf],
  ['a map', (size) => mapOf(size - 2)],
]);

/** The parts of the bill are in the tables of the scenarios; of a growth the sum is enough. */
const SHOWN_DOLLARS = 'US$ over Step Functions';

/** Every counter of a node at each size, and the exponent of its total: a table for each shape. */
export async function growthTables(
  host: CountingHost,
  sizesOf: (shape: string) => readonly number[],
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [shape, scenarioOf] of SHAPES) {
    const counted: Counted[] = [];
    for (const size of sizesOf(shape)) counted.push(await host.count(scenarioOf(size)));
    figures.push(...tableOf(`growth, per node of ${shape}`, counted));
  }
  return figures;
}

function tableOf(table: string, counted: readonly Counted[]): Figure[] {
  const cells = counted.flatMap((one) =>
    shownValues(one).map(([what, value, decimals]) => ({ size: one.scenario.executions, what, value, decimals })),
  );
  return [...Map.groupBy(cells, ({ what }) => what)].flatMap(([what, row]): Figure[] => {
    const shown = row.map(({ size, value, decimals }) => ({
      what,
      table,
      column: `${size} nodes`,
      values: [value],
      decimals,
    }));
    const points = row.map(({ size, value }) => [size, size * value] as const);
    if (points.some(([, total]) => total < LEAST)) return shown;
    const exponent = { what, table, column: 'exponent', values: [fittedExponent(points)], decimals: 2 };
    return [...shown, { ...exponent, most: MOST, aim: `≤ ${MOST}` }];
  });
}

function shownValues(counted: Counted) {
  return counterValues(counted).filter(([what]) => !what.startsWith('US$') || what === SHOWN_DOLLARS);
}
