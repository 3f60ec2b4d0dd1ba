import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { createInlineEvaluator } from '#adapters/jsonata/evaluate-template.ts';
import { createWorkerEvaluator } from '#adapters/jsonata/worker-evaluator.ts';
import type { Json } from '#domain/json.ts';
import type { Bindings } from '#ports/index.ts';

const LIMIT_MS = 500;
const MARGIN_MS = 3000;
const worker = createWorkerEvaluator({ limits: { expressionMs: LIMIT_MS } });
const inline = createInlineEvaluator();

afterAll(() => worker.close());

/** Pieces that make many expressions valid and the others nearly so. */
const pieces = fc.constantFrom(
  '$nodes',
  '$run',
  '.input',
  '.a',
  '.output',
  '.b',
  '.`odd id`',
  '.__proto__',
  '.constructor',
  '[0]',
  '[-1]',
  '[a > 1]',
  '$random()',
  '$shuffle([1..9])',
  '$now()',
  '$millis()',
  '$now("[Y]")',
  '$sum',
  '$map',
  '$keys',
  '$merge',
  '$spread',
  '$string',
  '$eval',
  '$sort',
  '$each',
  '$lookup',
  '$join',
  '$pad',
  '$split',
  '$type',
  '$',
  '$$',
  '(',
  ')',
  '[',
  ']',
  '{',
  '}',
  '"a"',
  "'b'",
  '1',
  '0',
  '1e308',
  ':',
  ',',
  ';',
  ' + ',
  ' - ',
  ' * ',
  ' / ',
  ' & ',
  ' = ',
  ' and ',
  ' in ',
  '..',
  '~>',
  ':=',
  '?',
  '$x',
  'function($x){',
  '|',
  '^(',
  '%',
  '**',
  '@$i',
  '#$i',
  '/a+/',
  'null',
  'true',
  'λ($y){$y}',
);
const texts = fc.oneof(
  { weight: 5, arbitrary: fc.array(pieces, { minLength: 1, maxLength: 12 }).map((parts) => parts.join('')) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 60 }) },
);
const calls = fc
  .tuple(
    fc.constantFrom(
      'sum',
      'map',
      'keys',
      'merge',
      'spread',
      'string',
      'sort',
      'each',
      'lookup',
      'shuffle',
      'reduce',
      'now',
      'split',
      'pad',
    ),
    fc.array(
      fc.constantFrom(
        '$nodes',
        '$run.input',
        '[3,1,2]',
        '"a,b"',
        '","',
        '2',
        'function($a, $b){ $a > $b }',
        '$random()',
        '$shuffle([1..5])',
        '{"k": 1}',
      ),
      { maxLength: 3 },
    ),
  )
  .map(([name, args]) => `$${name}(${args.join(', ')})`);
const expressions = fc.oneof(texts, calls).map((text) => `{% ${text} %}`);

const bindings: fc.Arbitrary<Bindings> = fc.record({
  run: fc.record({ id: fc.constant('run-1'), input: fc.json({ maxDepth: 3 }) }),
  nodes: fc.array(
    fc.record({
      id: fc.constantFrom('a', 'b', 'odd id', '__proto__'),
      state: fc.constant('SUCCEEDED' as const),
      output: fc.json({ maxDepth: 3 }),
    }),
    { maxLength: 3 },
  ),
  attempt: fc.integer({ min: 1, max: 9 }),
  now: fc.integer({ min: 0, max: 4e12 }),
  seed: fc.string(),
});
const templates: fc.Arbitrary<Json> = fc.oneof(
  expressions,
  fc.array(expressions, { maxLength: 4 }),
  fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor')), expressions, { maxKeys: 4 }),
);

describe('evaluation', () => {
  it('gives the same answer whenever and wherever it is asked, and never throws or hangs', async () => {
    await fc.assert(
      fc.asyncProperty(templates, bindings, async (template, bound) => {
        const request = { template, bindings: bound };
        const start = performance.now();
        const [first] = await worker.evaluate([request], 60_000);
        expect(performance.now() - start).toBeLessThan(4 * LIMIT_MS + MARGIN_MS);
        if (first === undefined) throw new Error('not reached');
        expect(JSON.parse(JSON.stringify(first))).toEqual(first);
        if (!first.ok) expect(['Millrace.ExpressionError', 'Millrace.PayloadTooLarge']).toContain(first.error.name);
        if (!first.ok && first.error.message.includes('took longer')) return;
        expect(await worker.evaluate([request, request], 60_000)).toEqual([first, first]);
        expect(await inline.evaluate([request], 60_000)).toEqual([first]);
      }),
      { numRuns: 400 },
    );
    expect(Object.keys(Object.prototype)).toEqual([]);
  }, 120_000);
});
