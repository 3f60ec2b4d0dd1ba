import { describe, expect, it } from 'vitest';
import type { DefinitionError } from '#domain/definition.ts';
import { parseDefinition } from '#domain/definition-schema.ts';

function errorsOf(...nodes: readonly unknown[]): readonly DefinitionError[] {
  const result = parseDefinition({ name: 'p', nodes });
  return result.ok ? [] : result.errors;
}

const withParams = (params: unknown) => errorsOf({ id: 'a', engine: 'lambda', params });
const codesAt = (errors: readonly DefinitionError[]) => errors.map(({ path, code }) => `${path} ${code}`);
const ALLOWED = 'the name or ARN of a Lambda function: a text, or an expression between {% and %}';

describe('a node of the engine lambda', () => {
  it.each([
    ['a name', 'extract-fn'],
    ['an ARN', 'arn:aws:lambda:eu-central-1:111122223333:function:extract-fn:live'],
    ['an expression', '{% $run.input.function %}'],
  ])('names its function by %s', (_, name) => {
    expect(withParams({ function: name, payload: null, byReference: true })).toEqual([]);
  });

  it.each([
    ['no params', { id: 'a', engine: 'lambda' }, 'its engine is lambda'],
    ['no function', { id: 'a', engine: 'lambda', params: { payload: 1 } }, 'its engine is lambda'],
    ['neither params nor engine', { id: 'a' }, 'its engine is lambda, as it names no other'],
    ['a function that is undefined', { id: 'a', params: { function: undefined } }, 'as it names no other'],
  ])('is refused with %s, saying why it needs one', (_, node, why) => {
    const errors = errorsOf(node);
    expect(errors).toMatchObject([{ path: 'nodes[0].params.function', code: 'INVALID_TYPE', allowed: ALLOWED }]);
    expect(errors[0]).not.toHaveProperty('value');
    expect(errors[0]?.message).toContain('params.function of node "a" is missing');
    expect(errors[0]?.message).toContain(why);
  });

  it.each([
    ['a number', 5, 5],
    ['null', null, null],
    ['an object', { name: 'f' }, '{… 1 fields}'],
    ['a list', ['f'], '[… 1 entries]'],
  ])('is refused with %s as its function', (_, value, shown) => {
    const errors = withParams({ function: value });
    expect(errors).toMatchObject([{ path: 'nodes[0].params.function', code: 'INVALID_TYPE', value: shown }]);
    expect(errors[0]?.message).toBe(`params.function of node "a" is ${JSON.stringify(shown)}; it must be ${ALLOWED}`);
  });

  it.each(['', ' ', '\u00a0\n'])('is refused with the blank function %j', (name) => {
    const errors = withParams({ function: name });
    expect(errors).toMatchObject([{ path: 'nodes[0].params.function', code: 'INVALID_FIELD', value: name }]);
    expect(errors[0]?.message).toContain(`params.function of node "a" is ${JSON.stringify(name)}, a blank text`);
  });

  it('has one error for half an expression, or one that cannot be read', () => {
    for (const name of ['{% $run.input', '{% 1 + %}', '{% %}'])
      expect(codesAt(withParams({ function: name }))).toEqual(['nodes[0].params.function INVALID_EXPRESSION']);
  });

  it('takes no other parameter, and knows what was meant', () => {
    expect(withParams({ function: 'f', paylod: 1, timeout: 5 })).toMatchObject([
      { path: 'nodes[0].params.paylod', code: 'UNKNOWN_FIELD', value: 1, suggestion: 'payload' },
      { path: 'nodes[0].params.timeout', code: 'UNKNOWN_FIELD', allowed: 'function | payload | byReference' },
    ]);
  });

  it('has one error for a mistyped function', () => {
    const errors = withParams({ fucntion: 'f' });
    expect(errors).toMatchObject([
      { path: 'nodes[0].params.fucntion', code: 'UNKNOWN_FIELD', value: 'f', suggestion: 'function' },
    ]);
    expect(errors[0]?.message).toBe(
      '"fucntion" is no parameter of the engine lambda, in node "a"; did you mean "function"?',
    );
  });

  it('says whether it goes by reference without an expression', () => {
    expect(withParams({ function: 'f', byReference: false })).toEqual([]);
    for (const byReference of ['{% true %}', 'true', 1, null])
      expect(withParams({ function: 'f', byReference })).toMatchObject([
        { path: 'nodes[0].params.byReference', code: 'INVALID_TYPE', value: byReference, allowed: 'true or false' },
      ]);
  });

  it('is named by its place where it has no id', () => {
    const errors = errorsOf({ id: 'a', engine: 'task' }, { params: {} });
    expect(errors.at(-1)?.message).toContain('params.function of the node at position 1 is missing');
  });

  it('takes keys and functions that are names of object members as data', () => {
    const params = JSON.parse('{"function":"constructor","payload":{"__proto__":1}}') as object;
    expect(withParams(params)).toEqual([]);
    expect(codesAt(withParams(JSON.parse('{"function":"f","__proto__":{}}')))).toEqual([
      'nodes[0].params.__proto__ UNKNOWN_FIELD',
    ]);
    expect(codesAt(withParams(JSON.parse('{"__proto__":{"function":"f"}}')))).toEqual([
      'nodes[0].params.function INVALID_TYPE',
      'nodes[0].params.__proto__ UNKNOWN_FIELD',
    ]);
  });
});

describe('what is no node of the engine lambda', () => {
  it('needs no function', () => {
    expect(errorsOf({ id: 'a', engine: 'task' }, { id: 'b', engine: 'Lambda', params: { fucntion: 1 } })).toEqual([]);
  });

  it('has the errors of its shape alone', () => {
    expect(codesAt(errorsOf(7, null, 'x', []))).toEqual([0, 1, 2, 3].map((at) => `nodes[${at}] INVALID_TYPE`));
    expect(codesAt(errorsOf({ id: 'a', engine: 5 }, { id: 'b', engine: null }))).toEqual([
      'nodes[0].engine INVALID_TYPE',
      'nodes[1].engine INVALID_TYPE',
    ]);
    expect(codesAt(errorsOf({ id: 'a', params: [] }, { id: 'b', params: null }))).toEqual([
      'nodes[0].params INVALID_TYPE',
      'nodes[1].params INVALID_TYPE',
    ]);
  });
});

it('checks ten thousand nodes and a hundred thousand parameters within a second', () => {
  const strangers = Object.fromEntries(Array.from({ length: 10 }, (_, key) => [`fonction${key}`, key]));
  const nodes = Array.from({ length: 10_000 }, (_, at) => ({ id: `n${at}`, params: strangers }));
  const before = performance.now();
  const errors = errorsOf(...nodes);
  expect(performance.now() - before).toBeLessThan(1000);
  expect(errors.at(-1)?.code).toBe('MORE_ERRORS');
});
