/** Suspicion: what works from sources does not work from the single files that Lambda runs. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ADAPTER = join(import.meta.dirname, '../../src/adapters/jsonata');
const ENTRY = `
  import { createWorkerEvaluator } from ${JSON.stringify(join(ADAPTER, 'worker-evaluator.ts'))};
  const bindings = { run: { id: 'run-1' }, nodes: [], attempt: 1, now: 0, seed: 'seed' };
  const evaluator = createWorkerEvaluator({ limits: { expressionMs: 300 } });
  const request = (text) => ({ template: '{% ' + text + ' %}', bindings });
  const slow = '$match("' + 'a'.repeat(50) + '!", /^(a+)+$/)';
  evaluator.evaluate([request('1 + 1'), request(slow), request('$now()')], 20000).then(
    (answers) => console.log(JSON.stringify(answers.map((answer) => (answer.ok ? answer.value : answer.error.name)))),
    (error) => console.log(JSON.stringify({ name: error.name, code: error.code, message: error.message })),
  );`;

let folder: string;

async function bundle(out: string, input: { readonly contents: string } | { readonly file: string }) {
  await build({
    ...('file' in input
      ? { entryPoints: [input.file] }
      : { stdin: { contents: input.contents, resolveDir: ADAPTER, loader: 'ts' as const } }),
    outfile: join(folder, out),
    bundle: true,
    minify: true,
    keepNames: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    logLevel: 'silent',
  });
}

async function run() {
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'index.mjs')], { cwd: folder });
  return JSON.parse(stdout) as unknown;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-evaluator-'));
  await bundle('index.mjs', { contents: ENTRY });
});

afterAll(() => rm(folder, { recursive: true }));

describe('a bundled evaluator', () => {
  it('says what is missing where its worker was not bundled beside it', async () => {
    expect(await run()).toMatchObject({
      name: 'EvaluatorUnavailableError',
      code: 'EVALUATOR_UNAVAILABLE',
      message: expect.stringContaining(join(folder, 'evaluator-worker.mjs')),
    });
  });

  it('finds its worker beside its own file', async () => {
    await bundle('evaluator-worker.mjs', { file: join(ADAPTER, 'evaluator-worker.ts') });
    expect(await run()).toEqual([2, 'Millrace.ExpressionError', '1970-01-01T00:00:00.000Z']);
  });

  it('is small enough to load in no time', async () => {
    expect((await stat(join(folder, 'evaluator-worker.mjs'))).size).toBeLessThan(200_000);
  });

  it('reports a worker that does not load as its own fault', async () => {
    await writeFile(join(folder, 'evaluator-worker.mjs'), 'throw new Error("broken bundle");');
    expect(await run()).toMatchObject({
      code: 'EVALUATOR_UNAVAILABLE',
      message: expect.stringContaining('broken bundle'),
    });
  });
});
