/** A development host on which scenarios are run one after the other, and counted. */
import { z } from 'zod';
import type { WireCounts } from '#local/wire-log.ts';
import { type BenchHost, call, openBenchHost, type Patience, putEngine, untilIdle } from '../bench-host.ts';
import { type Logged, readOwnLogs } from './own-logs.ts';
import { type OwnThreads, watchOwnThreads } from './own-threads.ts';
import { definitionOf, engineOf, pipelineOf, type Scenario } from './scenario.ts';
import { chainOf } from './shapes.ts';
import { storedIn } from './stored-bytes.ts';
import { without } from './wire-sum.ts';

/** What a scenario took, of all its runs together, from before the first request until the host is at rest. */
export interface Counted {
  readonly scenario: Scenario;
  readonly wire: WireCounts;
  /** Time of the processor that our own functions took (ms). */
  readonly cpuMs: number;
  /** Most invocations of the scheduler at the same time. */
  readonly workersAtOnce: number;
  readonly logged: Logged;
  /** What is in the table that was not in it before, indexes included. */
  readonly storedBytes: number;
  readonly seconds: number;
}

/** The host. */
export interface CountingHost {
  /**
   * Runs a scenario, once: asked for again, it gives what was counted.
   * @throws Error where a run does not succeed, or takes too long
   */
  count(scenario: Scenario): Promise<Counted>;
  close(): Promise<void>;
}

const TABLE = 'millrace';
/** Runs of thousands of nodes take minutes, and the host is at rest where it was idle for four tenths of a second. */
const PATIENCE: Patience = { looks: 20, lookMs: 20, stuckMs: 30 * 60_000 };
const WARM_UP = chainOf(10, 5);

const started = z.object({ id: z.string() });
const run = z.looseObject({ state: z.string(), endedAt: z.iso.datetime().optional() });

/** Starts a host, and runs a little on it, so that what is loaded once is not counted. */
export async function openCountingHost(say: (progress: string) => void): Promise<CountingHost> {
  say('starting a host');
  const threads = watchOwnThreads();
  const host = await openBenchHost();
  await count(host, threads, WARM_UP);
  const known = new Map<string, Counted>();
  return {
    async count(scenario) {
      const name = pipelineOf(scenario);
      const before = known.get(name);
      if (before) return before;
      say(`${scenario.name}${scenario.slots === undefined ? '' : ` on ${scenario.slots} slots`}`);
      const counted = await count(host, threads, scenario);
      known.set(name, counted);
      return counted;
    },
    close: () => host.close(),
  };
}

async function count(host: BenchHost, threads: OwnThreads, scenario: Scenario): Promise<Counted> {
  await prepare(host, scenario);
  await untilIdle(host, PATIENCE);
  const before = await look(host, threads);
  threads.takeMostAtOnce();
  const begun = performance.now();
  const wire = await runAll(host, scenario);
  const after = await look(host, threads);
  return {
    scenario,
    wire,
    cpuMs: after.cpuMs - before.cpuMs,
    workersAtOnce: threads.takeMostAtOnce(),
    logged: {
      bytes: after.logged.bytes - before.logged.bytes,
      lines: after.logged.lines - before.logged.lines,
      commits: after.logged.commits - before.logged.commits,
      lostCommits: after.logged.lostCommits - before.logged.lostCommits,
    },
    storedBytes: after.storedBytes - before.storedBytes,
    seconds: (performance.now() - begun) / 1000,
  };
}

async function prepare(host: BenchHost, scenario: Scenario): Promise<void> {
  const { slots } = scenario;
  if (slots !== undefined) await putEngine(host, engineOf(slots), slots);
  await call(host, 'PUT', `/v1/pipelines/${pipelineOf(scenario)}`, definitionOf(scenario));
}

async function look(host: BenchHost, threads: OwnThreads) {
  const { bytes: storedBytes } = await storedIn(host.wireUrl, TABLE);
  const { cpuMs } = await threads.use();
  return { storedBytes, cpuMs, logged: await readOwnLogs(host.dataDir) };
}

/**
 * Starts the runs and waits for their ends. A message that came back is hidden for a second or so, in which the host
 * may be idle in the middle of a run, so the runs are looked at; what that takes, as the last looks show, is not counted.
 */
async function runAll(host: BenchHost, scenario: Scenario): Promise<WireCounts> {
  const before = host.wireLog.snapshot();
  const path = `/v1/pipelines/${pipelineOf(scenario)}/runs`;
  const answers = await Promise.all(Array.from({ length: scenario.runs }, () => call(host, 'POST', path, {})));
  const ids = answers.map((answer) => started.parse(answer).id);
  for (let earlier = 0; ; earlier++) {
    await untilIdle(host, PATIENCE);
    const all = host.wireLog.since(before);
    const beforeLook = host.wireLog.snapshot();
    const over = await Promise.all(ids.map((id) => isOver(host, id)));
    if (over.every((each) => each)) return without(all, host.wireLog.since(beforeLook), earlier);
  }
}

/** @throws Error where the run did not succeed */
async function isOver(host: BenchHost, id: string): Promise<boolean> {
  const { state, endedAt, ...more } = run.parse(await call(host, 'GET', `/v1/runs/${id}`));
  if (endedAt !== undefined && state !== 'SUCCEEDED') {
    throw new Error(`run ${id} is ${state}: ${JSON.stringify(more)}`);
  }
  return endedAt !== undefined;
}
