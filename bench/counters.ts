/** What a node costs on AWS, counted on the wire of the development host: exact, and the same on every machine. */
import { env } from 'node:process';
import type { Bench, Figure } from './bench.ts';
import { counterColumn, EVERY_LIMIT, type Limits } from './scenarios/counter-figures.ts';
import { type CountingHost, openCountingHost } from './scenarios/counting-host.ts';
import { growthTables } from './scenarios/growth-tables.ts';
import { recordedScenarios } from './scenarios/recorded.ts';
import { limited, type Scenario } from './scenarios/scenario.ts';
import { chainOf, fanOf, layersOf, mapOf, randomOf } from './scenarios/shapes.ts';

/** Write units of a node in the scenarios that the aim names, and how many more a limited engine may take. */
const WRITE_UNITS = 2.2;
const MORE_WHEN_LIMITED = 2;

const SMALL = [chainOf(50), fanOf(200), chainOf(10, 20), randomOf(1_000)];
const LARGE_MAP = mapOf(10_000);
/** Layers of 10,000 take the host minutes. */
const LARGE = [layersOf(10_000), LARGE_MAP];
const IN_THE_AIM = new Set(['chain-50', 'fan-200', 'layers-10000']);
const SMALL_SLOTS = 10;
/** Half of what the scenario could have under way at once. */
const LARGE_SLOTS = new Map([
  ['layers-10000', 50],
  ['map-10000', 250],
]);

/** Sizes that take the host some seconds, and the largest that a run may have. */
const SIZES = [10, 100, 1_000];
const LARGEST = 10_000;
/** Of these the largest is counted anyway. */
const COUNTED_LARGEST = new Set(['a map']);

const PER_NODE = 'per node, US$ per million nodes';

/** Every scenario that takes less than a minute without a limit, the small ones also with one, recorded workflows where there are some, and growth. */
export const counters: Bench = {
  name: 'counters',
  title: 'what a node costs on AWS, counted on the wire: units, calls, invocations, dollars; and how it grows',
  run: (say) =>
    onHost(say, async (host) => [
      ...(await withoutLimit(host, [...SMALL, LARGE_MAP])),
      ...(await withLimit(host, SMALL)),
      ...(await recorded(host, say)),
      ...(await growthTables(host, (shape) => (COUNTED_LARGEST.has(shape) ? [...SIZES, LARGEST] : SIZES))),
    ]),
};

/** The largest scenarios, without a limited engine and with one. */
export const countersLarge: Bench = {
  name: 'counters-large',
  title: 'counters of 10,000 nodes without a limited engine, and with one',
  run: (say) => onHost(say, async (host) => [...(await withoutLimit(host, LARGE)), ...(await withLimit(host, LARGE))]),
};

/** Every shape at every size. */
export const growth: Bench = {
  name: 'growth',
  title: `the counters of a node in runs of ${[...SIZES, LARGEST].join(', ')} nodes in every shape`,
  run: (say) => onHost(say, (host) => growthTables(host, () => [...SIZES, LARGEST])),
};

async function onHost(
  say: (progress: string) => void,
  run: (host: CountingHost) => Promise<Figure[]>,
): Promise<Figure[]> {
  const host = await openCountingHost(say);
  try {
    return await run(host);
  } finally {
    await host.close();
  }
}

async function withoutLimit(host: CountingHost, scenarios: readonly Scenario[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const scenario of scenarios) {
    figures.push(...counterColumn(PER_NODE, await host.count(scenario), limitsOf(scenario)));
  }
  return figures;
}

function limitsOf({ name }: Scenario): Limits {
  return IN_THE_AIM.has(name) ? new Map([...EVERY_LIMIT, ['write units', WRITE_UNITS]]) : EVERY_LIMIT;
}

/** With what a limit adds to the write units of the same scenario without one, which was counted before. */
async function withLimit(host: CountingHost, scenarios: readonly Scenario[]): Promise<Figure[]> {
  const limits: Limits = new Map([
    ['StartExecution', 1],
    ['DescribeExecution', 0],
  ]);
  const figures: Figure[] = [];
  for (const scenario of scenarios) {
    const free = await host.count(scenario);
    const counted = await host.count(limited(scenario, LARGE_SLOTS.get(scenario.name) ?? SMALL_SLOTS));
    const [units, ...rest] = counterColumn(`through an engine with so many slots, ${PER_NODE}`, counted, limits);
    if (!units) continue;
    const more = (counted.wire.writeUnits - free.wire.writeUnits) / scenario.executions;
    const aim = { most: MORE_WHEN_LIMITED, aim: `≤ ${MORE_WHEN_LIMITED}` };
    figures.push(units, { ...units, what: 'more than without a limit', values: [more], ...aim }, ...rest);
  }
  return figures;
}

/** `MILLRACE_WFCOMMONS` names the folder of their files. */
async function recorded(host: CountingHost, say: (progress: string) => void): Promise<Figure[]> {
  const folder = env['MILLRACE_WFCOMMONS'];
  if (folder === undefined) {
    say('recorded workflows are left out: MILLRACE_WFCOMMONS names no folder');
    return [];
  }
  const figures: Figure[] = [];
  for (const scenario of await recordedScenarios(folder)) {
    figures.push(...counterColumn(`recorded workflows, ${PER_NODE}`, await host.count(scenario), EVERY_LIMIT));
  }
  return figures;
}
