/** The development host that benches run on, and the calls of its HTTP API that they make. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type Host, startHost, synthesizeApp } from '#local/host.ts';
import { type LoadPipeline, toDefinition } from './pipelines.ts';

/** The folder of the functions that nodes invoke. */
export const functionsDir = fileURLToPath(new URL('functions/', import.meta.url));
/** Where synthesized templates are kept for the next time. */
export const assemblies = fileURLToPath(new URL('../node_modules/.cache/millrace/', import.meta.url));

/** When a host counts as idle: if it was so at every one of so many looks, so far apart (ms). */
export interface Patience {
  readonly looks: number;
  readonly lookMs: number;
  /** A host that takes longer than this to come to rest is stuck (ms). */
  readonly stuckMs: number;
}

const PATIENCE: Patience = { looks: 25, lookMs: 4, stuckMs: 120_000 };

/** A host with state in a folder of its own, which goes with it. */
export interface BenchHost extends Host {
  readonly dataDir: string;
}

/** Starts a host on the template of the app. */
export async function openBenchHost(): Promise<BenchHost> {
  const cdkOut = await synthesizeApp({ functionsDir, outDir: assemblies });
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const host = await startHost({ cdkOut, dataDir, port: 0 });
  return {
    ...host,
    dataDir,
    async close() {
      await host.close();
      await rm(dataDir, { recursive: true });
    },
  };
}

const time = z.iso.datetime().transform((text) => Date.parse(text));
const builtIn = z.object({ stateMachineArn: z.string() });
const started = z.object({ id: z.string() });
const run = z.object({ state: z.string(), endedAt: time.optional() });
const nodes = z.object({
  items: z.array(z.object({ id: z.string(), startedAt: time, endedAt: time, attempt: z.int() })),
});

/** A node that is over; times are those of its execution (ms since 1970). */
export type DoneNode = z.output<typeof nodes>['items'][number];

/** Puts a pipeline, and registers its engine. */
export async function put(host: Host, pipeline: LoadPipeline): Promise<void> {
  const { engine } = pipeline;
  if (engine) await putEngine(host, engine.name, engine.maxConcurrent);
  await call(host, 'PUT', `/v1/pipelines/${pipeline.name}`, toDefinition(pipeline));
}

/** Registers an engine of so many slots with the state machine of the engine `lambda`. */
export async function putEngine(host: Host, name: string, maxConcurrent: number): Promise<void> {
  const { stateMachineArn } = builtIn.parse(await call(host, 'GET', '/v1/engines/lambda'));
  await call(host, 'PUT', `/v1/engines/${name}`, { stateMachineArn, maxConcurrent });
}

/** Starts a run and gives its id. */
export async function start(host: Host, pipeline: LoadPipeline): Promise<string> {
  return started.parse(await call(host, 'POST', `/v1/pipelines/${pipeline.name}/runs`, {})).id;
}

/**
 * Waits until nothing happens on the host any more. It looks at the host from inside, so that waiting costs no call;
 * more than once, since between two services what is under way can be seen in neither.
 * @param patience default: idle for a tenth of a second, stuck after two minutes
 * @throws Error where it is stuck
 */
export async function untilIdle(host: Host, { looks: wanted, lookMs, stuckMs } = PATIENCE): Promise<void> {
  const begun = performance.now();
  for (let looks = 0; looks < wanted; await sleep(lookMs)) {
    looks = host.isIdle() ? looks + 1 : 0;
    if (performance.now() - begun > stuckMs) throw new Error('the host does not come to rest');
  }
}

/**
 * When a run ended (ms since 1970); undefined while it goes on.
 * @throws Error where it did not succeed
 */
export async function endOf(host: Host, id: string): Promise<number | undefined> {
  const { state, endedAt } = run.parse(await call(host, 'GET', `/v1/runs/${id}`));
  if (endedAt !== undefined && state !== 'SUCCEEDED') throw new Error(`run ${id} is ${state}`);
  return endedAt;
}

/** Waits until a run has ended, looking at it only when the host is idle. */
export async function untilOver(host: Host, id: string): Promise<void> {
  do await untilIdle(host);
  while ((await endOf(host, id)) === undefined);
}

/** All nodes of a run of at most 1,000. */
export async function nodesOf(host: Host, id: string): Promise<readonly DoneNode[]> {
  return nodes.parse(await call(host, 'GET', `/v1/runs/${id}/nodes?limit=1000`)).items;
}

/** One request to the HTTP API. @throws Error where it is refused */
export async function call(host: Host, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${host.url}${path}`, {
    method,
    ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}
