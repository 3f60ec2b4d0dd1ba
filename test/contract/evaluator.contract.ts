/** What every evaluator promises. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Evaluation } from '#domain/facts.ts';
import type { Json } from '#domain/json.ts';
import type { Bindings, Evaluator } from '#ports/index.ts';

/** An evaluator that a suite owns. */
export interface EvaluatorHarness {
  readonly evaluator: Evaluator;
  close(): Promise<void>;
}

/** Something to read of every kind; 2020-09-13T12:26:40Z. */
export const BINDINGS: Bindings = {
  run: { id: 'run-1', input: '{"day":"2020-09-13","__proto__":{"polluted":true}}' },
  nodes: [
    {
      id: 'extract',
      state: 'SUCCEEDED',
      output: '{"rows":5,"files":["a","b"],"none":[],"nothing":null,"list":[{"n":1},{"n":2}]}',
    },
    { id: 'odd id, with `ticks`', state: 'FAILED', error: { name: 'BadInput', message: 'no rows' } },
    { id: 'skipped', state: 'SKIPPED' },
    { id: '__proto__', state: 'SUCCEEDED', output: '{"constructor":1,"toString":2}' },
  ],
  attempt: 2,
  now: 1_600_000_000_000,
  seed: 'nonce/params/1/2',
};

const BUDGET_MS = 20_000;
const KIB = 1024;

export function describeEvaluator(backend: string, open: () => EvaluatorHarness): void {
  describe(`Evaluator: ${backend}`, () => {
    let harness: EvaluatorHarness;
    beforeAll(() => {
      harness = open();
    });
    afterAll(() => harness.close());

    const evaluate = async (template: Json, bindings = BINDINGS): Promise<Evaluation> => {
      const [answer] = await harness.evaluator.evaluate([{ template, bindings }], BUDGET_MS);
      if (!answer) throw new Error('not reached');
      return answer;
    };
    const valueFrom = async (expression: string, bindings = BINDINGS) => {
      const answer = await evaluate(`{% ${expression} %}`, bindings);
      if (!answer.ok) throw new Error(answer.error.message);
      return answer.value;
    };
    const errorFrom = async (expression: string) => {
      const answer = await evaluate(`{% ${expression} %}`);
      if (answer.ok) throw new Error(`gave ${JSON.stringify(answer.value)}`);
      return answer.error;
    };

    describe('templates', () => {
      it('replaces whole expressions by their values and leaves the rest', async () => {
        const template = {
          number: '{% $nodes.extract.output.rows + 1 %}',
          list: ['{% $nodes.extract.output.files %}', 'as {% it %} is', 7, null, true],
          deep: { text: '{%$run.id & "/" & $attempt%}' },
          '{% key %}': '{% null %}',
        };
        expect(await evaluate(template)).toEqual({
          ok: true,
          value: {
            number: 6,
            list: [['a', 'b'], 'as {% it %} is', 7, null, true],
            deep: { text: 'run-1/2' },
            '{% key %}': null,
          },
        });
      });

      it('keeps keys such as __proto__ as data', async () => {
        const template = JSON.parse('{"__proto__":{"a":"{% 1 %}"},"constructor":"{% 2 %}"}') as Json;
        const answer = await evaluate(template);
        expect(JSON.stringify(answer)).toBe('{"ok":true,"value":{"__proto__":{"a":1},"constructor":2}}');
      });

      it('fails as a whole with the first expression that fails', async () => {
        const answer = await evaluate({
          a: '{% 1 %}',
          b: ['{% $nodes.extract.output.row %}'],
          c: '{% $error("never") %}',
        });
        expect(answer).toMatchObject({ ok: false, error: { name: 'Millrace.ExpressionError' } });
        expect((answer as { error: { message: string } }).error.message).toContain(
          '$nodes.extract.output.row is missing',
        );
      });

      it('answers in the order of the requests', async () => {
        const requests = Array.from({ length: 50 }, (_, index) => ({ template: `{% ${index} %}`, bindings: BINDINGS }));
        const answers = await harness.evaluator.evaluate(requests, BUDGET_MS);
        expect(answers).toEqual(requests.map((_, value) => ({ ok: true, value })));
      });

      it('answers nothing at all when asked nothing', async () => {
        expect(await harness.evaluator.evaluate([], BUDGET_MS)).toEqual([]);
      });

      it('leaves out what it has no time for', async () => {
        const requests = [{ template: '{% 1 %}', bindings: BINDINGS }];
        expect(await harness.evaluator.evaluate(requests, 0)).toEqual([undefined]);
      });
    });

    describe('what an expression sees', () => {
      it.each<[string, Json]>([
        ['$run.id', 'run-1'],
        ['$run.input.day', '2020-09-13'],
        ['$nodes.extract.state', 'SUCCEEDED'],
        ['$nodes.extract.output.rows > 4', true],
        ['$nodes.extract.output.list.n', [1, 2]],
        ['$nodes.extract.output.none', []],
        ['$nodes.extract.output.nothing', null],
        ['$nodes."odd id, with `ticks`".error.name', 'BadInput'],
        ['$lookup($nodes, "skipped").state', 'SKIPPED'],
        ['$exists($nodes.skipped.output)', false],
        ['$nodes.skipped.output ? 1 : 2', 2],
        ['$attempt', 2],
        ['$keys($nodes.extract)', ['state', 'output']],
        ['$nodes.__proto__.output.constructor', 1],
      ])('%s', async (expression, value) => {
        expect(await valueFrom(expression)).toEqual(value);
      });

      it('is not changed by the expressions before', async () => {
        const changes =
          '{% $count($nodes.extract.output.none{"a": 1}) + $count($run ~> |$nodes.extract|{"output": 0}|) %}';
        const answer = await evaluate([
          changes,
          '{% $nodes.extract.output.none %}',
          '{% $nodes.extract.output.rows %}',
        ]);
        expect(answer).toMatchObject({ ok: true, value: [2, [], 5] });
      });
    });

    describe('values', () => {
      it('gives plain lists where JSONata marks them', async () => {
        const value = await valueFrom('$nodes.extract.output.list.n[]');
        expect(Object.getOwnPropertyNames(value)).toEqual(['0', '1', 'length']);
      });

      it.each([
        ['$sum', 'gives a function, which is no JSON'],
        ['{"a": [function($x){ $x }]}', 'gives a function, which is no JSON'],
        ['$substring(?, 1)', 'gives a function, which is no JSON'],
        ['/a/', 'gives a function, which is no JSON'],
        ['1 / 0', 'gives the number Infinity, which JSON has not'],
        ['{"a": 0 / 0}', 'gives the number NaN, which JSON has not'],
        ['(', 'cannot be evaluated: '],
        ['', 'cannot be evaluated: Unexpected end of expression'],
        ['$eval("1")', '$eval is not available'],
        ['($e := $eval; $e("1"))', '$eval is not available'],
        ['$error("no rows today")', 'fails: no rows today (D3137 at position 7 near "error")'],
        [
          '"a" + 1',
          'fails: The left side of the "+" operator must evaluate to a number (T2001 at position 5 near "+")',
        ],
        ['$foo(1)', 'fails: Attempted to invoke a non-function (T1006 at position 5 near "foo")'],
      ])('refuses %s', async (expression, problem) => {
        const error = await errorFrom(expression);
        expect(error.name).toBe('Millrace.ExpressionError');
        expect(error.message).toContain(`{% ${expression} %} `);
        expect(error.message).toContain(problem);
      });

      it.each([
        ['$nodes.extract.output.row', '$nodes.extract.output.row is missing'],
        ['$nodes.extract.output.rows.of.what', '$nodes.extract.output.rows.of is missing'],
        ['$nodes.extract.output.list.m', '$nodes.extract.output.list.m is missing'],
        ['$nodes.extrakt.output', '$nodes.extrakt is missing'],
        ['$nodes.skipped.output.rows', '$nodes.skipped.output is missing (the node is SKIPPED)'],
        ['$nodes.`odd one`.output', '$nodes.`odd one` is missing'],
        ['$node.extract', '$node is missing'],
        ['$run.input.month + 1', '$run.input.month is missing'],
        ['$map([1], function($x){ $run.input.year })', '$run.input.year is missing'],
        ['($x := 1; $x.y)', ''],
        ['$nodes.extract.output.list[n = 7]', ''],
        ['extract.output', 'extract is missing'],
        ['$constructor', '$constructor is missing'],
      ])('names what is missing in %s', async (expression, missing) => {
        const problem = missing === '' ? 'gives no value' : `gives no value: ${missing}`;
        expect(await errorFrom(expression)).toEqual({
          name: 'Millrace.ExpressionError',
          message: `{% ${expression} %} ${problem}`,
        });
      });

      it('cuts a long expression in its error', async () => {
        const { message } = await errorFrom(`$missing & 1 + "${'x'.repeat(5000)}"`);
        expect(message.length).toBeLessThan(1100);
        expect(message).toContain('x… %} ');
      });

      it('takes 256 KiB of JSON as UTF-8 and not a byte more', async () => {
        const text = '$pad("", 131070, "é")';
        expect(await valueFrom(text)).toHaveLength(131_070);
        const answer = await evaluate([`{% ${text} %}`, 1]);
        expect(answer).toEqual({
          ok: false,
          error: {
            name: 'Millrace.PayloadTooLarge',
            message: `the value is ${256 * KIB + 2} bytes of JSON; at most ${256 * KIB} are possible`,
          },
        });
      });

      it('takes 100 levels and not one more', async () => {
        const nested = (levels: number) => `($d := function($n){ $n = 0 ? 1 : {"a": $d($n - 1)} }; $d(${levels}))`;
        expect(await evaluate(`{% ${nested(100)} %}`)).toMatchObject({ ok: true });
        expect((await errorFrom(nested(101))).message).toContain('nested more than 100 levels deep');
        expect(await evaluate([`{% ${nested(100)} %}`])).toMatchObject({ ok: false });
      });
    });

    describe('time and chance', () => {
      it.each<[string, Json]>([
        ['$millis()', 1_600_000_000_000],
        ['$now()', '2020-09-13T12:26:40.000Z'],
        ['$now("[Y0001]-[M01]-[D01]")', '2020-09-13'],
        ['$now("[H01]:[m01] [z]", "+0200")', '14:26 GMT+02:00'],
        ['$toMillis("10:30", "[H01]:[m01]")', Date.UTC(2020, 8, 13, 10, 30)],
        ['$toMillis("2020-01-01T00:00:00")', Date.UTC(2020, 0, 1)],
        ['$toMillis("2020-01-01T00:00:00+01:00")', Date.UTC(2019, 11, 31, 23)],
        ['$map([1, 2], function($x) { $millis() - $x })', [1_599_999_999_999, 1_599_999_999_998]],
      ])('%s is fixed', async (expression, value) => {
        expect(await valueFrom(expression)).toEqual(value);
      });

      it('draws the same numbers at every evaluation', async () => {
        const template = { a: '{% $random() %}', b: '{% [$random(), $random()] %}', c: '{% $shuffle([1..50]) %}' };
        const first = await evaluate(template);
        expect(await evaluate(template)).toEqual(first);
        if (!first.ok) throw new Error(first.error.message);
        const { a, b, c } = first.value as unknown as { a: number; b: number[]; c: number[] };
        expect(new Set([a, ...b]).size).toBe(3);
        expect(c).not.toEqual([...c].sort((one, other) => one - other));
        expect([...c].sort((one, other) => one - other)).toEqual(Array.from({ length: 50 }, (_, index) => index + 1));
      });

      it('draws others for another seed', async () => {
        expect(await valueFrom('$random()')).not.toBe(await valueFrom('$random()', { ...BINDINGS, seed: 'another' }));
      });

      it('tells the same error whatever was evaluated before', async () => {
        const expression = '$map(["a"], $sqrt)';
        const first = await errorFrom(expression);
        await valueFrom('            $sqrt(4)');
        expect(await errorFrom(expression)).toEqual(first);
      });
    });
  });
}
