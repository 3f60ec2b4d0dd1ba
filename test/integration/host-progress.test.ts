/** The library for functions over a hosted template: progress, logs, and a worker that is stuck. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Host, startHost, synthesizeApp } from '#local/host.ts';

const example = fileURLToPath(new URL('../../examples/progress/', import.meta.url));

const runShape = z.object({
  id: z.string(),
  state: z.string(),
  endedAt: z.string().optional(),
  output: z.unknown().optional(),
});
const reportShape = z.object({ progress: z.number(), message: z.string(), at: z.string() });
const nodeShape = z.object({ state: z.string(), reason: z.string(), report: reportShape.optional() });
const logsShape = z.object({ items: z.array(z.object({ message: z.string() })), nextCursor: z.string().optional() });

let folder: string;
let host: Host;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-progress-'));
  const cdkOut = await synthesizeApp({ functionsDir: join(example, 'functions'), outDir: join(folder, 'cdk.out') });
  host = await startHost({ cdkOut, dataDir: join(folder, 'data'), port: 0, tickSeconds: 2 });
});

afterAll(async () => {
  await host?.close();
  await rm(folder, { recursive: true, force: true });
});

async function read<Shape extends z.ZodType>(shape: Shape, path: string, request: RequestInit = {}) {
  const response = await fetch(`${host.url}/v1/${path}`, request);
  return shape.parse(await response.json());
}

/** Starts an example; gives the id of its run. */
async function start(file: string, name: string): Promise<string> {
  const body = await readFile(join(example, file), 'utf8');
  const yaml = { 'content-type': 'application/yaml' };
  await read(z.object({ revision: z.string() }), `pipelines/${name}`, { method: 'PUT', headers: yaml, body });
  return (await read(runShape, `pipelines/${name}/runs`, { method: 'POST' })).id;
}

async function untilOver(id: string) {
  for (;;) {
    const run = await read(runShape, `runs/${id}?wait=20`);
    if (run.endedAt !== undefined) return run;
  }
}

describe('a hosted function', () => {
  it('reports its progress, and its log is found by its attempt', async () => {
    const id = await start('pipeline.yaml', 'example-progress');
    const messages = new Set<string>();
    while ((await read(runShape, `runs/${id}?wait=1`)).endedAt === undefined) {
      const { report } = await read(nodeShape, `runs/${id}/nodes/load`);
      if (report) messages.add(report.message);
    }
    expect(await untilOver(id)).toMatchObject({ state: 'SUCCEEDED', output: 3 });
    expect([...messages]).toContain('2 of 3 files');
    const logs = await read(logsShape, `runs/${id}/nodes/load/logs`);
    expect(logs.items.map(({ message }) => message)).toEqual(['loaded a.csv', 'loaded b.csv', 'loaded c.csv']);
  });

  it('that has to report and is stuck is ended with its reason', async () => {
    const id = await start('stuck.yaml', 'example-stuck');
    expect(await untilOver(id)).toMatchObject({ state: 'SUCCEEDED', output: 'Millrace.HeartbeatTimeout' });
    expect(await read(nodeShape, `runs/${id}/nodes/stuck`)).toMatchObject({
      state: 'TIMED_OUT',
      reason: 'HeartbeatTimeout',
    });
  });
});
