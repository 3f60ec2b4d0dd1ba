/** What can be wrong with the disk and the data folder: the host says so, and nothing that it confirmed is lost. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { startHost, synthesizeApp } from '#local/host.ts';
import { pipelines, runMillrace, startMillrace } from './cli-process.ts';
import { MortalHost } from './fault-host.ts';

const fromHere = (file: string) => fileURLToPath(new URL(file, import.meta.url));
const functionsDir = join(pipelines, 'functions');

const MEBIBYTE = 1024 * 1024;
const runShape = z.object({ id: z.string(), state: z.string() });

let cdkOut: string;
let folder: string;
let dataDir: string;
let stop: () => Promise<unknown>;

beforeAll(async () => {
  cdkOut = await synthesizeApp({ functionsDir, outDir: fromHere('../../node_modules/.cache/millrace') });
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'host-data-folder-'));
  dataDir = join(folder, 'data');
  stop = async () => {};
});
afterEach(async () => {
  await stop();
  await rm(folder, { recursive: true, force: true });
});

/** Calls of the HTTP API. */
function apiOf(url: () => string) {
  const send = (method: string, path: string, body?: unknown) =>
    fetch(`${url()}/v1/${path}`, {
      method,
      signal: AbortSignal.timeout(60_000),
      ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
  const runOf = async (response: Response) => runShape.parse(await response.json());
  return {
    send,
    /** A chain of nodes, each of which takes a call of a function. */
    async put(): Promise<void> {
      const node = (at: number) => ({
        id: `n${at}`,
        engine: 'lambda',
        params: { function: 'greet', payload: { name: `${at}` } },
        ...(at > 0 && { dependsOn: [`n${at - 1}`] }),
      });
      const { status } = await send('PUT', 'pipelines/chain', {
        name: 'chain',
        nodes: Array.from({ length: 5 }, (_, at) => node(at)),
      });
      expect(status).toBe(201);
    },
    start: async () => (await runOf(await send('POST', 'pipelines/chain/runs', {}))).id,
    async end(id: string): Promise<string> {
      for (;;) {
        const { state } = await runOf(await send('GET', `runs/${id}?wait=20`));
        if (!/QUEUED|PENDING|RUNNING/.test(state)) return state;
      }
    },
    state: async (id: string) => (await runOf(await send('GET', `runs/${id}`))).state,
  };
}

describe('a disk without room', () => {
  it('lets everything wait that is to be written, and go on by itself', async () => {
    let free = 1024 * MEBIBYTE;
    const lines: string[] = [];
    const host = await startHost({
      cdkOut,
      dataDir,
      port: 0,
      tickSeconds: 1,
      log: (line) => lines.push(line),
      freeBytes: () => free,
    });
    stop = () => host.close();
    const api = apiOf(() => host.url);
    await api.put();
    const ids = [await api.start(), await api.start()];
    free = 0;
    await vi.waitFor(() => expect(lines).toHaveLength(1), { timeout: 30_000 });
    const refused = await api.send('POST', 'pipelines/chain/runs', {});
    expect(refused.headers.get('retry-after')).toBe('5');
    expect(await refused.json()).toMatchObject({
      code: 'DISK_FULL',
      detail: expect.stringContaining('Nothing is lost.'),
    });
    expect(['QUEUED', 'PENDING', 'RUNNING']).toContain(await api.state(ids[0] as string));
    expect(lines).toEqual([
      expect.stringMatching(/^DISK_FULL: The disk of the data folder .* has less than 64 MB left/),
    ]);
    free = 1024 * MEBIBYTE;
    for (const id of ids) expect(await api.end(id)).toBe('SUCCEEDED');
    expect(lines).toEqual([expect.anything(), expect.stringMatching(/has room again: everything goes on\.$/)]);
  });

  it('does not keep a host from ending, and what was confirmed goes on at the next start', async () => {
    let free = 1024 * MEBIBYTE;
    const lines: string[] = [];
    const options = { cdkOut, dataDir, port: 0, tickSeconds: 1 };
    const first = await startHost({ ...options, log: (line) => lines.push(line), freeBytes: () => free });
    stop = () => first.close();
    const before = apiOf(() => first.url);
    await before.put();
    const id = await before.start();
    free = 0;
    await vi.waitFor(() => expect(lines).toHaveLength(1), { timeout: 30_000 });
    await first.close();
    const second = await startHost(options);
    stop = () => second.close();
    expect(await apiOf(() => second.url).end(id)).toBe('SUCCEEDED');
  });

  it('refuses to start', async () => {
    await expect(startHost({ cdkOut, dataDir, port: 0, freeBytes: () => 0 })).rejects.toMatchObject({
      code: 'DISK_FULL',
    });
  });
});

describe('a write that fails', () => {
  it('ends the host with its reason, and everything that was confirmed is there at the next start', async () => {
    const options = JSON.stringify({ cdkOut, dataDir, port: 0, tickSeconds: 1 });
    // No file may grow beyond 200 KB, so that a LevelDB meets the end of its log in the middle of a record.
    const limited = 'trap "" XFSZ; ulimit -f 400; exec "$0" "$@"';
    const child = spawn('/bin/sh', ['-c', limited, process.execPath, fromHere('./run-host.ts'), options], {
      stdio: 'pipe',
    });
    stop = async () => child.kill('SIGKILL');
    const ended = once(child, 'close');
    let complaints = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaints += text;
    });
    const [line] = await once(child.stdout, 'data');
    const api = apiOf(() => JSON.parse(String(line)).url);
    await api.put();
    const confirmed: string[] = [];
    for (let isOver = false; !isOver; ) {
      await api.start().then(
        (id) => confirmed.push(id),
        () => {
          isOver = true;
        },
      );
    }
    expect(await ended).toEqual([1, null]);
    expect(complaints).toMatch(
      /^DATA_NOT_WRITABLE: A write to the data folder .* failed: .*File too large\. The host ends/m,
    );
    expect(confirmed.length).toBeGreaterThan(3);

    const host = new MortalHost({ cdkOut, dataDir, port: 0, tickSeconds: 1 });
    stop = () => host.kill();
    await host.start();
    const again = apiOf(() => host.address().url);
    for (const id of confirmed) expect(await again.end(id)).toBe('SUCCEEDED');
  });
});

describe('files that a killed host left half written', () => {
  it('do no harm', async () => {
    const host = new MortalHost({ cdkOut, dataDir, port: 0, tickSeconds: 1 });
    stop = () => host.kill();
    await host.start();
    const api = apiOf(() => host.address().url);
    await api.put();
    const ids: string[] = [];
    for (let round = 0; round < 3; round++) {
      ids.push(await api.start(), await api.start());
      await host.kill();
      await tear();
      await host.start();
    }
    for (const id of ids) expect(await api.end(id)).toBe('SUCCEEDED');
    expect(host.complaints).toEqual([]);
  });

  /** Puts half of what is next where a host writes. */
  async function tear(): Promise<void> {
    for (const database of ['host', 'dynamodb']) {
      const names = await readdir(join(dataDir, database));
      const logs = names.filter((name) => name.endsWith('.log')).sort();
      // Checksum, length 1,000 and type of a record, and some of its bytes.
      await appendFile(join(dataDir, database, logs.at(-1) ?? ''), Buffer.from([1, 2, 3, 4, 0xe8, 0x03, 1, 9, 9, 9]));
      await writeFile(join(dataDir, database, '999999.dbtmp'), 'MANIF');
      await writeFile(join(dataDir, database, '999998.ldb'), 'half a table');
    }
    await writeFile(join(dataDir, 'version.json.99999'), '{"for');
    await writeFile(join(dataDir, 's3', 'half-an-object'), 'half');
    for (const file of await readdir(join(dataDir, 'runtime'))) await truncate(join(dataDir, 'runtime', file), 100);
    await appendFile(join(dataDir, 'logs/greet.log'), 'half a li');
  }
});

describe('millrace dev', () => {
  const dev = () => ['dev', '--port', '0', '--json', '--data', dataDir, '--functions', functionsDir];

  it('leaves a folder to the host that is on it, and that one lives on', async () => {
    const first = startMillrace(dev(), { cwd: folder });
    stop = async () => {
      first.child.kill('SIGKILL');
      await first.ended;
    };
    const { url } = JSON.parse(await first.firstLine);
    const second = await runMillrace(dev(), { cwd: folder });
    expect(second).toMatchObject({ code: 2, stdout: '' });
    expect(second.stderr).toMatch(
      /^millrace: DATA_IN_USE: The data folder .* is in use by a running host\. Stop that host/,
    );
    const api = apiOf(() => url);
    await api.put();
    expect(await api.end(await api.start())).toBe('SUCCEEDED');
  });

  it('says in a line that its folder is damaged, or cannot be written', async () => {
    const host = new MortalHost({ cdkOut, dataDir, port: 0 });
    await host.start();
    await host.kill();
    await writeFile(join(dataDir, 'dynamodb', 'CURRENT'), '');
    const damaged = await runMillrace(dev(), { cwd: folder });
    expect(damaged).toMatchObject({ code: 2, stdout: '' });
    expect(damaged.stderr).toMatch(/^millrace: DATA_DAMAGED: The data folder .* is damaged: .*\n$/);
    await rm(dataDir, { recursive: true });
    await writeFile(dataDir, 'no folder');
    const refused = await runMillrace(dev(), { cwd: folder });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^millrace: DATA_NOT_WRITABLE: The data folder .* cannot be written: EEXIST.*\n$/);
  });
});
