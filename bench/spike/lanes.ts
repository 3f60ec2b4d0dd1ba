/**
 * Compares lanes by units and list prices: `node bench/spike/lanes.ts`. What is given can be changed, for instance
 * `--parcel 25 --stretch 10 --passMs 80`; counters of today's lane are read from a file with
 * `--counters figures.json` (`npm run bench -- --only chain-50 fan-200 --json > figures.json`).
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { costOf, PRICES } from '#local/aws-prices.ts';
import { createWireLog } from '#local/wire-log.ts';
import { median } from '../bench.ts';
import { DURABLE_PRICES, EXPRESS_PRICES, LANE_PRICES_READ } from './lane-prices.ts';
import { GIVENS, type Givens, LANES, type Lane, SHAPES, type Shape, type Units, type Work } from './lane-units.ts';

const MILLION = 1e6;
const MILLISECONDS = [100, 1_000, 60_000];
const MEMORIES = [128, 256, 512];
/** A break-even is looked for up to here. */
const LONGEST_MS = 900_000;

const figures = z.object({
  benches: z.array(
    z.object({ name: z.string(), figures: z.array(z.object({ what: z.string(), values: z.array(z.number()) })) }),
  ),
});

const names = Object.keys(GIVENS) as (keyof Givens)[];
const { values: options } = parseArgs({
  options: {
    counters: { type: 'string' },
    json: { type: 'boolean', default: false },
    ...Object.fromEntries(names.map((name) => [name, { type: 'string' as const }])),
  },
});
const given = z
  .record(z.string(), z.coerce.number().positive())
  .parse(Object.fromEntries(Object.entries(options).filter(([name]) => names.includes(name as keyof Givens))));
const givens: Givens = { ...GIVENS, ...given };
const shapes = typeof options.counters === 'string' ? SHAPES.map(countedIn(options.counters)) : SHAPES;

/** A shape with the counters of a file in the place of those that are written down. */
function countedIn(file: string): (shape: Shape) => Shape {
  const { benches } = figures.parse(JSON.parse(readFileSync(file, 'utf8')));
  return (shape) => {
    const found = benches.find(({ name }) => name === shape.name)?.figures;
    if (found === undefined) return shape;
    const of = (what: string, otherwise: number) => {
      const values = found.find((figure) => figure.what === `${what} per node`)?.values;
      return values === undefined ? otherwise : median(values);
    };
    const { counters } = shape;
    const schedulerInvocations = of('scheduler invocations', counters.schedulerInvocations);
    const all = of('invocations in all', 1 + counters.schedulerInvocations + counters.otherInvocations);
    return {
      ...shape,
      counters: {
        schedulerInvocations,
        otherInvocations: all - 1 - schedulerInvocations,
        writeUnits: of('write units', counters.writeUnits),
        readUnits: of('read units', counters.readUnits),
        events: of('custom events', counters.events),
        queueRequests: of('SQS requests billed', counters.queueRequests),
      },
    };
  };
}

/** Dollars of a million nodes, without their work. */
function dollarsOf(units: Units): number {
  const { expressRequests, expressGigabyteMs, durableOperations, durableBytes, logBytes, ...wire } = units;
  const counts = {
    ...createWireLog().snapshot(),
    ...wire,
    invocations: wire.lambdaRequests,
    gigabyteMs: wire.lambdaGigabyteMs,
  };
  const beside =
    expressRequests * EXPRESS_PRICES.request +
    expressGigabyteMs * EXPRESS_PRICES.gigabyteMs +
    durableOperations * DURABLE_PRICES.operation +
    durableBytes * DURABLE_PRICES.writtenByte;
  return MILLION * (costOf(counts, { logBytes }).dollars + beside);
}

/** Dollars of the functions themselves; a step of a durable function is no request of its own. */
function dollarsOfWork({ ms, memoryMb }: Work, { name }: Lane | { name: string }): number {
  const invocations = name.startsWith('5') ? 0 : 1;
  return MILLION * costOf({ ...createWireLog().snapshot(), invocations, gigabyteMs: (ms * memoryMb) / 1024 }).dollars;
}

/** The longest node (s) with which a lane costs less than something. */
function until(lane: Lane, shape: Shape, limit: number): string {
  const isBelow = (ms: number) => dollarsOf(lane.unitsOf(shape, { ms, memoryMb: 256 }, givens)) < limit - 0.01;
  if (!isBelow(10)) return 'never';
  let [least, most] = [10, LONGEST_MS];
  if (isBelow(most)) return 'always';
  while (most - least > 10) {
    const middle = (least + most) / 2;
    if (isBelow(middle)) least = middle;
    else most = middle;
  }
  return (least / 1000).toFixed(1);
}

/** With which nodes it costs less than a durable function's operation, and less than today's lane. */
function bounds(lane: Lane, shape: Shape): string[] {
  const [today] = LANES as [Lane];
  const todays = dollarsOf(today.unitsOf(shape, { ms: 1_000, memoryMb: 256 }, givens));
  return [until(lane, shape, MILLION * DURABLE_PRICES.operation), lane === today ? '' : until(lane, shape, todays)];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map((_, at) => (at === 0 ? '---' : '--:')).join('|')}|`, ...rows.map(line)].join('\n');
}

const spanOf = (ms: number) => (ms < 1000 ? `${ms} ms` : `${ms / 1000} s`);
const sections: string[] = [];
for (const shape of shapes) {
  const work = { ms: 1_000, memoryMb: 256 };
  const what = Object.keys((LANES[0] as Lane).unitsOf(shape, work, givens)) as (keyof Units)[];
  sections.push(
    `Units per node of 1 s, ${shape.name}`,
    table(
      ['lane', ...what],
      LANES.map((lane) => {
        const units = lane.unitsOf(shape, work, givens);
        return [
          lane.name,
          ...what.map((each) => (units[each] >= 100 ? units[each].toFixed(0) : units[each].toFixed(2))),
        ];
      }),
    ),
  );
}
sections.push(
  'Dollars per million nodes over their own work (functions of 256 MB), and the longest node (s) with which they stay below',
  table(
    ['lane', ...shapes.flatMap(({ name }) => [...MILLISECONDS.map((ms) => `${name}, ${spanOf(ms)}`), '$8', 'today'])],
    LANES.map((lane) => [
      lane.name,
      ...shapes.flatMap((shape) => [
        ...MILLISECONDS.map((ms) => dollarsOf(lane.unitsOf(shape, { ms, memoryMb: 256 }, givens)).toFixed(2)),
        ...bounds(lane, shape),
      ]),
    ]),
  ),
);
for (const shape of shapes) {
  const works = MEMORIES.flatMap((memoryMb) => MILLISECONDS.map((ms) => ({ ms, memoryMb })));
  sections.push(
    `Dollars per million nodes, all in, ${shape.name}`,
    table(
      ['lane', ...works.map(({ ms, memoryMb }) => `${spanOf(ms)}, ${memoryMb} MB`)],
      [
        ['the functions alone', ...works.map((work) => dollarsOfWork(work, { name: '' }).toFixed(2))],
        ...LANES.map((lane) => [
          lane.name,
          ...works.map((work) => (dollarsOf(lane.unitsOf(shape, work, givens)) + dollarsOfWork(work, lane)).toFixed(2)),
        ]),
      ],
    ),
  );
}
const sources = [...new Set([...PRICES.sources, ...LANE_PRICES_READ.sources])].join(' ');
if (options.json) {
  const lanes = LANES.map((lane) => ({
    name: lane.name,
    shapes: shapes.map((shape) => ({
      name: shape.name,
      of: MILLISECONDS.map((ms) => {
        const units = lane.unitsOf(shape, { ms, memoryMb: 256 }, givens);
        return { ms, units, dollars: dollarsOf(units) };
      }),
    })),
  }));
  console.log(
    JSON.stringify({ region: PRICES.region, readOn: PRICES.readOn, sources, givens, shapes, lanes }, undefined, 2),
  );
} else {
  console.log(
    [
      ...sections,
      `Prices: ${PRICES.region}, read on ${PRICES.readOn}: ${sources}`,
      `Given: ${JSON.stringify(givens)}`,
    ].join('\n\n'),
  );
}
