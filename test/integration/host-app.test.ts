import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Host, startHost, synthesizeApp } from '#local/host.ts';

let folder: string;
let functionsDir: string;
let host: Host;

const synthesize = () => synthesizeApp({ functionsDir, outDir: path.join(folder, 'out') });

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'host-app-'));
  functionsDir = path.join(folder, 'functions');
  await mkdir(functionsDir);
  await writeFile(path.join(folder, 'shared.ts'), 'export const factor: number = 2;');
  const double = `import { factor } from '../shared.ts';
export const handler = async (event: { n: number }) => ({ doubled: event.n * factor });`;
  await writeFile(path.join(functionsDir, 'double.ts'), double);
  host = await startHost({ cdkOut: await synthesize(), dataDir: path.join(folder, 'data'), port: 0 });
});

afterAll(async () => {
  await host.close();
  await rm(folder, { recursive: true });
});

const send = (method: string, target: string, body?: unknown) =>
  fetch(host.url + target, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

describe("the host of Millrace's own template", () => {
  it('runs a pipeline of Lambda nodes from PUT to its output', async () => {
    const definition = {
      name: 'twice',
      nodes: [
        { id: 'first', engine: 'lambda', params: { function: 'double', payload: { n: 1 } } },
        {
          id: 'second',
          dependsOn: ['first'],
          engine: 'lambda',
          params: { function: 'double', payload: { n: '{% $nodes.first.output.doubled %}' } },
        },
      ],
      output: '{% $nodes.second.output %}',
    };
    expect((await send('PUT', '/v1/pipelines/twice', definition)).status).toBe(201);
    const started = await send('POST', '/v1/pipelines/twice/runs', {});
    expect(started.status).toBe(201);
    const { id } = (await started.json()) as { id: string };
    const ended = await send('GET', `/v1/runs/${id}?wait=20`);
    expect(await ended.json()).toMatchObject({ state: 'SUCCEEDED', output: { doubled: 4 } });
    expect(host.wireLog.snapshot()).toMatchObject({ transitions: 2, calls: { states: { StartExecution: 2 } } });
  });

  it('finds its cloud assembly again, and makes a new one when what a function imports has changed', async () => {
    const first = await synthesize();
    expect(await synthesize()).toBe(first);
    await writeFile(path.join(folder, 'shared.ts'), 'export const factor: number = 3;');
    expect(await synthesize()).not.toBe(first);
  });

  it('says what is wrong with functions that do not build', async () => {
    const broken = path.join(folder, 'broken');
    await mkdir(broken);
    await writeFile(path.join(broken, 'bad.ts'), 'export const handler = ;');
    await expect(synthesizeApp({ functionsDir: broken, outDir: path.join(folder, 'out') })).rejects.toMatchObject({
      code: 'SYNTH_FAILED',
      message: expect.stringContaining('bad.ts:1:23'),
    });
  });
});
