/** Runs pipelines on a host and says how fast they went and what they cost. */
import type { WireCounts } from '#local/wire-log.ts';
import { type Bench, median, quantile, repeat } from './bench.ts';
import { type BenchHost, type DoneNode, endOf, nodesOf, openBenchHost, put, start, untilIdle } from './bench-host.ts';
import type { LoadPipeline } from './pipelines.ts';
import { childrenBytes } from './processes.ts';

const MEBIBYTE = 1024 * 1024;

/** A load: runs of one pipeline, all started at once. */
export interface Load {
  readonly name: string;
  readonly title: string;
  readonly pipeline: LoadPipeline;
  readonly runs: number;
  /** Repetitions that count. @default 5 */
  readonly repetitions?: number;
  /** What figures should be, by the beginning of what they measure. */
  readonly aims?: ReadonlyMap<string, string>;
}

/** Makes the bench of a load. It has a host of its own. */
export function benchOf(load: Load): Bench {
  return {
    name: load.name,
    title: load.title,
    async run(say) {
      say('starting a host');
      const host = await openBenchHost();
      try {
        await put(host, load.pipeline);
        const figures = await repeat(say, () => once(host, load), load.repetitions);
        return figures.map((figure) => {
          const aim = load.aims?.get(figure.what);
          return { ...figure, ...(aim !== undefined && { aim }) };
        });
      } finally {
        await host.close();
      }
    },
  };
}

async function once(host: BenchHost, { pipeline, runs }: Load) {
  await untilIdle(host);
  const cpu = process.cpuUsage();
  const begun = Date.now();
  const { ids, ends, counts } = await runAll(host, pipeline, runs);
  const { user, system } = process.cpuUsage(cpu);
  const memory = { host: process.memoryUsage.rss(), children: await childrenBytes(process.pid) };
  const nodes = await Promise.all(ids.map((id) => nodesOf(host, id)));
  const total = pipeline.nodes.length * runs;
  const tookMs = Math.max(...ends) - begun;
  const hops = nodes.flatMap((each) => hopsOf(pipeline, each));
  return [
    { what: 'from the request to the end, ms', value: tookMs, decimals: 0 },
    { what: 'per node, ms', value: tookMs / total, decimals: 2 },
    { what: 'nodes per second', value: (total * 1000) / tookMs, decimals: 0 },
    { what: 'hop, median, ms', value: median(hops), decimals: 0 },
    { what: 'hop, 95 of 100, ms', value: quantile(hops, 0.95), decimals: 0 },
    { what: 'execution, median, ms', value: median(nodes.flat().map(durationOf)), decimals: 0 },
    { what: 'CPU of the host per node, ms', value: (user + system) / 1000 / total, decimals: 2 },
    { what: 'resident memory of the host, MiB', value: memory.host / MEBIBYTE, decimals: 0 },
    { what: 'memory of the functions’ processes, MiB', value: memory.children / MEBIBYTE, decimals: 0 },
    ...costsOf(counts, total),
  ];
}

/**
 * Starts runs and waits for their ends. An idle host may still have messages that come back later, so the runs are
 * looked at; what crossed the wire for that is not in `counts`.
 */
async function runAll(host: BenchHost, pipeline: LoadPipeline, runs: number) {
  const counts: WireCounts[] = [];
  let before = host.wireLog.snapshot();
  const ids = await Promise.all(Array.from({ length: runs }, () => start(host, pipeline)));
  for (;;) {
    await untilIdle(host);
    counts.push(host.wireLog.since(before));
    const ends = await Promise.all(ids.map((id) => endOf(host, id)));
    before = host.wireLog.snapshot();
    if (ends.every((end) => end !== undefined)) return { ids, ends, counts };
  }
}

/** From the end of a node's last upstream to its own start, by the clock of the executions. */
function hopsOf(pipeline: LoadPipeline, done: readonly DoneNode[]): number[] {
  const byId = new Map(done.map((node) => [node.id, node]));
  return pipeline.nodes.flatMap(({ id, dependsOn }) => {
    if (dependsOn.length === 0) return [];
    const ends = dependsOn.map((upstream) => byId.get(upstream)?.endedAt ?? Number.NaN);
    return [(byId.get(id)?.startedAt ?? Number.NaN) - Math.max(...ends)];
  });
}

function durationOf({ startedAt, endedAt }: DoneNode): number {
  return endedAt - startedAt;
}

/** What of the counters shows that a repetition went as it should; the bench `counters` has them all. */
function costsOf(counts: readonly WireCounts[], nodes: number) {
  const perNode = (what: string, amount: (counts: WireCounts) => number) => {
    const total = counts.reduce((sum, part) => sum + amount(part), 0);
    return { what: `${what} per node`, value: total / nodes, decimals: 2 };
  };
  return [
    perNode('write units', ({ writeUnits }) => writeUnits),
    perNode('read units', ({ readUnits }) => readUnits),
    perNode('StartExecution', ({ calls }) => calls.states?.['StartExecution'] ?? 0),
    perNode('DescribeExecution', ({ calls }) => calls.states?.['DescribeExecution'] ?? 0),
    perNode('scheduler invocations', ({ calls }) => calls.lambda?.['millrace-scheduler'] ?? 0),
  ];
}
