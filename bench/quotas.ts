/** At how many nodes a second each quota binds, and what becomes of more: they wait, and all of them succeed. */
import type { NodeDefinition, PipelineDefinition } from '#domain/definition.ts';
import type { Bench, Figure } from './bench.ts';
import type { WorldOptions } from './day-world.ts';
import { type AccountQuotas, LARGE_REGION, OTHER_REGION } from './quota-account.ts';
import { type Loaded, playLoad } from './quota-load.ts';

/**
 * What waited no longer than this (s) was not held up. The buckets are empty at first, so some of the first starts are put off
 * twice, whatever the rate: after about a second, and after about two.
 */
const UNHINDERED_S: Readonly<Record<keyof Loaded['waits'], number>> = { start: 4, inbox: 2, lambda: 2 };
/** Of all that waits or runs: no more than that may be seen as Throttled. */
const UNHINDERED_SHARE = 0.05;

/** Nodes of a quota, at several rates, the last of them too high. */
interface Case {
  readonly name: string;
  readonly quotas: AccountQuotas;
  readonly region?: string;
  readonly definition: PipelineDefinition;
  readonly nodeMs: WorldOptions['nodeMs'];
  readonly rates: readonly number[];
  readonly seconds: number;
  readonly lookEveryMs?: number;
  /** Whose waits tell that the quota binds. */
  readonly waits: keyof Loaded['waits'];
}

const second: WorldOptions['nodeMs'] = (_node, draws) => Math.max(200, draws.logNormal([1_000, 5_000]));
const NO_LIMIT = Number.POSITIVE_INFINITY;

const CASES: readonly Case[] = [
  {
    name: 'StartExecution, large region (300/s)',
    quotas: { calls: LARGE_REGION, lambdas: NO_LIMIT },
    definition: pipelineOf('wide', 50),
    nodeMs: second,
    rates: [240, 270, 300, 450],
    seconds: 30,
    waits: 'start',
  },
  {
    name: 'StartExecution, other regions (150/s)',
    quotas: { calls: OTHER_REGION, lambdas: NO_LIMIT },
    region: 'eu-central-1',
    definition: pipelineOf('wide', 50),
    nodeMs: second,
    rates: [120, 135, 150, 225],
    seconds: 30,
    waits: 'start',
  },
  {
    name: 'five schedulers, chains of nodes of a second',
    quotas: { calls: {}, lambdas: NO_LIMIT },
    definition: chainOf('chain', 10),
    nodeMs: second,
    rates: [200, 250, 300, 400],
    seconds: 40,
    waits: 'inbox',
  },
  {
    name: '10 Lambda functions, nodes of a second',
    quotas: { calls: OTHER_REGION, lambdas: 10 },
    region: 'eu-central-1',
    definition: chainOf('chain', 10),
    nodeMs: second,
    rates: [2, 4, 6, 12],
    seconds: 120,
    waits: 'lambda',
  },
  {
    name: '1,000 Lambda functions, nodes of 30 s',
    quotas: { calls: LARGE_REGION, lambdas: 1_000 },
    definition: pipelineOf('wide', 50),
    nodeMs: () => 30_000,
    rates: [25, 30, 33, 40],
    seconds: 120,
    waits: 'lambda',
  },
  {
    name: 'DescribeExecution, large region (15/s), runs of one node of 10 min',
    quotas: { calls: LARGE_REGION, lambdas: NO_LIMIT },
    definition: pipelineOf('one', 1),
    nodeMs: () => 600_000,
    rates: [1, 2, 4],
    seconds: 900,
    lookEveryMs: 120_000,
    waits: 'start',
  },
];

/** Rates that rise until what is offered is not taken any more. */
export const quotas: Bench = {
  name: 'quotas',
  title: 'nodes a second at which each quota of AWS binds, by real passes over the memory adapters',
  async run(say) {
    const figures: Figure[] = [];
    for (const one of CASES) figures.push(...(await measure(one, say)));
    return figures;
  },
};

async function measure(one: Case, say: (progress: string) => void): Promise<Figure[]> {
  const { name, rates, waits, ...load } = one;
  const loaded: (readonly [number, Loaded])[] = [];
  for (const nodesPerSecond of rates) {
    say(`${name}: ${nodesPerSecond} nodes a second`);
    loaded.push([nodesPerSecond, await playLoad({ ...load, nodesPerSecond })]);
  }
  const isUnhindered = ([, { waits: of, reasons }]: (typeof loaded)[number]) =>
    of[waits] <= UNHINDERED_S[waits] && (reasons.get('Throttled') ?? 0) <= UNHINDERED_SHARE * all(reasons);
  const held = loaded.filter(isUnhindered).map(([rate]) => rate);
  const [rate, past] = loaded.at(-1) as (typeof loaded)[number];
  const figure = (what: string, value: number, decimals = 0): Figure => ({
    what: `${name}: ${what}`,
    values: [value],
    decimals,
  });
  return [
    figure('nothing waits up to, nodes/s', Math.max(0, ...held)),
    figure(`of ${rate} nodes/s, started`, past.startedPerSecond, 1),
    figure(`of ${rate} nodes/s, longest wait, s`, past.waits[waits], 1),
    figure(
      `of ${rate} nodes/s, seen as Throttled, %`,
      (100 * (past.reasons.get('Throttled') ?? 0)) / all(past.reasons),
      1,
    ),
    figure(`of ${rate} nodes/s, runs, all SUCCEEDED`, past.runs),
  ];
}

/** Nodes that were seen to wait or run: those below them that cannot yet are none. */
function all(reasons: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [reason, count] of reasons) if (reason !== 'UpstreamPending') sum += count;
  return Math.max(1, sum);
}

function pipelineOf(name: string, count: number): PipelineDefinition {
  return { name, nodes: Array.from({ length: count }, (_, at) => nodeOf(at)) };
}

function chainOf(name: string, count: number): PipelineDefinition {
  const below = (at: number) => (at === 0 ? {} : { dependsOn: [`n${at - 1}`] });
  return { name, nodes: Array.from({ length: count }, (_, at) => ({ ...nodeOf(at), ...below(at) })) };
}

function nodeOf(at: number): NodeDefinition {
  return { id: `n${at}`, params: { function: 'work', payload: {} } };
}
