import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Host, startHost, synthesizeApp } from '#local/host.ts';

let folder: string;
let cdkOut: string;
let host: Host | undefined;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'host-engines-'));
  cdkOut = await synthesizeApp({ app: 'node test/integration/engine-app.ts', outDir: path.join(folder, 'out') });
}, 60_000);

afterEach(async () => {
  await host?.close();
  host = undefined;
});

afterAll(() => rm(folder, { recursive: true }));

async function open(data: string, assembly = cdkOut): Promise<void> {
  host = await startHost({ cdkOut: assembly, dataDir: path.join(folder, data), port: 0, tickSeconds: 1 });
}

async function send(method: string, target: string, body?: unknown) {
  const answer = await fetch(`${host?.url}${target}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>) };
}

const definition = {
  name: 'words',
  nodes: [{ id: 'count', engine: 'counting', params: { text: '{% $run.input.text %}' } }],
  output: '{% $nodes.count.output %}',
};

describe('an engine of the stack on the development host', () => {
  it('is registered before the first request, and runs the nodes that name it', async () => {
    await open('runs');
    expect(await send('GET', '/v1/engines/counting')).toMatchObject({
      status: 200,
      body: { generation: 1, status: 'Available', maxConcurrent: 2, labels: { team: 'text' } },
    });
    const put = await send('PUT', '/v1/pipelines/words', definition);
    expect(put).toMatchObject({ status: 201, body: { conditions: [{ type: 'Ready', status: 'True' }] } });
    const started = await send('POST', '/v1/pipelines/words/runs', { input: { text: 'the quick brown fox' } });
    const ended = await send('GET', `/v1/runs/${started.body?.['id']}?wait=20`);
    expect(ended.body).toMatchObject({ state: 'SUCCEEDED', output: { counted: 4 } });
  });

  it('is the same one after a restart, whatever was done to it over the API meanwhile', async () => {
    await open('restarts');
    const { body: before } = await send('GET', '/v1/engines/counting');
    await host?.close();
    await open('restarts');
    expect(await send('GET', '/v1/engines/counting')).toMatchObject({
      body: { generation: 1, labels: before?.['labels'] },
    });
    await send('PUT', '/v1/engines/counting', { stateMachineArn: before?.['stateMachineArn'], maxConcurrent: 7 });
    await host?.close();
    await open('restarts');
    expect(await send('GET', '/v1/engines/counting')).toMatchObject({ body: { generation: 1, maxConcurrent: 2 } });
    expect((await send('DELETE', '/v1/engines/counting')).status).toBe(204);
    await host?.close();
    await open('restarts');
    expect(await send('GET', '/v1/engines/counting')).toMatchObject({ body: { generation: 2, maxConcurrent: 2 } });
  });

  it('that is refused keeps the host from starting, and goes with its construct', async () => {
    const app = 'node test/integration/engine-app.ts refused';
    const refused = await synthesizeApp({ app, outDir: path.join(folder, 'out') });
    await expect(open('refused', refused)).rejects.toMatchObject({
      code: 'ENGINE_NOT_REGISTERED',
      message: expect.stringMatching(/"elsewhere".*another account or region/),
    });
    await open('refused');
    expect((await send('GET', '/v1/engines/elsewhere')).status).toBe(404);
    expect((await send('GET', '/v1/engines/counting')).status).toBe(200);
  }, 60_000);
});
