/** Payloads and outputs of any size and text, through the real functions, engine and S3 of the development host. */
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Host, startHost, synthesizeApp } from '#local/host.ts';

const TEXT = 'é ü 漢字 😊 👩‍🔬 \u0000 \u2028 \u200f';

/** Functions of a user: each says in its name whether it is wrapped by the helper library. */
const FUNCTIONS = {
  'wrapped-text': `import { defineFunction } from 'millrace/function';
    export const handler = defineFunction(({ letter, bytes }: { letter: string; bytes: number }) => ({
      text: letter.repeat(Math.ceil(bytes / Buffer.byteLength(letter))),
    }));`,
  'plain-text': `export const handler = async ({ letter, bytes }: { letter: string; bytes: number }) => ({
      text: letter.repeat(Math.ceil(bytes / Buffer.byteLength(letter))),
    });`,
  'wrapped-hash': `import { createHash } from 'node:crypto';
    import { defineFunction } from 'millrace/function';
    export const handler = defineFunction((payload, { node, attempt }) => {
      const text = JSON.stringify(payload);
      return { sha256: createHash('sha256').update(text).digest('hex'), bytes: Buffer.byteLength(text), node, attempt };
    });`,
  'wrapped-values': `import { defineFunction } from 'millrace/function';
    class BadInput extends Error {}
    export const handler = defineFunction(({ give, text = '', times = 1 }: { give: string; text?: string; times?: number }) => {
      if (give === 'error') throw new BadInput(text.repeat(times));
      if (give === 'half') return { rows: ['ok', 'x\\ud83d'] };
      if (give === 'nan') return { rows: [{ price: 0 / 0 }] };
      if (give === 'huge') return 'x'.repeat(50 * 1024 * 1024);
      return { text };
    });`,
  'plain-values': `export const handler = async ({ give, text = '', times = 1 }: { give: string; text?: string; times?: number }) => {
      console.log(text);
      if (give === 'log') process.stdout.write(Buffer.from([0x6c, 0x6f, 0x67, 0xf0, 0x9f, 0x98]));
      if (give === 'error') throw Object.assign(new Error(text.repeat(times)), { name: 'BadInput' });
      if (give === 'half') return { rows: ['ok', 'x\\ud83d'] };
      if (give === 'big') return { id: 2 ** 60 };
      return { text };
    };`,
  'plain-echo': 'export const handler = async (event: unknown) => event;',
};

let folder: string;
let host: Host;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-payloads-'));
  const functionsDir = join(folder, 'functions');
  await mkdir(functionsDir);
  for (const [name, text] of Object.entries(FUNCTIONS)) await writeFile(join(functionsDir, `${name}.ts`), text);
  const cdkOut = await synthesizeApp({ functionsDir, outDir: join(folder, 'cdk.out') });
  host = await startHost({ cdkOut, dataDir: join(folder, 'data'), port: 0 });
});

afterAll(async () => {
  await host?.close();
  await rm(folder, { recursive: true, force: true });
});

interface Node {
  readonly id: string;
  readonly state: string;
  readonly reason: string;
  readonly attempt: number;
  readonly output?: unknown;
  readonly outputRef?: string;
  readonly error?: { readonly name: string; readonly message: string };
}

let pipelines = 0;

const node = (id: string, functionName: string, payload: unknown, more: object = {}) => ({
  id,
  params: { function: functionName, payload },
  ...more,
});

/** Runs nodes to their end. */
async function run(nodes: object[], output?: unknown, input: unknown = {}, tags: Record<string, string> = {}) {
  pipelines += 1;
  const name = `p${pipelines}`;
  await send('PUT', `/v1/pipelines/${name}`, { name, nodes, ...(output !== undefined && { output }) });
  const { id } = (await send('POST', `/v1/pipelines/${name}/runs`, { input, tags })) as { id: string };
  let ended = { state: 'RUNNING' } as { state: string; output?: unknown; outputRef?: string; tags: object };
  for (let waits = 0; waits < 6 && /QUEUED|RUNNING/.test(ended.state); waits++) {
    ended = (await send('GET', `/v1/runs/${id}?wait=20`)) as typeof ended;
  }
  const { items } = (await send('GET', `/v1/runs/${id}/nodes`)) as { items: Node[] };
  return { id, ended, node: (wanted: string) => items.find((each) => each.id === wanted) as Node };
}

async function send(method: string, target: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(host.url + target, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  expect(answer.status, text).toBeLessThan(400);
  return JSON.parse(text);
}

function ofText(letter: string, bytes: number): { text: string; sha256: string; bytes: number } {
  const text = letter.repeat(Math.ceil(bytes / Buffer.byteLength(letter)));
  const json = JSON.stringify({ data: { text } });
  return { text, sha256: createHash('sha256').update(json).digest('hex'), bytes: Buffer.byteLength(json) };
}

const SIZES: [string, number][] = [
  ['x', 255_000],
  ['x', 257_000],
  ['😊', 257_000],
  ['x', 399_000],
  ['漢', 401_000],
  ['😊', 5_000_000],
];

describe('C64 outputs of wrapped functions', () => {
  it.each(SIZES)('reach the next node byte by byte: %s, %i bytes', async (letter, bytes) => {
    const {
      ended,
      node: at,
      id,
    } = await run(
      [
        node('make', 'wrapped-text', { letter, bytes }),
        {
          id: 'next',
          dependsOn: ['make'],
          params: { function: 'wrapped-hash', byReference: true, payload: { data: '{% $nodes.make.output %}' } },
        },
        node('read', 'plain-echo', { length: '{% $length($nodes.make.output.text) %}' }, { dependsOn: ['make'] }),
      ],
      { next: '{% $nodes.next.output %}', read: '{% $nodes.read.output %}' },
    );
    const expected = ofText(letter, bytes);
    expect(ended).toMatchObject({
      state: 'SUCCEEDED',
      output: {
        next: { sha256: expected.sha256, bytes: expected.bytes, node: 'next', attempt: 1 },
        read: { length: [...expected.text].length },
      },
    });
    const { outputRef } = at('make');
    expect(outputRef).toBe(`/v1/runs/${id}/nodes/make/output`);
    const redirect = await fetch(host.url + outputRef, { redirect: 'manual' });
    expect(redirect.status).toBe(307);
    expect(redirect.headers.get('location')).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/.*X-Amz-Signature/);
    const followed = await fetch(host.url + outputRef);
    expect(followed.headers.get('content-type')).toBe('application/json');
    expect(await followed.json()).toEqual({ text: expected.text });
  });

  it('may be the output of the run', async () => {
    const { ended } = await run([node('make', 'wrapped-text', { letter: 'é', bytes: 1_000_000 })], {
      all: '{% $nodes.make.output %}',
    });
    expect(ended).toMatchObject({ state: 'SUCCEEDED' });
    expect(ended.output).toBeUndefined();
    const answer = await fetch(host.url + ended.outputRef);
    expect(await answer.json()).toEqual({ all: { text: ofText('é', 1_000_000).text } });
  });

  it('fail with both sizes above 50 MB, once', async () => {
    const retry = { maxAttempts: 3, intervalSeconds: 0 };
    const { node: at } = await run([node('huge', 'wrapped-values', { give: 'huge' }, { retry })]);
    expect(at('huge')).toMatchObject({
      state: 'FAILED',
      reason: 'PayloadTooLarge',
      attempt: 1,
      error: {
        name: 'Millrace.PayloadTooLarge',
        message: 'the output is 52428802 bytes long; at most 52428800 are possible',
      },
    });
  });
});

describe('C64 outputs of functions that are not wrapped', () => {
  it.each([
    ['x', 255_000],
    ['😊', 255_000],
  ])('pass up to 256 KiB: %s, %i bytes', async (letter, bytes) => {
    const { ended } = await run(
      [
        node('make', 'plain-text', { letter, bytes }),
        node('read', 'plain-echo', { length: '{% $length($nodes.make.output.text) %}' }, { dependsOn: ['make'] }),
      ],
      '{% $nodes.read.output.length %}',
    );
    expect(ended).toMatchObject({ state: 'SUCCEEDED', output: [...ofText(letter, bytes).text].length });
  });

  it.each([
    ['x', 270_000],
    ['漢', 401_000],
    ['😊', 5_000_000],
    ['x', 7_000_000],
  ])('fail above it, once: %s, %i bytes', async (letter, bytes) => {
    const retry = { maxAttempts: 3, intervalSeconds: 0 };
    const { ended, node: at } = await run([node('make', 'plain-text', { letter, bytes }, { retry })]);
    expect(ended.state).toBe('FAILED');
    expect(at('make')).toMatchObject({ state: 'FAILED', reason: 'PayloadTooLarge', attempt: 1 });
  });
});

describe('C64 errors', () => {
  it.each(['wrapped-values', 'plain-values'])(
    'of 1 MB are cut with a mark, and known by their class (%s)',
    async (name) => {
      const retry = { maxAttempts: 2, intervalSeconds: 0, on: ['BadInput'] };
      const { node: at } = await run([node('fail', name, { give: 'error', text: 'é', times: 500_000 }, { retry })]);
      expect(at('fail')).toMatchObject({ state: 'FAILED', attempt: 2, error: { name: 'BadInput' } });
      expect(at('fail').error?.message).toMatch(/^é{100,}.*…$/);
    },
  );
});

describe('C65 numbers', () => {
  it('are the same after three nodes, a map and a condition', async () => {
    const numbers = [20200219, 0.1, 1e21, 9007199254740992];
    const { ended } = await run(
      [
        node('a', 'plain-echo', '{% $run.input %}'),
        node('b', 'plain-echo', '{% $nodes.a.output %}', { dependsOn: ['a'] }),
        node('m', 'plain-echo', '{% $item %}', { dependsOn: ['b'], map: { items: '{% $nodes.b.output %}' } }),
        node('c', 'plain-echo', '{% $nodes.m.output %}', {
          dependsOn: ['m'],
          when: '{% $nodes.m.output[0] = 20200219 and $nodes.m.output[1] = 0.1 %}',
        }),
      ],
      '{% $nodes.c.output %}',
      numbers,
    );
    expect(ended).toMatchObject({ state: 'SUCCEEDED', output: numbers });
  });

  it('beyond 2^53 are refused, with their place: in inputs', async () => {
    await send('PUT', '/v1/pipelines/numbers', { name: 'numbers', nodes: [node('a', 'plain-echo', {})] });
    for (const number of ['20230807093130621', '3544790567247868102']) {
      const answer = await fetch(`${host.url}/v1/pipelines/numbers/runs`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: `{"input":{"id":${number}}}`,
      });
      expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining('NUMBER_OUT_OF_RANGE')]);
    }
  });

  it('beyond 2^53 are refused, with their place: in outputs', async () => {
    const { node: at } = await run([node('a', 'plain-values', { give: 'big' })]);
    expect(at('a')).toMatchObject({
      state: 'FAILED',
      attempt: 1,
      error: {
        name: 'Millrace.InvalidOutput',
        message: expect.stringContaining('NUMBER_OUT_OF_RANGE: id in the output: 1152921504606847000 is an integer'),
      },
    });
  });
});

describe('C67 text', () => {
  it('comes back code point for code point: outputs, logs, tags and errors', async () => {
    const { ended, node: at } = await run(
      [
        node('wrapped', 'wrapped-values', { give: 'text', text: TEXT }),
        node(
          'plain',
          'plain-values',
          { give: 'text', text: '{% $nodes.wrapped.output.text %}' },
          { dependsOn: ['wrapped'] },
        ),
        node('broken-log', 'plain-values', { give: 'log', text: TEXT }),
        node('wrapped-error', 'wrapped-values', { give: 'error', text: TEXT }, { allowFailure: true }),
        node('plain-error', 'plain-values', { give: 'error', text: TEXT }, { allowFailure: true }),
      ],
      '{% $nodes.plain.output.text %}',
      {},
      { label: 'é ü 漢字 😊 👩‍🔬' },
    );
    expect(ended).toMatchObject({ state: 'SUCCEEDED', output: TEXT, tags: { label: 'é ü 漢字 😊 👩‍🔬' } });
    expect(at('broken-log').state).toBe('SUCCEEDED');
    for (const name of ['wrapped-error', 'plain-error']) {
      expect(at(name)).toMatchObject({ state: 'FAILED', error: { name: 'BadInput', message: TEXT } });
    }
  });

  it.each([
    ['wrapped-values', 'half', 'Millrace.UnserializableOutput', 'rows[1] in the output holds half of a surrogate pair'],
    ['plain-values', 'half', 'Millrace.InvalidOutput', 'INVALID_UNICODE: rows[1] in the output'],
    ['wrapped-values', 'nan', 'Millrace.UnserializableOutput', 'rows[0].price in the output is NaN'],
  ])('and values that JSON cannot carry fail their node, once: %s, %s', async (name, give, errorName, message) => {
    const retry = { maxAttempts: 3, intervalSeconds: 0 };
    const { node: at } = await run([node('n', name, { give }, { retry })]);
    expect(at('n')).toMatchObject({
      state: 'FAILED',
      attempt: 1,
      error: { name: errorName, message: expect.stringContaining(message) },
    });
  });
});
