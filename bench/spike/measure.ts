/**
 * The lane beside today's, on the development host, counted: `node bench/spike/measure.ts [repetitions [chain-50|fan-200]]`.
 * The same host, the same runs, the same wire log; only scheduler and api differ in how they start executions.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { costOf } from '#local/aws-prices.ts';
import type { WireCounts } from '#local/wire-log.ts';
import { median } from '../bench.ts';
import { type BenchHost, endOf, nodesOf, openBenchHost, start, untilIdle } from '../bench-host.ts';
import { chain, fan, type LoadPipeline, toDefinition } from '../pipelines.ts';
import { type LaneHost, openLaneHost, putDefinition } from './lane-host.ts';
import { EXPRESS_PRICES } from './lane-prices.ts';

const REPETITIONS = Number(process.argv[2] ?? 5);
const QUIET_LOOKS = 25;
const LOOK_MS = 4;

/** A run, counted. */
interface Counted {
  readonly ms: number;
  readonly hop: number;
  readonly counts: WireCounts;
  readonly expressRequests: number;
  readonly expressGigabyteMs: number;
}

/** Host and worker are idle when both are so for a while. */
async function untilQuiet(host: LaneHost): Promise<void> {
  for (let looks = 0; looks < QUIET_LOOKS; await sleep(LOOK_MS)) {
    const { running } = await host.counts();
    looks = host.isIdle() && running === 0 ? looks + 1 : 0;
  }
}

async function today(host: BenchHost, pipeline: LoadPipeline): Promise<Counted> {
  await untilIdle(host);
  const before = host.wireLog.snapshot();
  const begun = Date.now();
  const id = await start(host, pipeline);
  let counts: WireCounts;
  let end: number | undefined;
  do {
    await untilIdle(host);
    counts = host.wireLog.since(before);
    end = await endOf(host, id);
  } while (end === undefined);
  return { ms: end - begun, hop: await hopOf(host, id, pipeline), counts, expressRequests: 0, expressGigabyteMs: 0 };
}

async function byLane(host: LaneHost, pipeline: LoadPipeline): Promise<Counted> {
  await untilQuiet(host);
  const before = host.wireLog.snapshot();
  const workerBefore = await host.counts();
  const begun = Date.now();
  const id = await start(host, pipeline);
  let end: number | undefined;
  let counts: WireCounts;
  do {
    await untilQuiet(host);
    counts = host.wireLog.since(before);
    end = await endOf(host, id);
  } while (end === undefined);
  const worker = await host.counts();
  const add = (quantity: 'invocations' | 'billedMs' | 'gigabyteMs') =>
    counts[quantity] + worker.counts[quantity] - workerBefore.counts[quantity];
  const all = { ...counts, invocations: add('invocations'), billedMs: add('billedMs'), gigabyteMs: add('gigabyteMs') };
  return {
    ms: end - begun,
    hop: await hopOf(host, id, pipeline),
    counts: all,
    expressRequests: worker.express.requests - workerBefore.express.requests,
    expressGigabyteMs: worker.express.gigabyteMs - workerBefore.express.gigabyteMs,
  };
}

async function hopOf(host: BenchHost | LaneHost, id: string, { nodes }: LoadPipeline): Promise<number> {
  const done = new Map((await nodesOf(host, id)).map((node) => [node.id, node]));
  const hops = nodes.flatMap(({ id: node, dependsOn }) => {
    if (dependsOn.length === 0) return [];
    const ends = dependsOn.map((upstream) => done.get(upstream)?.endedAt ?? Number.NaN);
    return [(done.get(node)?.startedAt ?? Number.NaN) - Math.max(...ends)];
  });
  return median(hops);
}

function figuresOf(counted: readonly Counted[], nodes: number): [string, number][] {
  const each = (amount: (one: Counted) => number) => median(counted.map(amount));
  const perNode = (amount: (one: Counted) => number) => each(amount) / nodes;
  return [
    ['from the request to the end, ms', each(({ ms }) => ms)],
    ['hop, median, ms', each(({ hop }) => hop)],
    ['write units', perNode(({ counts }) => counts.writeUnits)],
    ['read units', perNode(({ counts }) => counts.readUnits)],
    ['state transitions', perNode(({ counts }) => counts.transitions)],
    ['Express requests', perNode(({ expressRequests }) => expressRequests)],
    ['Express GB-ms', perNode(({ expressGigabyteMs }) => expressGigabyteMs)],
    ['Lambda requests', perNode(({ counts }) => counts.invocations)],
    ['scheduler invocations', perNode(({ counts }) => counts.calls.lambda?.['millrace-scheduler'] ?? 0)],
    ['SQS requests', perNode(({ counts }) => counts.queueRequests)],
    ['custom events', perNode(({ counts }) => counts.events)],
    ['dollars per million nodes', perNode((one) => 1e6 * dollarsOf(one))],
  ];
}

function dollarsOf({ counts, expressRequests, expressGigabyteMs }: Counted): number {
  const { request, gigabyteMs } = EXPRESS_PRICES;
  return costOf(counts).dollars + expressRequests * request + expressGigabyteMs * gigabyteMs;
}

async function repeated<H extends BenchHost | LaneHost>(
  host: H,
  pipeline: LoadPipeline,
  once: (host: H, pipeline: LoadPipeline) => Promise<Counted>,
): Promise<Counted[]> {
  const { name } = pipeline;
  await putDefinition(host, { ...toDefinition(pipeline), ...{ name, defaults: { timeoutSeconds: 60 } } });
  await once(host, pipeline);
  const counted: Counted[] = [];
  for (let repetition = 0; repetition < REPETITIONS; repetition++) counted.push(await once(host, pipeline));
  return counted;
}

const pipelines = [chain(50), fan(200)].filter(({ name }) => name === (process.argv[3] ?? name));
const rows = new Map<string, number[]>();
const note = (figures: readonly [string, number][]) => {
  for (const [what, value] of figures) rows.set(what, [...(rows.get(what) ?? []), value]);
};
for (const pipeline of pipelines) {
  process.stderr.write(`${pipeline.name}\n`);
  const host = await openBenchHost();
  note(figuresOf(await repeated(host, pipeline, today), pipeline.nodes.length));
  await host.close();
  const lane = await openLaneHost();
  note(figuresOf(await repeated(lane, pipeline, byLane), pipeline.nodes.length));
  await lane.close();
}
const head = ['per node', ...pipelines.flatMap(({ name }) => [`${name} today`, 'lane'])];
console.log(`| ${head.join(' | ')} |\n|${head.map(() => '---').join('|')}|`);
for (const [what, values] of rows) console.log(`| ${what} | ${values.map((value) => value.toFixed(2)).join(' | ')} |`);
