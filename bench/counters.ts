/** What a node costs on AWS, counted on the wire of the development host: exact, and the same on every machine. */
import { env } from 'node:process';
import type { Bench, Figure } from './bench.ts';
import { counterColumn, EVERY_LIMIT, type Limits } from './scenarios/counter-figures.ts';
import { type Counted, type CountingHost, openCountingHost } from './scenarios/counting-host.ts';
import { recordedScenarios } from './scenarios/recorded.ts';
import { limited, type Scenario } from './scenarios/scenario.ts';
import { chainOf, fanOf, layersOf, mapOf, randomOf } from './scenarios/shapes.ts';

/** Write units of a node in the scenarios that the aim names, and how many more a limited engine may take. */
const WRITE_UNITS = 2.2;
const MORE_WHEN_LIMITED = 2;

const SMALL = [chainOf(50), fanOf(200), chainOf(10, 20), randomOf(1_000)];
const LARGE = [layersOf(10_000), mapOf(10_000)];
const IN_THE_AIM = new Set(['chain-50', 'fan-200', 'layers-10000']);
const SMALL_SLOTS = 10;
/** Half of what the scenario could have under way at once. */
const LARGE_SLOTS = new Map([
  ['layers-10000', 50],
  ['map-10000', 250],
]);

const PER_NODE = 'Per node; US$ for a million nodes';

/** Every scenario without a limit, the small ones also with one, and recorded workflows where there are some. */
export const counters: Bench = {
  name: 'counters',
  title: 'what a node costs on AWS, counted on the wire: units, calls, invocations, dollars',
  run: (say) => onHost((host) => countAll(host, say, SMALL.concat(LARGE), SMALL)),
};

/** The largest scenarios once more, through limited engines. */
export const countersLarge: Bench = {
  name: 'counters-large',
  title: 'the same for 10,000 nodes through a limited engine',
  isLong: true,
  run: (say) => onHost((host) => countAll(host, say, LARGE, LARGE)),
};

async function onHost(run: (host: CountingHost) => Promise<Figure[]>): Promise<Figure[]> {
  const host = await openCountingHost();
  try {
    return await run(host);
  } finally {
    await host.close();
  }
}

async function countAll(
  host: CountingHost,
  say: (progress: string) => void,
  free: readonly Scenario[],
  again: readonly Scenario[],
): Promise<Figure[]> {
  const figures: Figure[] = [];
  const writeUnits = new Map<string, number>();
  for (const scenario of free) {
    const counted = await countOne(host, scenario, say);
    writeUnits.set(scenario.name, counted.wire.writeUnits / scenario.executions);
    figures.push(...counterColumn(`${PER_NODE}; an engine without a limit`, counted, limitsOf(scenario)));
  }
  for (const scenario of again) {
    const counted = await countOne(host, limited(scenario, LARGE_SLOTS.get(scenario.name) ?? SMALL_SLOTS), say);
    figures.push(...limitedColumn(counted, writeUnits.get(scenario.name) ?? Number.NaN));
  }
  const recorded = await countRecorded(host, say);
  return [...figures, ...recorded];
}

async function countOne(host: CountingHost, scenario: Scenario, say: (progress: string) => void): Promise<Counted> {
  say(`${scenario.name}${scenario.slots === undefined ? '' : ` on ${scenario.slots} slots`}`);
  return host.count(scenario);
}

function limitsOf({ name }: Scenario): Limits {
  return IN_THE_AIM.has(name) ? new Map([...EVERY_LIMIT, ['write units', WRITE_UNITS]]) : EVERY_LIMIT;
}

/** With what a limit adds to the write units of the same scenario without one. */
function limitedColumn(counted: Counted, withoutLimit: number): Figure[] {
  const limits: Limits = new Map([
    ['StartExecution', 1],
    ['DescribeExecution', 0],
  ]);
  const table = `${PER_NODE}; an engine of so many slots`;
  const [first, ...rest] = counterColumn(table, counted, limits);
  if (!first) return [];
  const more = (first.values[0] ?? Number.NaN) - withoutLimit;
  const aim = { most: MORE_WHEN_LIMITED, aim: `≤ ${MORE_WHEN_LIMITED}` };
  return [first, { ...first, what: 'write units more than without', values: [more], ...aim }, ...rest];
}

/** `MILLRACE_WFCOMMONS` names the folder of their files. */
async function countRecorded(host: CountingHost, say: (progress: string) => void): Promise<Figure[]> {
  const folder = env['MILLRACE_WFCOMMONS'];
  if (folder === undefined) {
    say('no recorded workflows: MILLRACE_WFCOMMONS names no folder');
    return [];
  }
  const figures: Figure[] = [];
  for (const scenario of await recordedScenarios(folder)) {
    const counted = await countOne(host, scenario, say);
    figures.push(...counterColumn(`${PER_NODE}; recorded workflows`, counted, EVERY_LIMIT));
  }
  return figures;
}
