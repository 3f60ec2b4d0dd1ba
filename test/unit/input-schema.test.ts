import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DefinitionError } from '#domain/definition.ts';
import { DEFINITION_LIMITS } from '#domain/definition.ts';
import { parseDefinition } from '#domain/definition-schema.ts';
import type { Json, JsonObject } from '#domain/json.ts';
import { checkInput } from '#scheduler/input-check.ts';

function errorsOf(schema: unknown): readonly DefinitionError[] {
  const result = parseDefinition({ name: 'p', input: { schema }, nodes: [{ id: 'a', engine: 'task' }] });
  return result.ok ? [] : result.errors;
}

function pathsOf(schema: unknown): string[] {
  return errorsOf(schema).map(({ path, code }) => `${path} ${code}`);
}

/** Checks an input by a schema that is fit to be one. */
function check(schema: JsonObject, input: Json): [path: string, message: string][] {
  expect(errorsOf(schema)).toEqual([]);
  return checkInput(schema, input).map(({ path, message }) => [path, message]);
}

describe('the schema of an input', () => {
  it('may use every keyword of 2020-12 that is checked', () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'https://example.org/day.json',
      $comment: 'c',
      title: 't',
      description: 'd',
      'x-owner': { team: 'data' },
      type: ['object', 'null'],
      properties: {
        day: { type: 'string', format: 'date', examples: ['2026-11-30'] },
        n: { type: 'integer', minimum: 0, exclusiveMaximum: 10, multipleOf: 2, default: 2 },
        list: { prefixItems: [true], items: { $ref: '#/$defs/item' }, contains: {}, minContains: 0, uniqueItems: true },
        // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
        any: { anyOf: [{ const: 1 }, { enum: [2] }], if: {}, then: {}, else: false, not: false },
      },
      patternProperties: { '^p-': { $ref: '#item' } },
      additionalProperties: false,
      required: ['day'],
      dependentRequired: { n: ['list'] },
      dependentSchemas: { n: { maxProperties: 9 } },
      propertyNames: { maxLength: 10 },
      $defs: { item: { $anchor: 'item', oneOf: [{ type: 'string', pattern: '^a+$' }, { type: 'number' }] } },
    };
    expect(errorsOf(schema)).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ['no object', true, 'input.schema INVALID_TYPE'],
    ['a misspelt keyword', { requierd: ['a'] }, 'input.schema.requierd INVALID_SCHEMA'],
    ['an unknown keyword deep inside', { allOf: [{ nope: 1 }] }, 'input.schema.allOf[0].nope INVALID_SCHEMA'],
    ['another type', { properties: { a: { type: 'text' } } }, 'input.schema.properties.a.type INVALID_SCHEMA'],
    ['a pattern that is none', { pattern: '(' }, 'input.schema.pattern INVALID_SCHEMA'],
    [
      'a pattern of names that is none',
      { patternProperties: { '[': {} } },
      'input.schema.patternProperties["["] INVALID_SCHEMA',
    ],
    ['a format that is not checked', { format: 'colour' }, 'input.schema.format INVALID_SCHEMA'],
    ['a negative count', { minLength: -1 }, 'input.schema.minLength INVALID_SCHEMA'],
    ['a bound of an older draft', { exclusiveMinimum: true }, 'input.schema.exclusiveMinimum INVALID_SCHEMA'],
    ['a list of items', { items: [{}] }, 'input.schema.items INVALID_SCHEMA'],
    ['a schema that is a text', { not: 'x' }, 'input.schema.not INVALID_SCHEMA'],
    ['alternatives that are none', { anyOf: [] }, 'input.schema.anyOf INVALID_SCHEMA'],
    ['another draft', { $schema: 'http://json-schema.org/draft-07/schema#' }, 'input.schema["$schema"] INVALID_SCHEMA'],
    ['an id inside', { not: { $id: 'x' } }, 'input.schema.not["$id"] INVALID_SCHEMA'],
    ['a dynamic reference', { $dynamicRef: '#a' }, 'input.schema["$dynamicRef"] INVALID_SCHEMA'],
    ['a reference to elsewhere', { $ref: 'https://example.org/a.json' }, 'input.schema["$ref"] INVALID_SCHEMA'],
    ['a reference to a file', { items: { $ref: 'other.json#/a' } }, 'input.schema.items["$ref"] INVALID_SCHEMA'],
    ['a reference to nothing', { $ref: '#/$defs/a' }, 'input.schema["$ref"] INVALID_SCHEMA'],
    ['a reference into a value', { $ref: '#/default', default: {} }, 'input.schema["$ref"] INVALID_SCHEMA'],
    [
      'an anchor that stands twice',
      { $anchor: 'a', not: { $anchor: 'a' } },
      'input.schema.not["$anchor"] INVALID_SCHEMA',
    ],
    ['a circle of one', { $ref: '#' }, 'input.schema INVALID_SCHEMA'],
    [
      'a circle of two',
      { $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } } },
      'input.schema["$defs"].b.not INVALID_SCHEMA',
    ],
    ['too much text', { enum: ['x'.repeat(DEFINITION_LIMITS.inputSchemaBytes)] }, 'input.schema INVALID_SCHEMA'],
  ])('with %s is refused where that stands', (_what, schema, expected) => {
    expect(pathsOf(schema)).toEqual([expected]);
  });

  it('has all its errors told at once, with what was meant', () => {
    const errors = errorsOf({ requierd: [], properties: { a: { minimun: 1 }, b: { $ref: '#/$defs/none' } } });
    expect(errors.map(({ path, suggestion }) => [path, suggestion])).toEqual([
      ['input.schema.requierd', 'required'],
      ['input.schema.properties.a.minimun', 'minimum'],
      ['input.schema.properties.b["$ref"]', undefined],
    ]);
  });

  it('may refer to itself deeper in the input', () => {
    const tree = { type: 'object', properties: { next: { $ref: '#' } }, required: ['name'] };
    expect(check(tree, { name: 'a', next: { name: 'b', next: {} } })).toEqual([
      ['/next/next', 'the value does not have required property "name"'],
    ]);
  });

  it('may not try alternatives of alternatives without end', () => {
    const level = (below: string) => ({ allOf: [{ $ref: below }, { $ref: below }] });
    const $defs = Object.fromEntries(
      Array.from({ length: 30 }, (_, at) => [`l${at}`, at === 29 ? { type: 'object' } : level(`#/$defs/l${at + 1}`)]),
    );
    expect(pathsOf({ $ref: '#/$defs/l0', $defs })).toEqual(['input.schema INVALID_SCHEMA']);
  });

  it('is checked in time linear in its size', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 1_500 }, (_, at) => [`d${at}`, { items: { $ref: `#/$defs/d${(at + 1) % 1_500}` } }]),
    );
    const begun = performance.now();
    expect(errorsOf({ $ref: '#/$defs/d0', $defs })).toEqual([]);
    expect(performance.now() - begun).toBeLessThan(2_000);
  });

  it('takes any JSON without failing inside', () => {
    const schemaLike = fc.letrec((tie) => ({
      schema: fc.oneof(
        { maxDepth: 4 },
        fc.boolean(),
        fc.jsonValue({ maxDepth: 2 }),
        fc.dictionary(
          fc.constantFrom(
            'type',
            'items',
            'allOf',
            'properties',
            '$ref',
            '$defs',
            'not',
            'enum',
            '__proto__',
            '$id',
            'required',
          ),
          fc.oneof(
            tie('schema'),
            fc.array(tie('schema'), { maxLength: 3 }),
            fc.constantFrom('#', '#/$defs/a', 'string'),
          ),
        ),
      ),
    })).schema;
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom('allOf', 'properties', '$defs', 'not'), schemaLike),
        fc.jsonValue(),
        (schema, input) => {
          const accepted = parseDefinition({ name: 'p', input: { schema }, nodes: [{ id: 'a', engine: 'task' }] });
          if (accepted.ok) checkInput(accepted.definition.input?.schema as JsonObject, input as Json);
        },
      ),
    );
  });
});

describe('checkInput', () => {
  const schema = {
    type: 'object',
    required: ['day', 'files'],
    properties: {
      day: { type: 'string', format: 'date' },
      files: { type: 'array', minItems: 1, items: { type: 'object', properties: { 'a/b~c': { type: 'integer' } } } },
      mode: { enum: ['full', 'part'] },
    },
    additionalProperties: false,
  };

  it('accepts what fits', () => {
    expect(check(schema, { day: '2026-11-30', files: [{ 'a/b~c': 3 }] })).toEqual([]);
  });

  it('tells every error with its place as a JSON pointer, its value, and nothing twice', () => {
    const errors = checkInput(schema, { day: 'today', files: [{}, { 'a/b~c': 'x' }, 7], mode: 'none', more: null });
    expect(errors).toEqual([
      { path: '/day', code: 'INVALID_FIELD', message: 'String does not match format "date"', value: 'today' },
      {
        path: '/files/1/a~1b~0c',
        code: 'INVALID_TYPE',
        message: 'type "string" is invalid. Expected "integer"',
        value: 'x',
      },
      { path: '/files/2', code: 'INVALID_TYPE', message: 'type "number" is invalid. Expected "object"', value: 7 },
      {
        path: '/mode',
        code: 'INVALID_FIELD',
        message: 'the value does not match any of ["full","part"]',
        value: 'none',
      },
      { path: '/more', code: 'INVALID_FIELD', message: 'is not allowed here', value: null },
    ]);
    expect(check(schema, {})).toEqual([
      ['', 'the value does not have required property "day"'],
      ['', 'the value does not have required property "files"'],
    ]);
    expect(check(schema, [])).toEqual([['', 'type "array" is invalid. Expected "object"']]);
  });

  it('tells of alternatives that none fits, and what is wrong with each', () => {
    const oneOf = [{ type: 'string' }, { type: 'object', required: ['id'] }];
    expect(check({ properties: { x: { oneOf } } }, { x: {} }).map(([path]) => path)).toEqual(['/x', '/x', '/x']);
    expect(check({ oneOf: [{ minimum: 1 }, { maximum: 5 }, { type: 'string' }] }, 3)).toEqual([
      ['', 'the value does not match exactly one subschema (2 matches)'],
    ]);
  });

  it('lists at most a hundred errors', () => {
    const errors = check({ items: { type: 'string' } }, Array(250).fill(1));
    expect(errors).toHaveLength(101);
    expect(errors.at(-1)).toEqual(['', '150 more errors are not listed']);
  });

  it('compares values that look like references as they are', () => {
    expect(check({ const: { $ref: 'a b' }, default: { $ref: '#x' } }, { $ref: 'a b' })).toEqual([]);
    expect(check({ properties: { $ref: { type: 'string' } } }, { $ref: 1 })).toHaveLength(1);
  });

  it('finds every place that is referred to, whatever its name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (name) => {
        const pointer = encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
        const named = { $id: 'urn:x', $defs: { [name]: { type: 'string' } }, items: { $ref: `#/$defs/${pointer}` } };
        const accepted = parseDefinition({ name: 'p', input: { schema: named }, nodes: [{ id: 'a', engine: 'task' }] });
        if (!accepted.ok) throw new Error(JSON.stringify(accepted.errors));
        expect(checkInput(named, [1]).map(({ path, code }) => [path, code])).toEqual([['/0', 'INVALID_TYPE']]);
        expect(checkInput(named, ['x'])).toEqual([]);
      }),
    );
  });

  it('ends a regular expression that does not end by itself', () => {
    const errors = checkInput({ properties: { x: { pattern: '^(a+)+$' } } }, { x: `${'a'.repeat(60)}!` });
    expect(errors).toMatchObject([{ path: '', code: 'TOO_LARGE', message: expect.stringContaining('too large') }]);
  });

  it('ends a check that branches at every level of the input', () => {
    const next = { $ref: '#' };
    const twice = { allOf: [{ properties: { next } }, { properties: { next } }] };
    let input: Json = {};
    for (let level = 0; level < 60; level++) input = { next: input };
    expect(check(twice, input)).toEqual([['', expect.stringContaining('too large, or too deep')]]);
  });

  it('never fails on a deep or odd input', () => {
    const tree = { properties: { next: { $ref: '#' } }, additionalProperties: { type: 'string' } };
    let deep: Json = {};
    for (let level = 0; level < 20_000; level++) deep = { next: deep };
    expect(checkInput(tree, deep)).toMatchObject([{ code: 'TOO_LARGE' }]);
    expect(checkInput(tree, { '\ud800': 1 })).toHaveLength(1);
  });
});
