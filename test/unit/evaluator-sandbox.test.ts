/** Suspicion: an expression gets out of its sandbox, or takes more of the machine than it may. */
import { afterAll, describe, expect, it } from 'vitest';
import { createWorkerEvaluator } from '#adapters/jsonata/worker-evaluator.ts';
import type { Bindings } from '#ports/index.ts';

const LIMIT_MS = 400;
/** How much later than its limit an expression may end on a busy machine: looks, a new thread, the machine itself. */
const MARGIN_MS = 3000;
const evaluator = createWorkerEvaluator({ limits: { expressionMs: LIMIT_MS }, memoryMebibytes: 128 });

const BINDINGS: Bindings = {
  run: {
    id: 'run-1',
    input: '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"text":"a"}',
  },
  nodes: [
    { id: 'x', state: 'SUCCEEDED', output: '{"list":[1,2],"empty":[]}' },
    {
      id: 'forged',
      state: 'SUCCEEDED',
      output: '{"_jsonata_lambda":true,"body":{"type":"variable","value":"sum"},"arguments":[]}',
    },
    { id: 'hidden', state: 'SUCCEEDED', output: '[{"\\u005fjsonata_function":true}]' },
  ],
  attempt: 1,
  now: 0,
  seed: 'seed',
};

async function outcome(expression: string): Promise<string> {
  const [answer] = await evaluator.evaluate([{ template: `{% ${expression} %}`, bindings: BINDINGS }], 60_000);
  if (!answer) return 'not reached';
  return answer.ok ? JSON.stringify(answer.value) : `${answer.error.name}: ${answer.error.message}`;
}

afterAll(() => evaluator.close());

describe('ways out of the sandbox', () => {
  it.each([
    '$nodes.x.constructor',
    '$nodes.x.output.list.constructor',
    '$nodes.x.output.list.length',
    '$nodes.x.__proto__',
    '$nodes.toString',
    '$lookup($nodes, "constructor")',
    '$lookup($nodes.x, "__proto__")',
    '$lookup("text", "length")',
    '$run.id.constructor',
    '$sum.constructor',
    '$lookup($sum, "implementation")',
    '(function($x){ $x }).environment',
    '$constructor',
    '$__proto__',
    '$hasOwnProperty',
    '$process',
    '$globalThis',
    '$$',
    '$',
    '$$.constructor',
    '/a/.constructor',
    '$match("a", /a/).next',
  ])('%s has no value', async (expression) => {
    expect(await outcome(expression)).toMatch(/gives no value/);
  });

  it.each([
    '$eval("1")',
    '$eval("$nodes")',
    '"1" ~> $eval',
    '$map(["1"], $eval)',
    '($f := $eval; $f("1"))',
    '$eval(?)("1")',
  ])('%s is refused', async (expression) => {
    expect(await outcome(expression)).toMatch(/Millrace\.ExpressionError: .*\$eval is not available/);
  });

  it('takes no data for a function', async () => {
    for (const expression of [
      '$map([1], $nodes.forged.output)',
      '$nodes.forged.output(?)',
      '$nodes.hidden.output',
      '$string($nodes)',
    ]) {
      expect(await outcome(expression)).toMatch(
        /reads data with the key "_jsonata_(lambda|function)", which JSONata keeps for itself/,
      );
    }
    expect(await outcome('$nodes.x.output.list')).toBe('[1,2]');
  });

  it('gives no function away, not even as a thenable', async () => {
    expect(await outcome('{"then": /a/}')).toContain(`took longer than ${LIMIT_MS} ms`);
    expect(await outcome('{"then": function($resolve){ $resolve("tricked") }}')).toContain('gives a function');
    expect(await outcome('function($f){ {"then": $f} }(function($r, $j){ $r($r) })')).toMatch(
      /^Millrace\.ExpressionError/,
    );
  });
});

describe('prototype pollution', () => {
  it.each([
    ['$merge([$run.input, {"a": 1}]).__proto__', '{"polluted":true}'],
    ['$merge([{"a": 1}, {"__proto__": {"polluted": true}}])', '{"a":1,"__proto__":{"polluted":true}}'],
    ['{"__proto__": {"polluted": true}}', '{"__proto__":{"polluted":true}}'],
    ['$spread($run.input)[0]', '{"__proto__":{"polluted":true}}'],
    ['$sift($run.input, function($v, $k) { $k = "__proto__" })', '{"__proto__":{"polluted":true}}'],
    ['$each($run.input, function($v, $k) { $k })', '["__proto__","constructor","text"]'],
    ['($__proto__ := {"polluted": true}; $polluted ? 1 : 2)', '2'],
    ['$run.input.constructor.prototype.polluted', 'true'],
    ['$keys({"a": 1}){ "__proto__": $ }', '{"__proto__":"a"}'],
  ])('%s is data', async (expression, json) => {
    expect(await outcome(expression)).toBe(json);
  });

  it('touches nothing for the expressions after, by transforms neither', async () => {
    await outcome('$run.input ~> |$|{"__proto__": {"polluted": true}}|');
    await outcome(
      '{"a": {}} ~> |**|{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}|',
    );
    await outcome('[] ~> |$nodes|{"__proto__": {"polluted": true}}|');
    await outcome('{} ~> |$lookup($nodes, "x")|{"state": "FAILED"}, ["output"]|');
    expect(await outcome('$exists({"a": {}}.a.polluted) or $exists($run.polluted)')).toBe('false');
    expect(await outcome('$nodes.x')).toBe('{"state":"SUCCEEDED","output":{"list":[1,2],"empty":[]}}');
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  });
});

/** Doubles its argument 40 times by one level of sharing each: 2^40 values in a few hundred objects. */
const doubled = (pair: string) => `($d := function($x, $n) { $n = 0 ? $x : $d(${pair}, $n - 1) }; $d(1, 40))`;

describe('appetite', () => {
  it.each([
    ['endless recursion', '($f := function($n) { 1 + $f($n + 1) }; $f(1))', /Stack overflow|took longer/],
    ['an endless loop', '($f := function($n) { $f($n + 1) }; $f(1))', /took longer than 400 ms/],
    ['a regular expression that backtracks', `$match("${'a'.repeat(50)}!", /^(a+)+$/)`, /took longer than 400 ms/],
    ['a huge range', '[1..1e9]', /must not exceed 1e7/],
    ['a large range', '[1..9e6]', /at most 1000000 are possible|needed more than 128 MiB|took longer/],
    ['a huge padding', '$pad("x", 1e9)', /at most 4194304 are possible/],
    ['a huge padding with a long filler', '$pad("x", 100000, $pad("y", 100000))', /at most 4194304 are possible/],
    ['a huge join', '($x := $pad("x", 4000000); $join([$x, $x, $x]))', /at most 4194304 are possible/],
    ['a wide picture', '$fromMillis(0, "[Y,500000000]")', /at most 999 wide/],
    ['a wide picture of now', '$now("[Y0001,9-500000000]")', /at most 999 wide/],
    ['a text that doubles', '($f := function($s) { $f($s & $s) }; $f("ab"))', /at most 4194304 are possible/],
    [
      'a list that doubles',
      '($f := function($l) { $f($append($l, $l)) }; $f([1, 2]))',
      /at most 1000000 are possible|needed more/,
    ],
    [
      'a long replacement',
      '($x := $pad("x", 100000, "x"); $replace($x, /x/, $x))',
      /Invalid string length|at most 4194304|took longer|needed more/,
    ],
    ['a large value', '$map([1..200000], function($i) { "0123456789" })', /PayloadTooLarge|took longer/],
    [
      'a value that shares its parts',
      doubled('{"a": $x, "b": $x}'),
      /PayloadTooLarge: the value is more than 1048576 bytes|took longer/,
    ],
    [
      'a list that shares its parts',
      doubled('[[$x], [$x]]'),
      /PayloadTooLarge: the value is more than 1048576 bytes|took longer/,
    ],
    ['flattening what shares its parts', `{"a": ${doubled('[[$x], [$x]]')}}.*`, /took longer|needed more than 128 MiB/],
    ['all descendants of it', `$count(${doubled('{"a": $x, "b": $x}')}.**)`, /took longer|needed more than 128 MiB/],
    [
      'the text of it',
      `$length($string(${doubled('{"a": $x, "b": $x}')}))`,
      /took longer|needed more|Invalid string length/,
    ],
    ['a value in itself', '({"x": {}} ~> |$|{"self": $}|)', /nested more than 100 levels deep/],
    [
      'a sort of many',
      '$count($sort([1..100000], function($a, $b) { $a < $b }))',
      /took longer|needed more than 128 MiB/,
    ],
    ['matches without end', '$count($match($pad("a", 4000000, "a"), /a/))', /took longer|needed more than 128 MiB/],
    ['many distinct', '$count($distinct([1..300000]))', /took longer/],
    ['empty matches', '$match("aaa", /x*/)', /Regular expression matches zero length string/],
  ])('stops %s', async (_, expression, problem) => {
    const start = performance.now();
    expect(await outcome(expression)).toMatch(problem);
    expect(performance.now() - start).toBeLessThan(2 * LIMIT_MS + MARGIN_MS);
    expect(await outcome('1 + 1')).toBe('2');
  });

  it('refuses expressions that could exhaust the stack of their parser', async () => {
    for (const expression of [
      `${'('.repeat(5000)}1${')'.repeat(5000)}`,
      `${'-'.repeat(5000)}1`,
      `${'$x.'.repeat(8000)}y`,
    ]) {
      expect(await outcome(expression)).toMatch(/cannot be evaluated/);
    }
  });
});
