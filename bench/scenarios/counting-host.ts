/** A development host on which scenarios are run one after the other, and counted. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { WireCounts } from '#local/wire-log.ts';
import { type BenchHost, call, openBenchHost } from '../bench-host.ts';
import { type OwnThreads, watchOwnThreads } from './own-threads.ts';
import { definitionOf, engineOf, pipelineOf, type Scenario } from './scenario.ts';
import { chainOf } from './shapes.ts';
import { storedIn } from './stored-bytes.ts';

/** What a scenario took, of all its runs together, from before the first request until the host is at rest. */
export interface Counted {
  readonly scenario: Scenario;
  readonly wire: WireCounts;
  /** Time of the processor that our own functions took (ms). */
  readonly cpuMs: number;
  /** Most invocations of the scheduler at the same time. */
  readonly workersAtOnce: number;
  /** What our own functions wrote to their logs. */
  readonly logBytes: number;
  /** What is in the table that was not in it before, indexes included. */
  readonly storedBytes: number;
  readonly seconds: number;
}

/** The host. */
export interface CountingHost {
  /** @throws Error where a run does not succeed, or takes too long */
  count(scenario: Scenario): Promise<Counted>;
  close(): Promise<void>;
}

const TABLE = 'millrace';
const OWN_LOG = /^millrace-.*\.log$/;
/** A run that takes longer than this does not end any more (ms). */
const LONGEST_MS = 20 * 60_000;
/** The host is looked at so often (ms), and is at rest when it was idle at so many looks. */
const LOOK_MS = 20;
const LOOKS = 75;
const WARM_UP = chainOf(10, 5);

const builtIn = z.object({ stateMachineArn: z.string() });
const started = z.object({ id: z.string() });
const run = z.object({ state: z.string(), endedAt: z.iso.datetime().optional() });

/** Starts a host, and runs a little on it, so that what is loaded once is not counted. */
export async function openCountingHost(): Promise<CountingHost> {
  const threads = watchOwnThreads();
  const host = await openBenchHost();
  const counting = { count: (scenario: Scenario) => count(host, threads, scenario), close: () => host.close() };
  await counting.count(WARM_UP);
  return counting;
}

async function count(host: BenchHost, threads: OwnThreads, scenario: Scenario): Promise<Counted> {
  await prepare(host, scenario);
  await untilAtRest(host);
  const before = await look(host, threads);
  threads.takeMostAtOnce();
  const wireBefore = host.wireLog.snapshot();
  const begun = performance.now();
  const path = `/v1/pipelines/${pipelineOf(scenario)}/runs`;
  const answers = await Promise.all(Array.from({ length: scenario.runs }, () => call(host, 'POST', path, {})));
  await untilAtRest(host);
  const wire = host.wireLog.since(wireBefore);
  const after = await look(host, threads);
  for (const answer of answers) await mustHaveSucceeded(host, started.parse(answer).id);
  return {
    scenario,
    wire,
    cpuMs: after.cpuMs - before.cpuMs,
    workersAtOnce: threads.takeMostAtOnce(),
    logBytes: after.logBytes - before.logBytes,
    storedBytes: after.storedBytes - before.storedBytes,
    seconds: (performance.now() - begun) / 1000,
  };
}

async function prepare(host: BenchHost, scenario: Scenario): Promise<void> {
  const { slots } = scenario;
  if (slots !== undefined) {
    const { stateMachineArn } = builtIn.parse(await call(host, 'GET', '/v1/engines/lambda'));
    await call(host, 'PUT', `/v1/engines/${engineOf(slots)}`, { stateMachineArn, maxConcurrent: slots });
  }
  await call(host, 'PUT', `/v1/pipelines/${pipelineOf(scenario)}`, definitionOf(scenario));
}

async function look(host: BenchHost, threads: OwnThreads) {
  const { bytes: storedBytes } = await storedIn(host.wireUrl, TABLE);
  const { cpuMs } = await threads.use();
  return { storedBytes, cpuMs, logBytes: await logBytesOf(host) };
}

/**
 * Waits, looking at the host from inside, which costs no call. A message that came back is hidden for a second or so,
 * in which the host may be idle in the middle of a run.
 */
async function untilAtRest(host: BenchHost): Promise<void> {
  const begun = performance.now();
  for (let looks = 0; looks < LOOKS; await sleep(LOOK_MS)) {
    looks = host.isIdle() ? looks + 1 : 0;
    if (performance.now() - begun > LONGEST_MS) throw new Error('the host does not come to rest');
  }
}

async function mustHaveSucceeded(host: BenchHost, id: string): Promise<void> {
  const { state } = run.parse(await call(host, 'GET', `/v1/runs/${id}`));
  if (state !== 'SUCCEEDED') throw new Error(`run ${id} is ${state}`);
}

/** A log that is full goes on in a new file beside it, twice as large at most: these runs write less. */
async function logBytesOf({ dataDir }: BenchHost): Promise<number> {
  const folder = join(dataDir, 'logs');
  const files = (await readdir(folder)).filter((file) => OWN_LOG.test(file));
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
