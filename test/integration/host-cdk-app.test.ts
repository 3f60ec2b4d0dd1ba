/** The CDK app of the examples on the host: its pipeline is put before the first request, and is the same one after a restart. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Host, startHost, synthesizeApp } from '#local/host.ts';

const projectDir = path.join(import.meta.dirname, '../../examples/cdk-app');

const pipelineSchema = z.object({ revision: z.string(), createdAt: z.string() });
const runSchema = z.object({ id: z.string(), state: z.string(), output: z.unknown().optional() });

describe('a pipeline of the CDK app, on the host', () => {
  let folder: string;
  let cdkOut: string;
  let host: Host | undefined;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'cdk-app-'));
    cdkOut = await synthesizeApp({ app: 'node app.ts', projectDir, outDir: path.join(folder, 'cdk.out') });
  });
  afterEach(async () => {
    await host?.close();
    host = undefined;
  });
  afterAll(() => rm(folder, { recursive: true }));

  const start = async () => {
    host = await startHost({ cdkOut, dataDir: path.join(folder, 'data'), port: 0, tickSeconds: 1 });
    return host;
  };
  const read = async (url: string) => (await fetch(url)).json();

  it('is there at once, runs, and is the same one after a restart', async () => {
    const { url } = await start();
    const put = pipelineSchema.parse(await read(`${url}/v1/pipelines/orders`));
    const started = await fetch(`${url}/v1/pipelines/orders/runs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ input: { lines: [{ price: 20, count: 3 }] } }),
    });
    expect(started.status).toBe(201);
    const { id } = runSchema.parse(await started.json());
    let run = runSchema.parse(await read(`${url}/v1/runs/${id}?wait=20`));
    while (run.state === 'RUNNING' || run.state === 'QUEUED') {
      run = runSchema.parse(await read(`${url}/v1/runs/${id}?wait=20`));
    }
    expect(run).toMatchObject({ state: 'SUCCEEDED', output: { confirmed: true, total: 60 } });
    await host?.close();
    const again = await start();
    expect(pipelineSchema.parse(await read(`${again.url}/v1/pipelines/orders`))).toEqual(put);
  });

  it('that was deleted over the API is put again by the next start', async () => {
    const { url } = await start();
    expect((await fetch(`${url}/v1/pipelines/orders?force=true`, { method: 'DELETE' })).status).toBe(204);
    await expect.poll(async () => (await fetch(`${url}/v1/pipelines/orders`)).status, { timeout: 20_000 }).toBe(404);
    await host?.close();
    const again = await start();
    expect((await fetch(`${again.url}/v1/pipelines/orders`)).status).toBe(200);
  });
});
