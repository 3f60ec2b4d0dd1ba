/** Suspicion: one expression's trouble becomes its neighbours', or the thread outlives or survives what it should not. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterEach, describe, expect, it } from 'vitest';
import { createWorkerEvaluator, type WorkerEvaluator } from '#adapters/jsonata/worker-evaluator.ts';
import type { Bindings } from '#ports/index.ts';

const EVALUATOR = new URL('../../src/adapters/jsonata/worker-evaluator.ts', import.meta.url).href;
const BINDINGS: Bindings = { run: { id: 'run-1' }, nodes: [], attempt: 1, now: 0, seed: 'seed' };
const LIMIT_MS = 300;
const ENDLESS = '($f := function($n) { $f($n + 1) }; $f(1))';
const BACKTRACKING = `$match("${'a'.repeat(50)}!", /^(a+)+$/)`;
const GLUTTON = '($d := function($x, $n) { $n = 0 ? $x : $d([[$x], [$x]], $n - 1) }; {"a": $d(1, 40)}.*)';

let evaluator: WorkerEvaluator;

function open(options: { limitMs?: number; memoryMebibytes?: number } = {}) {
  const { limitMs = LIMIT_MS, memoryMebibytes = 128 } = options;
  evaluator = createWorkerEvaluator({ limits: { expressionMs: limitMs }, memoryMebibytes });
}

/** What became of each expression: its value, what its error says, or that it was not reached. */
async function fates(expressions: readonly string[], budgetMs = 30_000): Promise<unknown[]> {
  const requests = expressions.map((text) => ({ template: `{% ${text} %}`, bindings: BINDINGS }));
  const answers = await evaluator.evaluate(requests, budgetMs);
  return answers.map((answer) => {
    if (!answer) return 'not reached';
    return answer.ok ? answer.value : answer.error.message.replace(/^.* %} /s, '');
  });
}

afterEach(() => evaluator.close());

describe('createWorkerEvaluator', () => {
  it('fails a slow expression alone, wherever it stands', async () => {
    open();
    const late = `took longer than ${LIMIT_MS} ms`;
    expect(await fates(['1', '2', BACKTRACKING, '4', ENDLESS, '6'])).toEqual([1, 2, late, 4, late, 6]);
    expect(await fates([BACKTRACKING])).toEqual([late]);
    expect(await fates(['1', BACKTRACKING])).toEqual([1, late]);
  });

  it('names the slow one among the expressions of a template', async () => {
    open();
    const template = { a: '{% 1 %}', b: [`{% ${BACKTRACKING} %}`], c: '{% 3 %}' };
    const [answer] = await evaluator.evaluate([{ template, bindings: BINDINGS }], 30_000);
    expect(answer).toMatchObject({
      ok: false,
      error: { message: `{% ${BACKTRACKING} %} took longer than ${LIMIT_MS} ms` },
    });
  });

  it('fails an expression alone that eats memory', async () => {
    open({ limitMs: 20_000 });
    const hungry = 'needed more than 128 MiB of memory';
    expect(await fates(['1', GLUTTON, '3', GLUTTON, '5'])).toEqual([1, hungry, 3, hungry, 5]);
  });

  it('blames nobody for what others left in memory', async () => {
    open({ limitMs: 20_000 });
    const large = '$count($map([1..60000], function($i) { {"a": [$i]} }))';
    expect(await fates([large, large, large, large])).toEqual([60_000, 60_000, 60_000, 60_000]);
  });

  it('leaves out what is slow at the end of the budget, and what comes after', async () => {
    open({ limitMs: 20_000 });
    await fates(['0']);
    const start = performance.now();
    expect(await fates(['1', BACKTRACKING, '3'], 500)).toEqual([1, 'not reached', 'not reached']);
    expect(performance.now() - start).toBeLessThan(5000);
    expect(await fates(['4'])).toEqual([4]);
  });

  it('has the thread ready for the next batch where a budget was too short to start it', async () => {
    open();
    expect(await fates([BACKTRACKING, '2'], 1)).toEqual(['not reached', 'not reached']);
    expect(await fates(['3'])).toEqual([3]);
  });

  it('serves calls at the same time, each with its own answers', async () => {
    open();
    const calls = Array.from({ length: 20 }, (_, call) =>
      fates([`${call}`, call === 7 ? BACKTRACKING : `${call} + 100`]),
    );
    const answers = await Promise.all(calls);
    const late = `took longer than ${LIMIT_MS} ms`;
    expect(answers).toEqual(answers.map((_, call) => [call, call === 7 ? late : call + 100]));
  });

  it('takes many large values, a few at a time', async () => {
    open();
    const output = JSON.stringify({ text: 'x'.repeat(250_000), rows: 7 });
    const bindings = { ...BINDINGS, nodes: [{ id: 'big', state: 'SUCCEEDED' as const, output }] };
    const requests = Array.from({ length: 300 }, () => ({
      template: '{% $nodes.big.output.rows %}',
      bindings,
    }));
    const answers = await evaluator.evaluate(requests, 60_000);
    expect(answers).toEqual(requests.map(() => ({ ok: true, value: 7 })));
  });

  it('starts no thread before the first expression, and another after it was closed', async () => {
    open();
    await evaluator.close();
    expect(await fates(['1'])).toEqual([1]);
    await evaluator.close();
    expect(await fates(['2'])).toEqual([2]);
  });

  it('leaves out what it was closed in the middle of', async () => {
    open({ limitMs: 20_000 });
    await fates(['0']);
    const answers = fates(['1', BACKTRACKING], 20_000);
    await new Promise(setImmediate);
    await evaluator.close();
    expect((await answers).at(-1)).toBe('not reached');
  });
});

describe('the thread', () => {
  it('keeps no process alive once it is idle', async () => {
    open();
    const request = JSON.stringify({ template: '{% 1 + 1 %}', bindings: BINDINGS });
    const script = `
      const { createWorkerEvaluator } = await import(${JSON.stringify(EVALUATOR)});
      const answers = await createWorkerEvaluator().evaluate([${request}], 20000);
      console.log(JSON.stringify(answers));`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    const [code] = await once(child, 'close');
    expect({ code, output }).toEqual({ code: 0, output: '[{"ok":true,"value":2}]\n' });
  });

  it('dies with the thread that started it, even in the middle of a regular expression', async () => {
    open();
    const script = `
      import { parentPort } from 'node:worker_threads';
      const { createWorkerEvaluator } = await import(${JSON.stringify(EVALUATOR)});
      const evaluator = createWorkerEvaluator({ limits: { expressionMs: 600000 } });
      const bindings = ${JSON.stringify(BINDINGS)};
      await evaluator.evaluate([{ template: '{% 1 %}', bindings }], 20000);
      void evaluator.evaluate([{ template: ${JSON.stringify(`{% ${BACKTRACKING} %}`)}, bindings }], 600000);
      setTimeout(() => parentPort.postMessage('busy'), 100);`;
    const parent = new Worker(new URL(`data:text/javascript,${encodeURIComponent(script)}`));
    await once(parent, 'message');
    await parent.terminate();
    const before = process.cpuUsage();
    await new Promise((resolve) => setTimeout(resolve, 500));
    const { user, system } = process.cpuUsage(before);
    // A thread that still ran would have used all of the half second.
    expect((user + system) / 1000).toBeLessThan(300);
  });
});
