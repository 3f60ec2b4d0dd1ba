import { describe, expect, it } from 'vitest';
import { EXPRESSION_LIMITS, expressionsIn, expressionText, isExpression, referencesOf } from '#domain/expression.ts';

describe('isExpression', () => {
  it.each(['{% $run.input %}', '{%1%}', '{%%}'])('takes %s', (text) => {
    expect(isExpression(text)).toBe(true);
  });

  it.each(['', '{%', '{%}', ' {% 1 %}', '{% 1 %} ', 'a {% 1 %}', '{ % 1 % }'])('takes %j as plain text', (text) => {
    expect(isExpression(text)).toBe(false);
  });

  it('gives the text between the marks', () => {
    expect(expressionText('{%  $a + 1 %}')).toBe('$a + 1');
  });
});

describe('expressionsIn', () => {
  it('finds every expression with its place, in order, and never a key', () => {
    const template = { a: ['x', '{% 1 %}', { 'b.c': '{% 2 %}' }], '{% k %}': 1, d: '{% 3 %}' };
    expect(expressionsIn(template)).toEqual([
      { path: ['a', 1], text: '1' },
      { path: ['a', 2, 'b.c'], text: '2' },
      { path: ['d'], text: '3' },
    ]);
    expect(expressionsIn('{% 4 %}')).toEqual([{ path: [], text: '4' }]);
  });

  it('walks deep templates without recursion', () => {
    let template: unknown = '{% 1 %}';
    for (let level = 0; level < 3000; level += 1) template = [template];
    expect(expressionsIn(template as never)).toHaveLength(1);
  });
});

describe('referencesOf', () => {
  it.each([
    ['$nodes.a.output.rows > 0', ['a'], false],
    ["$nodes.'odd id'.output", ['odd id'], false],
    ['$nodes.`odd id`.output', ['odd id'], false],
    ['$nodes."a.b"', ['a.b'], false],
    ['$lookup($nodes, "x y").output', ['x y'], false],
    ['$nodes.a[$nodes.b.output = 1].c', ['a', 'b'], false],
    ['$map($nodes.a.output, function($v) { $v & $nodes.b.output })', ['a', 'b'], false],
    ['{"k": $nodes.a.output, "l": [$nodes.b.state]}', ['a', 'b'], false],
    ['$run.input.day', [], true],
    ['$lookup($run, "input")', [], true],
    ['$run', [], true],
    ['$run.*', [], true],
    ['$run.id', [], false],
    ['$run.instant', [], false],
    ['1 + 1', [], false],
    ['"$nodes.a"', [], false],
    ['nodes.a', [], false],
  ])('%s reads what it names', (text, nodes, input) => {
    expect(referencesOf(text)).toEqual({ input, nodes: new Set(nodes) });
  });

  it.each([
    '$nodes',
    '$nodes.*',
    '$nodes.**',
    '$nodes[0]',
    '$nodes.(a)',
    '($n := $nodes; $n.a)',
    '$lookup($nodes, $run.id)',
    '$keys($nodes)',
    '$nodes ~> $lookup("a")',
    '$nodes.a.output.%.%.b',
    '$nodes{state: 1}',
    '$each($nodes, function($n) { $n.state })',
  ])('%s may read every node', (text) => {
    expect(referencesOf(text).nodes).toBe('all');
  });

  it.each([
    ['1 +', 'Unexpected end of expression', 3],
    ['', 'Unexpected end of expression', 0],
    ['a b', 'Syntax error: "b"', 3],
    ['"open', 'String literal must be terminated', 5],
  ])('%j is refused at its place', (text, message, position) => {
    const { syntaxError } = referencesOf(text);
    expect(syntaxError?.message).toContain(message);
    expect(syntaxError?.position).toBe(position);
  });

  it('refuses $eval, behind which anything can hide', () => {
    expect(referencesOf('$eval("$nodes.a")').syntaxError?.message).toBe('$eval is not available');
  });

  it.each([
    ['length', ' '.repeat(EXPRESSION_LIMITS.length + 1)],
    ['brackets', '('.repeat(EXPRESSION_LIMITS.brackets + 1)],
    ['operators', `1${'+1'.repeat(EXPRESSION_LIMITS.punctuation + 1)}`],
    ['levels', `1${'+1'.repeat(EXPRESSION_LIMITS.depth + 1)}`],
    ['words that are operators', `a${' and a'.repeat(2000)}`],
    ['brackets hidden from a counter of quotes', `/"/${'('.repeat(5000)}`],
    ['minus signs', '-'.repeat(16_000)],
    ['conditions', 'a?b:'.repeat(4000)],
  ])('refuses too many %s instead of exhausting the stack', (_, text) => {
    expect(referencesOf(text).syntaxError).toBeDefined();
  });

  it('answers the same again', () => {
    expect(referencesOf('$nodes.again')).toEqual(referencesOf('$nodes.again'));
  });
});
