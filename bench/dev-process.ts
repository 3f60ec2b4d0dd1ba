/** A development host in a process of its own, as users have it: `millrace dev`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { functionsDir } from './bench-host.ts';
import { type LoadPipeline, toDefinition } from './pipelines.ts';

const command = fileURLToPath(new URL('../bin/millrace.js', import.meta.url));
const LOOK_MS = 50;

const ready = z.object({ url: z.url(), pid: z.int() });
const started = z.object({ id: z.string() });
const run = z.object({ state: z.string(), endedAt: z.string().optional() });

/** A host that was started. */
export interface DevProcess {
  readonly pid: number;
  /** From its start until it said that it is ready (ms). */
  readonly readyMs: number;
  /** Puts a pipeline. */
  put(pipeline: LoadPipeline): Promise<void>;
  /**
   * Runs a pipeline and waits for its end.
   * @throws Error where it does not succeed
   */
  run(pipeline: LoadPipeline): Promise<void>;
  close(): Promise<void>;
}

/** Starts a host whose state goes with it. */
export async function openDevProcess(functions = functionsDir): Promise<DevProcess> {
  const dataDir = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  const begun = performance.now();
  const child = spawn(
    process.execPath,
    [command, 'dev', '--json', '--port', '0', '--data', dataDir, '--functions', functions],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [line] = await once(createInterface(child.stdout), 'line');
  const readyMs = performance.now() - begun;
  const { url, pid } = ready.parse(JSON.parse(line));
  const call = callerOf(url);
  return {
    pid,
    readyMs,
    put: async (pipeline) => void (await call('PUT', `/v1/pipelines/${pipeline.name}`, toDefinition(pipeline))),
    async run({ name }) {
      const { id } = started.parse(await call('POST', `/v1/pipelines/${name}/runs`, {}));
      for (;;) {
        const { state, endedAt } = run.parse(await call('GET', `/v1/runs/${id}`));
        if (endedAt !== undefined && state !== 'SUCCEEDED') throw new Error(`run ${id} is ${state}`);
        if (endedAt !== undefined) return;
        await sleep(LOOK_MS);
      }
    },
    async close() {
      child.kill('SIGINT');
      if (child.exitCode === null) await once(child, 'exit');
      await rm(dataDir, { recursive: true });
    },
  };
}

function callerOf(url: string) {
  return async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${url}${path}`, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
    return response.json();
  };
}
