/** Whatever comes in: an answer, in time, every error with its code and place, and nothing in the process changed. */
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { loadDefinition } from '#authoring/index.ts';
import { DEFINITION_LIMITS, type DefinitionError, TRIGGER_RULES } from '#domain/definition.ts';
import { formatPath, parsePath } from '#domain/definition-path.ts';
import { type DefinitionResult, parseDefinition } from '#domain/definition-schema.ts';
import { referencesOf } from '#domain/expression.ts';
import type { Json } from '#domain/json.ts';
import { parseJsonStrict } from '#domain/json-text.ts';

const memberNames = ['__proto__', 'constructor', 'prototype', 'toString', 'valueOf', 'hasOwnProperty'];
const key = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...memberNames, 'id', 'nodes', 'name', 'params'));
const prototypeBefore = Reflect.ownKeys(Object.prototype).length;

afterEach(() => {
  expect(Reflect.ownKeys(Object.prototype)).toHaveLength(prototypeBefore);
  expect(Object.keys({})).toEqual([]);
});

function expectErrors(errors: readonly DefinitionError[]): void {
  expect(errors.length).toBeGreaterThan(0);
  for (const error of errors) {
    expect(error.code).toMatch(/^[A-Z_]+$/);
    expect(typeof error.path).toBe('string');
    expect(error.message).not.toBe('');
    // An error is sent as JSON, so it must be JSON itself.
    expect(JSON.parse(JSON.stringify(error))).toEqual(error);
  }
}

function expectAnswer(result: DefinitionResult): void {
  if (result.ok) expect(parseDefinition(JSON.parse(JSON.stringify(result.definition)))).toEqual(result);
  else expectErrors(result.errors);
}

/** Replaces a few characters of a valid text, so that most of it stays readable. */
const mutations = fc.array(fc.tuple(fc.nat(), fc.nat(3), fc.string({ unit: 'binary', maxLength: 3 })), {
  maxLength: 4,
});

function mutated(text: string, changes: readonly [number, number, string][]): string {
  return changes.reduce((now, [at, cut, put]) => {
    const start = at % (now.length + 1);
    return now.slice(0, start) + put + now.slice(start + cut);
  }, text);
}

const sampleJson = JSON.stringify({
  name: 'sample',
  defaults: { retry: { maxAttempts: 3, on: ['States.ALL'] } },
  nodes: [
    { id: 'a', params: { function: 'f', payload: { n: 12345678901234, s: 'é😀', x: '{% $run.input %}' } } },
    {
      id: 'b',
      engine: 'task',
      dependsOn: ['a'],
      trigger: 'all_done',
      when: '{% $nodes.a.output.ok %}',
      timeoutSeconds: 5,
    },
  ],
  output: '{% $nodes.b.output %}',
});

const sampleYaml = `name: sample
defaults: &d
  retry: { maxAttempts: 3 }
nodes:
  - id: a
    params: { function: f, payload: { n: 1.5, s: "x\\n" } }
  - id: b
    engine: task
    dependsOn: [a]
    when: >-
      {% $nodes.a.output.ok %}
    retry:
      on: ['States.ALL']
`;

describe('parseDefinition on anything', () => {
  it('answers for every kind of value', () => {
    const anything = fc.anything({
      key,
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withSparseArray: true,
      withTypedArray: true,
      withUnicodeString: true,
    });
    fc.assert(fc.property(anything, (value) => expectAnswer(parseDefinition(value))));
    fc.assert(fc.property(anything, anything, (a, b) => expectAnswer(parseDefinition({ name: 'x', nodes: [a, b] }))));
  });

  it('answers for things that nearly are definitions', () => {
    const ids = fc.constantFrom('a', 'b', 'c', ' a', '', ...memberNames);
    const odd = fc.oneof(fc.integer(), fc.double(), fc.constant(null), fc.string({ unit: 'binary' }), fc.constant([]));
    const expression = fc.constantFrom(
      '{% $nodes.a.output %}',
      '{% $nodes %}',
      '{% 1 + %}',
      '{% x',
      "{% $nodes.'__proto__' %}",
    );
    const field = <T>(good: fc.Arbitrary<T>) => fc.oneof({ weight: 8, arbitrary: good as fc.Arbitrary<unknown> }, odd);
    const retry = fc.record(
      {
        maxAttempts: field(fc.integer()),
        backoffRate: field(fc.double()),
        on: field(fc.array(ids)),
        [memberNames[0] as string]: odd,
      },
      { requiredKeys: [] },
    );
    const lambdaParams = fc.record(
      {
        function: field(fc.oneof(fc.constantFrom('f', ' '), expression)),
        payload: odd,
        byReference: field(fc.boolean()),
        fucntion: odd,
      },
      { requiredKeys: [] },
    );
    const node = fc.record(
      {
        id: field(ids),
        dependsOn: field(fc.array(field(ids), { maxLength: 4 })),
        trigger: field(fc.constantFrom(...TRIGGER_RULES)),
        when: field(expression),
        engine: field(fc.constantFrom('lambda', 'pipeline', 'task')),
        params: field(fc.oneof(fc.dictionary(key, field(expression)), lambdaParams)),
        retry: field(retry),
        timeoutSeconds: field(fc.integer({ min: -1, max: 10 })),
        map: odd,
      },
      { requiredKeys: ['id'] },
    );
    const pipeline = fc.record(
      {
        name: field(fc.constant('p')),
        nodes: field(fc.array(field(node), { maxLength: 6 })),
        output: field(expression),
      },
      { requiredKeys: ['name', 'nodes'] },
    );
    fc.assert(
      fc.property(pipeline, (value) => expectAnswer(parseDefinition(value))),
      { numRuns: 500 },
    );
  });

  it('accepts exactly the graphs that have an order', () => {
    const edges = fc.array(fc.tuple(fc.nat(7), fc.nat(7)), { maxLength: 14 });
    fc.assert(
      fc.property(edges, (pairs) => {
        const upstreams = Array.from({ length: 8 }, (_, node) => [
          ...new Set(pairs.filter(([to]) => to === node).map(([, from]) => from)),
        ]);
        const result = parseDefinition({
          name: 'graph',
          nodes: upstreams.map((list, node) => ({
            id: `n${node}`,
            engine: 'task',
            dependsOn: list.map((id) => `n${id}`),
          })),
        });
        expect(result.ok).toBe(hasOrder(upstreams));
        if (result.ok) return;
        for (const { code, value } of result.errors) {
          expect(code).toBe('CYCLE');
          expectCircle(value as string[], upstreams);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

/** Takes away nodes without upstreams until none is left, or none can be taken. */
function hasOrder(upstreams: readonly (readonly number[])[]): boolean {
  const left = new Set(upstreams.keys());
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const node of left) if (!upstreams[node]?.some((upstream) => left.has(upstream))) left.delete(node);
  }
  return left.size === 0;
}

function expectCircle(ids: readonly string[], upstreams: readonly (readonly number[])[]): void {
  const members = ids.map((id) => Number(id.slice(1)));
  expect(new Set(members).size).toBe(members.length);
  for (const [place, member] of members.entries()) {
    expect(upstreams[member]).toContain(members.at(place - 1));
  }
}

describe('texts', () => {
  it('parseJsonStrict agrees with JSON.parse on what is JSON', () => {
    const texts = fc.oneof(
      fc.json({ stringUnit: 'binary', depthSize: 'large' }),
      fc.string({ unit: fc.constantFrom(...'{}[]",:\\0123456789.eE+-tfnul /\n\t\u0001é') }),
      mutations.map((changes) => mutated(sampleJson, changes)),
    );
    const tolerated = new Set(['DUPLICATE_KEY', 'NUMBER_OUT_OF_RANGE', 'INVALID_UNICODE', 'TOO_DEEP']);
    fc.assert(
      fc.property(texts, (text) => {
        const result = parseJsonStrict(text);
        const errors = result.ok ? [] : result.errors;
        if (result.ok) expect(result.value).toEqual(JSON.parse(text));
        else expectErrors(errors);
        for (const { line, column } of errors) expect(Math.min(line, column)).toBeGreaterThan(0);
        if (errors.some(({ code }) => !tolerated.has(code))) expect(() => JSON.parse(text)).toThrow(SyntaxError);
        else expect(() => JSON.parse(text)).not.toThrow();
      }),
      { numRuns: 3000 },
    );
  });

  it('loadDefinition answers for any JSON and YAML text, with a place for every error', () => {
    const yamlText = fc.string({ unit: fc.constantFrom(...'abc:- \n\t[]{},&*!|>\'"#%@`?.0123~<'), maxLength: 60 });
    const texts = fc.oneof(
      fc.string({ unit: 'binary' }),
      yamlText,
      mutations.map((changes) => mutated(sampleJson, changes)),
      mutations.map((changes) => mutated(sampleYaml, changes)),
    );
    fc.assert(
      fc.property(texts, fc.constantFrom('json' as const, 'yaml' as const), (text, format) => {
        const result = loadDefinition(text, format);
        expectAnswer(result);
        const lines = text.split('\n').length;
        for (const { line, column } of result.ok ? [] : result.errors) {
          expect(line).toBeGreaterThan(0);
          expect(line).toBeLessThanOrEqual(lines);
          expect(column).toBeGreaterThan(0);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it('reads JSON text as YAML to the same definition', () => {
    expect(loadDefinition(sampleJson, 'yaml')).toEqual(loadDefinition(sampleJson, 'json'));
    expect(loadDefinition(sampleJson, 'json').ok).toBe(true);
  });
});

describe('expressions', () => {
  it('are parsed or refused, whatever they say', () => {
    const pieces = [
      '$nodes',
      '.',
      'a',
      '"b"',
      '`c d`',
      '(',
      ')',
      '[',
      ']',
      '{',
      '}',
      '$lookup',
      ',',
      '%',
      '*',
      '**',
      '@',
      '#',
    ];
    const more = [
      '$x',
      ':=',
      ';',
      '?',
      ':',
      '~>',
      '^',
      '/',
      '|',
      '-',
      '&',
      ' and ',
      'function',
      '$run',
      'input',
      '\\',
      '/*',
      '"',
    ];
    const text = fc.oneof(
      fc.string({ unit: fc.constantFrom(...pieces, ...more), maxLength: 30 }),
      fc.string({ unit: 'binary' }),
      fc.tuple(fc.constantFrom(...pieces, ...more), fc.nat(20_000)).map(([piece, times]) => piece.repeat(times)),
    );
    fc.assert(
      fc.property(text, (expression) => {
        const { nodes, input, syntaxError } = referencesOf(expression);
        expect(typeof input).toBe('boolean');
        expect(nodes === 'all' || nodes instanceof Set).toBe(true);
        if (syntaxError !== undefined) expect(syntaxError.message).not.toBe('');
      }),
      { numRuns: 2000 },
    );
  });
});

describe('paths', () => {
  it('are read back as they were written', () => {
    const segments = fc.array(fc.oneof(fc.nat(DEFINITION_LIMITS.nodes), key));
    fc.assert(
      fc.property(segments, (path) => {
        expect(parsePath(formatPath(path))).toEqual(path);
      }),
    );
  });

  it('lead to the value that an error is about', () => {
    const value: Json = { name: 'x', nodes: [{ id: 'a', params: { 'odd key': ['{% 1 + %}'] } }] };
    const result = parseDefinition(value);
    const at = parsePath((result.ok ? undefined : result.errors[0]?.path) ?? '');
    expect(at.reduce((now: unknown, segment) => (now as Record<string, unknown>)[segment], value)).toBe('{% 1 + %}');
  });
});
