/** Live updates by the typed client, on a development host. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient, type MillraceClient, type RunChange, type RunSnapshot } from 'millrace/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Host, startHost, synthesizeApp } from '#local/host.ts';
import { watch } from '../../examples/client/watch.ts';

/** Goes on once the file is there. */
const GATED = `import { existsSync } from 'node:fs';
export const handler = async ({ gate }: { gate: string }) => {
  while (!existsSync(gate)) await new Promise((done) => setTimeout(done, 10));
};`;

let folder: string;
let cdkOut: string;
let host: Host;
let client: MillraceClient;
/** Whether a frame is lost on its way. */
let isLost: (frame: { readonly type: string }) => boolean;
let sockets: WebSocket[];
let made = 0;

/** A WebSocket that loses frames. */
class LossySocket extends globalThis.WebSocket {
  constructor(url: string | URL) {
    super(url);
    sockets.push(this);
  }
  override set onmessage(take: WebSocket['onmessage']) {
    super.onmessage = (event) => {
      if (!isLost(JSON.parse(String(event.data)))) take?.call(this, event);
    };
  }
}

const open = (port = 0) => startHost({ cdkOut, dataDir: path.join(folder, 'data'), port, tickSeconds: 1 });

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'client-live-'));
  const functionsDir = path.join(folder, 'functions');
  await mkdir(functionsDir);
  await writeFile(path.join(functionsDir, 'gated.ts'), GATED);
  cdkOut = await synthesizeApp({ functionsDir, outDir: path.join(folder, 'out') });
  host = await open();
  client = createClient({ url: host.url, WebSocket: LossySocket });
}, 60_000);

beforeEach(() => {
  isLost = () => false;
  sockets = [];
});

afterAll(async () => {
  await host.close();
  await rm(folder, { recursive: true });
});

/** Starts a run of nodes, one after another, each of which waits until it is let through. */
async function start(...ids: string[]) {
  const name = `gated${++made}`;
  const gateOf = (id: string) => path.join(folder, `${name}-${id}`);
  const nodes = ids.map((id, at) => ({
    id,
    ...(at > 0 && { dependsOn: [ids[at - 1] as string] }),
    params: { function: 'gated', payload: { gate: gateOf(id) } },
  }));
  await client.pipelines.put(name, { name, nodes });
  const { id } = await client.runs.start(name);
  return { name, id, pass: (node: string) => writeFile(gateOf(node), '') };
}

/** States of nodes as they are after some updates. */
function statesAfter(updates: readonly (RunSnapshot | RunChange)[]): Record<string, string> {
  const told = updates.flatMap((update) => update.nodes ?? []);
  return Object.fromEntries(told.map((node) => [node.id, node.state]));
}

async function allOf<Update>(updates: AsyncIterable<Update>): Promise<Update[]> {
  const all: Update[] = [];
  for await (const update of updates) all.push(update);
  return all;
}

/** Reads updates until one is as wanted. */
async function until<Update>(
  updates: AsyncIterator<Update>,
  isWanted: (update: Update) => boolean,
): Promise<{ readonly all: readonly Update[]; readonly last: Update }> {
  const all: Update[] = [];
  for (;;) {
    const { value, done } = await updates.next();
    if (done) throw new Error(`it ended before: ${JSON.stringify(all.slice(-2))}`);
    all.push(value);
    if (isWanted(value)) return { all, last: value };
  }
}

const changes = (node: string, state: string) => (update: RunSnapshot | RunChange) =>
  (update.nodes ?? []).some((each) => each.id === node && each.state === state);

describe('a subscription of a run', () => {
  it('tells how it stands, then each change, and ends with it', async () => {
    const { id, pass } = await start('a', 'b');
    const updates = client.live.subscribe({ run: id })[Symbol.asyncIterator]();
    const first = await updates.next();
    expect(first.value).toMatchObject({ type: 'Snapshot', run: { id } });
    const seen = [first.value as RunSnapshot];
    await pass('a');
    const ended = await until(updates, changes('a', 'SUCCEEDED'));
    expect(ended.last.type).toBe('RunChanged');
    await pass('b');
    const rest = await until(updates, (update) => 'state' in update && update.state === 'SUCCEEDED');
    expect(statesAfter([...seen, ...ended.all, ...rest.all])).toEqual({ a: 'SUCCEEDED', b: 'SUCCEEDED' });
    expect(await updates.next()).toEqual({ done: true, value: undefined });
    expect(sockets).toHaveLength(1);
  });

  it('reads what was lost on the way', async () => {
    const { id, pass } = await start('a', 'b');
    const updates = client.live.subscribe({ run: id })[Symbol.asyncIterator]();
    await until(updates, changes('a', 'RUNNING'));
    let lost = 0;
    isLost = ({ type }) => type === 'RunChanged' && lost++ === 0;
    await pass('a');
    const { last } = await until(updates, changes('a', 'SUCCEEDED'));
    expect(last.type).toBe('Snapshot');
    await pass('b');
    await until(updates, (update) => 'state' in update && update.state === 'SUCCEEDED');
  });

  it('finds by a sign of life that the last change was lost', async () => {
    const { id, pass } = await start('a');
    const updates = client.live.subscribe({ run: id }, { pingMs: 500 })[Symbol.asyncIterator]();
    await until(updates, changes('a', 'RUNNING'));
    isLost = ({ type }) => type === 'RunChanged';
    await pass('a');
    const { last } = await until(updates, changes('a', 'SUCCEEDED'));
    expect(last).toMatchObject({ type: 'Snapshot', run: { state: 'SUCCEEDED' } });
  });

  it('goes on by another connection, also of another host', async () => {
    const { id, pass } = await start('a', 'b', 'c');
    const updates = client.live.subscribe({ run: id })[Symbol.asyncIterator]();
    await until(updates, changes('a', 'RUNNING'));
    sockets.at(-1)?.close();
    await pass('a');
    await until(updates, changes('a', 'SUCCEEDED'));
    const next = until(updates, changes('b', 'SUCCEEDED'));
    const { port } = new URL(host.url);
    await host.close();
    host = await open(Number(port));
    await pass('b');
    await next;
    await pass('c');
    await until(updates, (update) => ('state' in update ? update : update.run).state === 'SUCCEEDED');
    expect(sockets.length).toBeGreaterThan(2);
  });

  it('tells of a run that is over once, and refuses one that there is not', async () => {
    const { id, pass } = await start('a');
    await pass('a');
    await client.runs.untilOver(id);
    const told = await allOf(client.live.subscribe({ run: id }));
    const texts: string[] = [];
    await watch(client, id, (text) => void texts.push(text));
    expect(texts).toEqual(['a: SUCCEEDED']);
    expect(told).toMatchObject([{ type: 'Snapshot', run: { state: 'SUCCEEDED' }, nodes: [{ id: 'a' }] }]);
    const unknown = client.live.subscribe({ run: '4nwee6vv6paa4bafu3kgiuidb3' });
    await expect(allOf(unknown)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND', status: 404 });
  });

  it('ends with its signal, and with the loop that reads it', async () => {
    const { id, pass } = await start('a');
    const ending = new AbortController();
    const aborted = client.live.subscribe({ run: id }, { signal: ending.signal })[Symbol.asyncIterator]();
    await aborted.next();
    const next = until(aborted, () => false);
    ending.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    for await (const _ of client.live.subscribe({ run: id })) break;
    await expect.poll(() => sockets.map(({ readyState }) => readyState)).toEqual([WebSocket.CLOSED, WebSocket.CLOSED]);
    await pass('a');
  });

  it('is rejected where nobody answers', async () => {
    const nobody = createClient({ url: 'http://127.0.0.1:1', retries: false });
    await expect(allOf(nobody.live.subscribe({ run: 'x' }))).rejects.toMatchObject({
      code: 'SERVER_UNREACHABLE',
    });
  });
});

describe('a subscription of a pipeline', () => {
  it('tells its newest runs, then what becomes of each', async () => {
    const { name, id, pass } = await start('a');
    const updates = client.live.subscribe({ pipeline: name })[Symbol.asyncIterator]();
    const { value } = await updates.next();
    expect(value).toMatchObject({ type: 'Snapshot', pipeline: name, runs: [{ id }] });
    await pass('a');
    const { last } = await until(updates, (update) => 'state' in update && update.state === 'SUCCEEDED');
    expect(last).toMatchObject({ type: 'RunChanged', runId: id });
    await updates.return?.();
  });
});
