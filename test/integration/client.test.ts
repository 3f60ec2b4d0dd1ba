import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient, type MillraceClient } from 'millrace/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAndFollow } from '../../examples/client/run-and-follow.ts';
import { signedClient } from '../../examples/client/signed.ts';
import { pipelines, type Started, startMillrace } from './cli-process.ts';

let folder: string;
let dev: Started;
let client: MillraceClient;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'client-'));
  const functions = join(pipelines, 'functions');
  dev = startMillrace(['dev', '--port', '0', '--data', 'data', '--functions', functions, '--json'], { cwd: folder });
  const { url } = JSON.parse(await dev.firstLine);
  client = createClient({ url });
  await client.pipelines.put('hello', await readFile(join(pipelines, 'hello.yaml'), 'utf8'));
});

afterAll(async () => {
  dev.child.kill('SIGTERM');
  await dev.ended;
  await rm(folder, { recursive: true, force: true });
});

describe('the client with a development host', () => {
  it('runs a pipeline and follows it to its end', async () => {
    const told: string[] = [];
    expect(await runAndFollow(client.url, 'hello', { name: 'Ada' }, (text) => void told.push(text))).toBe(
      'HELLO, ADA!',
    );
    expect(told.at(-1)).toBe('SUCCEEDED, 100 % done');
    await expect(runAndFollow(client.url, 'nobody', {})).rejects.toThrow('There is no pipeline nobody: put it first.');
  });

  it('reads what a run leaves', async () => {
    const { id } = await client.runs.start('hello', { input: { name: 'Bob' } });
    expect(await client.runs.untilOver(id)).toMatchObject({ id, state: 'SUCCEEDED', output: 'HELLO, BOB!' });
    const nodes = await client.nodes.list(id).all();
    expect(nodes.map((node) => [node.id, node.state])).toEqual([
      ['greet', 'SUCCEEDED'],
      ['shout', 'SUCCEEDED'],
    ]);
    expect(await client.nodes.output(id, 'greet')).toBe('Hello, Bob');
    expect(await client.nodes.attempts(id, 'greet').all()).toMatchObject([{ attempt: 1, state: 'SUCCEEDED' }]);
    const entries = await client.runs.history(id, { limit: 2 }).all();
    expect(entries.filter(({ node }) => node === 'shout').map(({ state }) => state)).toContain('SUCCEEDED');
    await client.runs.delete(id);
    await expect(client.runs.get(id)).rejects.toMatchObject({ code: 'RUN_NOT_FOUND', status: 404 });
  });

  it('is made for an address, signed or not, and asks for nothing before it is used', () => {
    expect(signedClient('https://a1b2.execute-api.eu-central-1.amazonaws.com/').url).toBe(
      'https://a1b2.execute-api.eu-central-1.amazonaws.com',
    );
    expect(() => createClient({ url: 'nonsense' })).toThrow(TypeError);
  });
});
