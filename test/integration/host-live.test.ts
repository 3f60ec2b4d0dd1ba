/** Live updates on the development host, with real WebSocket clients. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import {
  ApiGatewayManagementApiClient,
  DeleteConnectionCommand,
  GetConnectionCommand,
  GoneException,
  LimitExceededException,
  PayloadTooLargeException,
  PostToConnectionCommand,
} from '@aws-sdk/client-apigatewaymanagementapi';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { type Host, startHost, synthesizeApp } from '#local/host.ts';
import { type Frame, LiveClient } from './live-client.ts';

/** Goes on once the file is there. */
const GATED = `import { existsSync } from 'node:fs';
export const handler = async ({ gate }: { gate: string }) => {
  while (!existsSync(gate)) await new Promise((done) => setTimeout(done, 10));
  return 'through';
};`;

let folder: string;
let cdkOut: string;
let host: Host;
const clients: LiveClient[] = [];

const start = (port = 0) => startHost({ cdkOut, dataDir: path.join(folder, 'data'), port, tickSeconds: 1 });

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'host-live-'));
  const functionsDir = path.join(folder, 'functions');
  await mkdir(functionsDir);
  await writeFile(path.join(functionsDir, 'gated.ts'), GATED);
  cdkOut = await synthesizeApp({ functionsDir, outDir: path.join(folder, 'out') });
  host = await start();
});

afterEach(async () => {
  for (const client of clients.splice(0)) {
    client.close();
    await client.closed;
  }
});

afterAll(async () => {
  await host.close();
  await rm(folder, { recursive: true });
});

async function send(method: string, target: string, body?: unknown) {
  const response = await fetch(host.url + target, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: tests name the fields that they look at
  return (await response.json()) as any;
}

async function connect(url = host.wsUrl ?? ''): Promise<LiveClient> {
  const client = await LiveClient.open(url);
  clients.push(client);
  return client;
}

let pipelines = 0;

/** A run of two nodes, one after the other, each of which waits for its gate. */
async function startGated() {
  const name = `gated-${pipelines++}`;
  const gate = (node: string) => path.join(folder, `${name}-${node}`);
  const node = (id: string, dependsOn: string[]) => ({
    id,
    dependsOn,
    params: { function: 'gated', payload: { gate: gate(id) } },
  });
  await send('PUT', `/v1/pipelines/${name}`, { name, nodes: [node('a', []), node('b', ['a'])] });
  const { id } = await send('POST', `/v1/pipelines/${name}/runs`, {});
  return { name, id: id as string, open: (at: string) => writeFile(gate(at), '') };
}

const saysOf = (node: string, state: string) => (frame: Frame) =>
  frame.type === 'RunChanged' &&
  frame.nodes?.some((each: { id: string; state: string }) => each.id === node && each.state === state);

const isOver = (frame: Frame) => frame.type === 'RunChanged' && frame.state === 'SUCCEEDED';

const managementOf = () =>
  new ApiGatewayManagementApiClient({
    endpoint: host.wsUrl?.replace(/^ws/, 'http') ?? '',
    region: 'us-east-1',
    credentials: { accessKeyId: 'x', secretAccessKey: 'x' },
    maxAttempts: 1,
  });

/** The id of the connection that was opened last: its client does not know it, but the notifier's log does. */
async function newestConnection(): Promise<string> {
  const log = await readFile(path.join(folder, 'data', 'logs', 'millrace-notifier.log'), 'utf8');
  return Array.from(log.matchAll(/"message":"connected".*"connection":"([^"]+)"/g), ([, id = '']) => id).at(-1) ?? '';
}

const ruleCalls = () => {
  const { EnableRule = 0, DisableRule = 0 } = host.wireLog.snapshot().calls.events ?? {};
  return { EnableRule, DisableRule };
};

const notifierCalls = () => host.wireLog.snapshot().calls.lambda?.['millrace-notifier'] ?? 0;

describe('while nobody is connected', () => {
  it('no event reaches the notifier', async () => {
    const before = notifierCalls();
    const { id, open } = await startGated();
    await open('a');
    await open('b');
    expect((await send('GET', `/v1/runs/${id}?wait=20`)).state).toBe('SUCCEEDED');
    expect(notifierCalls()).toBe(before);
  });
});

describe('a client that looks at a run', () => {
  it('gets a snapshot, and then every change, node by node', async () => {
    const { id, open } = await startGated();
    const client = await connect();
    const snapshot = await client.ask({ action: 'subscribe', run: id }, 'Snapshot');
    expect(snapshot.run).toMatchObject({ id, state: 'RUNNING' });
    expect(snapshot.nodes.map((node: { id: string }) => node.id)).toEqual(['a', 'b']);
    await open('a');
    await client.next(saysOf('b', 'RUNNING'));
    await open('b');
    await client.next(isOver);
    const { rev } = await send('GET', `/v1/runs/${id}`);
    await client.next((frame) => frame.rev === rev);
    expect(client.frames.some(saysOf('a', 'SUCCEEDED'))).toBe(true);
    const changes = client.frames.filter(({ type }) => type === 'RunChanged').sort((a, b) => a.rev - b.rev);
    let covered = snapshot.run.rev;
    for (const change of changes) {
      expect(change.sinceRev).toBeLessThanOrEqual(covered + 1);
      covered = Math.max(covered, change.rev);
    }
    expect(covered).toBe(rev);
  });

  it('sees by a pong that it missed something', async () => {
    const { id, open } = await startGated();
    const client = await connect();
    const snapshot = await client.ask({ action: 'subscribe', run: id }, 'Snapshot');
    await client.ask({ action: 'unsubscribe', run: id }, 'Unsubscribed');
    await open('a');
    await open('b');
    const { rev } = await send('GET', `/v1/runs/${id}?wait=20`);
    expect(client.frames.filter(({ rev: told = 0 }) => told >= rev)).toEqual([]);
    await client.ask({ action: 'subscribe', run: id }, 'Snapshot');
    const pong = await client.ask({ action: 'ping' }, 'Pong');
    expect(pong.runs).toEqual([{ runId: id, rev: expect.any(Number), state: 'SUCCEEDED' }]);
    expect(pong.runs[0].rev).toBeGreaterThan(snapshot.run.rev);
  });

  it('is not alone: two are told the same, and one that leaves takes nothing from the other', async () => {
    const { id, name, open } = await startGated();
    const [one, two, three] = await Promise.all([connect(), connect(), connect()]);
    await one.ask({ action: 'subscribe', run: id }, 'Snapshot');
    await two.ask({ action: 'subscribe', run: id }, 'Snapshot');
    const ofPipeline = await three.ask({ action: 'subscribe', pipeline: name }, 'Snapshot');
    expect(ofPipeline.runs).toMatchObject([{ id, state: 'RUNNING' }]);
    await open('a');
    await Promise.all([one, two, three].map((client) => client.next(saysOf('a', 'SUCCEEDED'))));
    one.close();
    await one.closed;
    await open('b');
    await Promise.all([two, three].map((client) => client.next(isOver)));
  });

  it('may be a program of a few lines', async () => {
    const { id, open } = await startGated();
    const sample = fileURLToPath(new URL('./watch-run.ts', import.meta.url));
    const child = spawn(process.execPath, [sample, host.url, id], { stdio: ['ignore', 'pipe', 'inherit'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    expect(JSON.parse(String((await lines.next()).value))).toMatchObject({ type: 'Snapshot', run: { id } });
    await open('a');
    expect(JSON.parse(String((await lines.next()).value))).toMatchObject({ type: 'RunChanged', runId: id });
    child.kill();
    await open('b');
  });
});

describe('a run of 10,000 nodes', () => {
  it('is told as far as a frame goes', async () => {
    const nodes = Array.from({ length: 10_000 }, (_, at) => ({ id: `n${at}`, engine: 'nobody', params: {} }));
    await send('PUT', '/v1/pipelines/wide', { name: 'wide', nodes });
    const { id } = await send('POST', '/v1/pipelines/wide/runs', {});
    const client = await connect();
    const snapshot = await client.ask({ action: 'subscribe', run: id }, 'Snapshot');
    expect(snapshot).toMatchObject({ truncated: true, run: { id } });
    expect(snapshot.bytes).toBeLessThanOrEqual(25 * 1024);
    await send('POST', `/v1/runs/${id}/stop`, {});
    await client.next(({ state }) => state === 'ABORTED');
    for (const { bytes } of client.frames) expect(bytes).toBeLessThanOrEqual(25 * 1024);
  });
});

describe('what is no good', () => {
  it.each([
    ['hello', 'INVALID_JSON'],
    [{ action: 'subscribe' }, 'INVALID_REQUEST'],
    [{ action: 'subscribe', run: 'none' }, 'RUN_NOT_FOUND'],
    [{ action: 'subscribe', pipeline: 'none' }, 'PIPELINE_NOT_FOUND'],
  ])('%j is answered by an error frame, and the connection goes on', async (message, code) => {
    const client = await connect();
    expect(await client.ask(message, 'Error')).toMatchObject({ code });
    expect(await client.ask({ action: 'ping' }, 'Pong')).toMatchObject({ runs: [] });
  });

  it('a message above 32 KB ends the connection with code 1009', async () => {
    const client = await connect();
    client.say('x'.repeat(32 * 1024 + 1));
    expect(await client.closed).toBe(1009);
  });

  it('another path, or a page of another origin, is not let in', async () => {
    const refused = (url: string, origin?: string) =>
      new Promise((resolve) => {
        const socket = new WebSocket(url, origin === undefined ? {} : { origin });
        socket.once('error', ({ message }) => resolve(message)).once('open', () => resolve('open'));
      });
    const other = host.wsUrl?.replace(/live$/, 'other') ?? '';
    expect(await refused(other)).toContain('403');
    expect(await refused(host.wsUrl ?? '', 'https://evil.example')).toContain('403');
    expect(await refused(host.wireUrl.replace(/^http/, 'ws'))).not.toBe('open');
  });
});

describe('the rule that feeds live updates', () => {
  it('is enabled while somebody is subscribed, and no longer', async () => {
    const { id, open } = await startGated();
    const before = ruleCalls();
    const client = await connect();
    await client.ask({ action: 'subscribe', run: id }, 'Snapshot');
    const during = ruleCalls();
    expect(during.EnableRule).toBeGreaterThan(before.EnableRule);
    client.socket.terminate();
    await vi.waitFor(() => expect(ruleCalls().DisableRule).toBeGreaterThan(during.DisableRule), { timeout: 10_000 });
    const calls = notifierCalls();
    await open('a');
    await open('b');
    await send('GET', `/v1/runs/${id}?wait=20`);
    // One may have been on its way.
    expect(notifierCalls()).toBeLessThanOrEqual(calls + 1);
  });
});

describe('the management API of the host', () => {
  it('is what the plain SDK client wants', async () => {
    const client = await connect();
    const management = managementOf();
    const ConnectionId = await newestConnection();
    const seen = await management.send(new GetConnectionCommand({ ConnectionId }));
    expect(seen.ConnectedAt).toBeInstanceOf(Date);
    await management.send(new PostToConnectionCommand({ ConnectionId, Data: '{"type":"Hello"}' }));
    await client.next(({ type }) => type === 'Hello');
    const tooLarge = new PostToConnectionCommand({ ConnectionId, Data: 'x'.repeat(128 * 1024 + 1) });
    await expect(management.send(tooLarge)).rejects.toBeInstanceOf(PayloadTooLargeException);
    await management.send(new DeleteConnectionCommand({ ConnectionId }));
    expect(await client.closed).toBe(1001);
    await expect(management.send(new GetConnectionCommand({ ConnectionId }))).rejects.toBeInstanceOf(GoneException);
  });

  it('has a slow client dropped, whose run goes on for the others', async () => {
    const { id, open } = await startGated();
    const slow = await LiveClient.open(host.wsUrl ?? '');
    const ConnectionId = await newestConnection();
    const other = await connect();
    await slow.ask({ action: 'subscribe', run: id }, 'Snapshot');
    await other.ask({ action: 'subscribe', run: id }, 'Snapshot');
    slow.socket.pause();
    const Data = JSON.stringify({ type: 'Filling', text: 'x'.repeat(100_000) });
    const management = managementOf();
    const post = () => management.send(new PostToConnectionCommand({ ConnectionId, Data }));
    // The kernel takes more and more of it, until it does not.
    for (let refused = 0; refused < 30; ) {
      const error = await post().then(
        () => undefined,
        (reason: unknown) => reason,
      );
      if (error !== undefined) expect(error).toBeInstanceOf(LimitExceededException);
      refused = error === undefined ? 0 : refused + 1;
    }
    await open('a');
    await other.next(saysOf('a', 'SUCCEEDED'));
    await open('b');
    await other.next(isOver);
    expect(host.wireLog.snapshot().calls.websocket?.['DeleteConnection']).toBeGreaterThan(0);
    const look = () => management.send(new GetConnectionCommand({ ConnectionId }));
    await vi.waitFor(() => expect(look()).rejects.toBeInstanceOf(GoneException), { timeout: 10_000 });
    slow.socket.terminate();
  });
});

describe('a host that is started again', () => {
  it('lets clients come back, who are told of what happens then', async () => {
    const { id, open } = await startGated();
    const client = await connect();
    await client.ask({ action: 'subscribe', run: id }, 'Snapshot');
    const { port } = new URL(host.url);
    await host.close();
    expect(await client.closed).toBe(1001);
    host = await start(Number(port));
    const again = await connect();
    await again.ask({ action: 'subscribe', run: id }, 'Snapshot');
    await open('a');
    await again.next(saysOf('a', 'SUCCEEDED'));
    await open('b');
    await again.next(isOver);
  });
});
