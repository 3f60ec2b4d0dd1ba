/** What users' functions can do wrong: each has an end and a reason, the host lives on, and so does everybody else. */
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { synthesizeApp } from '#local/host.ts';
import { MortalHost } from './fault-host.ts';

const fromHere = (file: string) => fileURLToPath(new URL(file, import.meta.url));
/** At a fixed place, so that the template is synthesized once. */
const functionsDir = fromHere('../fixtures/bad-functions');
const outDir = fromHere('../../node_modules/.cache/millrace');

const MEBIBYTE = 1024 * 1024;
const runShape = z.object({ id: z.string(), state: z.string(), output: z.unknown().optional() });
const nodeShape = z.object({
  state: z.string(),
  error: z.object({ name: z.string(), message: z.string() }).optional(),
});
const logShape = z.object({ items: z.array(z.object({ message: z.string() })), nextCursor: z.string().optional() });

let folder: string;
let host: MortalHost;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'host-bad-functions-'));
  host = new MortalHost({
    cdkOut: await synthesizeApp({ functionsDir, outDir }),
    dataDir: join(folder, 'data'),
    port: 0,
    tickSeconds: 1,
  });
  await host.start();
  await putPipeline('bad', 'bad', 60);
  await putPipeline('stuck', 'bad', 2);
  await putPipeline('wordy', 'wordy', 60);
  await putPipeline('unloadable', 'unloadable', 60);
  await putPipeline('good', 'good', 60);
});

afterAll(async () => {
  await host.kill();
  await rm(folder, { recursive: true, force: true });
});

afterEach(async () => {
  expect(await end('good', { n: 1 })).toMatchObject({ run: { state: 'SUCCEEDED', output: 2 } });
  expect(host.complaints).toEqual([]);
});

async function call(method: string, path: string, body?: unknown): Promise<unknown> {
  const request =
    body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(`${host.address().url}/v1/${path}`, { method, ...request });
  if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
  return response.json();
}

async function putPipeline(name: string, functionName: string, timeoutSeconds: number): Promise<void> {
  const params = { function: functionName, payload: '{% $run.input %}' };
  await call('PUT', `pipelines/${name}`, {
    name,
    nodes: [{ id: 'node', engine: 'lambda', timeoutSeconds, params }],
    output: '{% $nodes.node.output %}',
  });
}

/** Runs a pipeline to its end; gives the run, and what became of its node. */
async function end(pipeline: string, input: unknown) {
  let run = runShape.parse(await call('POST', `pipelines/${pipeline}/runs`, { input }));
  while (/QUEUED|PENDING|RUNNING/.test(run.state)) run = runShape.parse(await call('GET', `runs/${run.id}?wait=20`));
  return { run, node: nodeShape.parse(await call('GET', `runs/${run.id}/nodes/node`)) };
}

describe('a function of a user', () => {
  it.each([
    ['exits with 0', 'Runtime.ExitError', /Runtime exited without providing a reason/],
    ['exits with 3', 'Runtime.ExitError', /Runtime exited with error: exit status 3/],
    ['kills its process', 'Runtime.ExitError', /Runtime exited with error: signal: killed/],
    ['aborts', 'Runtime.ExitError', /Runtime exited with error: signal: aborted/],
    ['leaks objects', 'Runtime.', /signal: (?:aborted|killed)/],
    [
      'leaks buffers',
      'Runtime.OutOfMemory',
      /signal: killed \(it took \d+ MB of memory, and the function has 512 MB\)/,
    ],
    ['throws undefined', 'undefined', /^undefined$/],
    ['throws null', 'object', /^null$/],
    ['throws a text', 'string', /^just a text$/],
    ['throws a trap', 'object', /^something was thrown that cannot be read$/],
    ['throws a proxy', 'Symbol(none)', /^Symbol\(none\)$/],
    ['throws a huge error', 'Error', /^x{1000}/],
    ['returns a cycle', 'Error', /^Unable to stringify response body: Converting circular structure to JSON/],
    ['returns a bigint', 'Error', /^Unable to stringify response body: Do not know how to serialize a BigInt$/],
    ['returns a trap', 'Error', /^Unable to stringify response body: undefined$/],
    ['returns 300 KB', 'States.DataLimitExceeded', /size exceeding the maximum number of bytes/],
    ['returns 20 MB', 'Function.ResponseSizeTooLarge', /Response payload size exceeded maximum allowed payload size/],
    ['closes the channel', 'Runtime.ExitError', /Runtime exited with error: signal: killed/],
    ['rejects without a handler', 'Runtime.UnhandledPromiseRejection', /nobody waits/],
  ])('that %s fails its node with %s', async (kind, name, message) => {
    const { run, node } = await end('bad', { kind });
    expect(run.state).toBe('FAILED');
    expect(node.state).toBe('FAILED');
    expect(node.error?.name.startsWith(name)).toBe(true);
    expect(node.error?.message).toMatch(message);
    expect(node.error?.message.length).toBeLessThan(40_000);
  });

  it.each(['never returns', 'loops for ever', 'stops itself'])(
    'that %s ends at the time limit of its node',
    async (kind) => {
      const { node } = await end('stuck', { kind });
      expect(node).toMatchObject({ state: 'TIMED_OUT', error: { name: 'States.Timeout' } });
    },
  );

  it.each([
    ['returns a function', null],
    ['returns nothing', null],
    ['reads its input to the end', 0],
    ['writes to the channel', 'written'],
    ['rejects after its end', 'returned'],
    ['throws after its end', 'returned'],
  ])('that %s gives what it returned', async (kind, output) => {
    const { run } = await end('bad', { kind });
    expect(run.state).toBe('SUCCEEDED');
    expect(run.output ?? null).toBe(output);
  });

  it('that cannot be loaded fails its node with the error of its module', async () => {
    const { node } = await end('unloadable', {});
    expect(node).toMatchObject({ state: 'FAILED', error: { name: 'TypeError', message: 'not today' } });
  });

  it('whose error comes after its end does not fail the invocation that comes next', async () => {
    for (let round = 0; round < 5; round++) {
      await end('bad', { kind: 'rejects after its end' });
      await sleep(19);
      const { run } = await end('bad', { kind: 'returns nothing' });
      expect(run.state).toBe('SUCCEEDED');
    }
    const log = await readFile(join(folder, 'data/logs/bad.log'), 'utf8');
    expect(log).toMatch(/ERROR\tUnhandled Promise Rejection\t.*too late/);
  });

  it('does not leave its children behind', async () => {
    const file = join(folder, 'left');
    const { run } = await end('bad', { kind: 'leaves a child', file });
    expect(run).toMatchObject({ state: 'SUCCEEDED', output: 'left' });
    await end('bad', { kind: 'exits with 0' });
    await sleep(200);
    const { size } = await stat(file);
    await sleep(300);
    expect((await stat(file)).size).toBe(size);
  });

  it.each([true, false])(
    'that prints 100 MB (in lines: %s) takes a bounded part of the disk, and its log can be read',
    async (inLines) => {
      const { run } = await end('wordy', { inLines });
      expect(run).toMatchObject({ state: 'SUCCEEDED', output: 'printed' });
      const logs = join(folder, 'data/logs');
      const files = (await readdir(logs)).filter((file) => file.startsWith('wordy'));
      const sizes = await Promise.all(files.map(async (file) => (await stat(join(logs, file))).size));
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(35 * MEBIBYTE);
      const lines: string[] = [];
      let cursor: string | undefined = '';
      while (cursor !== undefined) {
        const page = logShape.parse(
          await call('GET', `runs/${run.id}/nodes/node/logs?limit=1000${cursor && `&cursor=${cursor}`}`),
        );
        lines.push(...page.items.map(({ message }) => message));
        cursor = page.nextCursor;
      }
      expect(lines[0]).toBe('the first line');
      expect(lines.at(-1)).toBe('the last line');
      if (inLines) expect(lines.some((line) => /lines are left out here/.test(line))).toBe(true);
      else expect(lines[1]).toMatch(/^x+ … \(\d+ more characters of this line are left out\)$/);
    },
  );
});
