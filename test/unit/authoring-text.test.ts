import { describe, expect, it } from 'vitest';
import {
  type DefinitionFormat,
  definePipeline,
  definitionRevision,
  InvalidDefinitionError,
  loadDefinition,
} from '#authoring/index.ts';
import { DEFINITION_LIMITS } from '#domain/definition.ts';
import { parseJsonStrict } from '#domain/json-text.ts';

/** Errors of a text as `line:column path CODE`. */
function placesOf(text: string, format: DefinitionFormat): string[] {
  const result = loadDefinition(text, format);
  if (result.ok) return [];
  return result.errors.map(({ line, column, path, code }) => `${line}:${column} ${path} ${code}`);
}

function jsonErrors(text: string): string[] {
  const result = parseJsonStrict(text);
  return result.ok ? [] : result.errors.map(({ line, column, path, code }) => `${line}:${column} ${path} ${code}`);
}

describe('one pipeline written three ways', () => {
  const json = `{"nodes": [{"params": {"payload": {"10": 1, "2": "é"}, "function": "f"}, "id": "a"},
    {"when": "{% $nodes.a.output %}", "engine": "task", "dependsOn": ["a"], "id": "b"}], "name": "three"}`;
  const yaml = `
# the same
name: three
nodes:
  - id: a
    params: { function: f, payload: { "2": é, "10": 1 } }
  - id: b
    engine: task
    dependsOn: [a]
    when: "{% $nodes.a.output %}"
`;
  const typed = definePipeline({
    name: 'three',
    nodes: [
      { id: 'a', params: { function: 'f', payload: { '2': 'é', '10': 1 } } },
      { id: 'b', engine: 'task', dependsOn: ['a'], when: '{% $nodes.a.output %}' },
    ],
  });

  it('is one revision', () => {
    const [fromJson, fromYaml] = [loadDefinition(json, 'json'), loadDefinition(yaml, 'yaml')];
    if (!fromJson.ok || !fromYaml.ok) throw new Error('both are valid');
    const revision = definitionRevision(typed);
    expect(revision).toMatch(/^[0-9a-f]{16}$/);
    expect(definitionRevision(fromJson.definition)).toBe(revision);
    expect(definitionRevision(fromYaml.definition)).toBe(revision);
    expect(definitionRevision({ ...typed, name: 'four' })).not.toBe(revision);
  });

  it('is read with a byte order mark and with CRLF too', () => {
    expect(loadDefinition(`\uFEFF${json}`, 'json').ok).toBe(true);
    expect(loadDefinition(`\uFEFF${yaml.replaceAll('\n', '\r\n')}`, 'yaml').ok).toBe(true);
  });
});

describe('definePipeline', () => {
  it('throws with all errors, one a line', () => {
    const nodes = [
      { id: 'a', engine: 'task', dependsOn: ['b' as string] },
      { id: 'a', engine: 'task' },
    ];
    const error = (() => {
      try {
        return definePipeline({ name: '', nodes });
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(InvalidDefinitionError);
    const { errors, message } = error as InvalidDefinitionError;
    expect(errors.map(({ code }) => code)).toEqual(['INVALID_ID', 'DUPLICATE_NODE_ID', 'UNKNOWN_DEPENDENCY']);
    expect(message.split('\n')).toHaveLength(4);
  });

  it('lets the compiler see a misspelt upstream', () => {
    const misspelt = () =>
      definePipeline({
        name: 'typed',
        // @ts-expect-error "extrct" is the id of no node
        nodes: [{ id: 'extract' }, { id: 'load', dependsOn: ['extrct'] }],
      });
    expect(misspelt).toThrow('did you mean "extract"?');
  });
});

describe('loadDefinition, places', () => {
  it('gives line and column of every error in YAML', () => {
    const text = `name: x
nodes:
  - id: a
    dependOn: [b]
    params: { function: " ", paylaod: 1 }
  - id: b
    dependsOn: [c, b]
    timeoutSeconds: .nan
  - id: 10
    engine: task
    params:
      "odd key":
        - "{% 1 + %}"
`;
    expect(placesOf(text, 'yaml')).toEqual([
      '4:5 nodes[0].dependOn UNKNOWN_FIELD',
      '8:21 nodes[1].timeoutSeconds INVALID_LIMIT',
      '9:9 nodes[2].id INVALID_TYPE',
      '7:17 nodes[1].dependsOn[0] UNKNOWN_DEPENDENCY',
      '7:20 nodes[1].dependsOn[1] CYCLE',
      '13:11 nodes[2].params["odd key"][0] INVALID_EXPRESSION',
      '5:25 nodes[0].params.function INVALID_FIELD',
      '5:30 nodes[0].params.paylaod UNKNOWN_FIELD',
      '6:5 nodes[1].params.function INVALID_TYPE',
    ]);
  });

  it('gives line and column of every error in JSON', () => {
    const text =
      '{\r\n  "name": "x",\r\n  "fail": 1,\r\n  "nodes": [{ "id": "a", "dependsOn": ["b"], "engine": "task" }]\r\n}';
    expect(placesOf(text, 'json')).toEqual(['3:3 fail UNKNOWN_FIELD', '4:40 nodes[0].dependsOn[0] UNKNOWN_DEPENDENCY']);
  });

  it('points at the object where a field is missing', () => {
    expect(placesOf('\n  {"nodes": [{"id": "a"}, {}]}', 'json')).toEqual([
      '2:3 name INVALID_TYPE',
      '2:27 nodes[1].id INVALID_TYPE',
      '2:14 nodes[0].params.function INVALID_TYPE',
      '2:27 nodes[1].params.function INVALID_TYPE',
    ]);
  });

  it('finds errors of the text and of the definition in one go', () => {
    const text =
      '{"name": "x", "nodes": [{"id": "a", "dependsOn": ["q"], "params": {"n": 9007199254740993, "n": 1}, "engine": "task"}]}';
    expect(placesOf(text, 'json')).toEqual([
      '1:73 nodes[0].params.n NUMBER_OUT_OF_RANGE',
      '1:91 nodes[0].params.n DUPLICATE_KEY',
      '1:51 nodes[0].dependsOn[0] UNKNOWN_DEPENDENCY',
    ]);
  });

  it.each(['json', 'yaml'] as const)('refuses %s text over 4 MB', (format) => {
    expect(placesOf(' '.repeat(DEFINITION_LIMITS.definitionBytes + 1), format)).toEqual(['1:1  TOO_LARGE']);
    expect(placesOf('é'.repeat(DEFINITION_LIMITS.definitionBytes / 2 + 1), format)).toEqual(['1:1  TOO_LARGE']);
  });
});

describe('loadDefinition, YAML', () => {
  it.each([
    ['an empty document', '', '1:1  INVALID_TYPE'],
    ['nothing but a comment', '# nothing', '1:1  INVALID_TYPE'],
    ['an open list', 'a: [', '1:5  INVALID_YAML'],
    ['a tab as indentation', '\ta: 1', '1:1  INVALID_YAML'],
    ['a second document', 'name: x\n---\nname: y\n', '2:1  INVALID_YAML'],
    ['deep nesting', '['.repeat(20_000), '1:101  TOO_DEEP'],
    [
      'deep nesting in blocks',
      Array.from({ length: 150 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
      '101:101  TOO_DEEP',
    ],
  ])('refuses %s', (_, text, error) => {
    expect(placesOf(text, 'yaml')).toEqual([error]);
  });

  const pipeline = (params: string) => `name: x\nnodes:\n- id: a\n  params: ${params}\n  engine: task\n`;

  it.each([
    ['a tag of its own', '{ x: !secret y }', 'nodes[0].params.x INVALID_YAML'],
    ['a tag of YAML', '{ x: !!str 1 }', 'nodes[0].params.x INVALID_YAML'],
    ['an alias without anchor', '{ x: *y }', 'nodes[0].params.x INVALID_YAML'],
    ['an alias inside its own value', '{ x: &y [*y] }', 'nodes[0].params.x[0] INVALID_YAML'],
    ['equal keys', '{ x: 1, "x": 2 }', 'nodes[0].params.x DUPLICATE_KEY'],
    ['a number as key', '{ 1: x }', 'nodes[0].params INVALID_TYPE'],
    ['a list as key', '{ [1]: x }', 'nodes[0].params INVALID_TYPE'],
    ['a large integer', '{ x: 9007199254740993 }', 'nodes[0].params.x NUMBER_OUT_OF_RANGE'],
    ['a large hexadecimal integer', '{ x: 0xFFFFFFFFFFFFFFFF }', 'nodes[0].params.x NUMBER_OUT_OF_RANGE'],
    ['an endless number', '{ x: .inf }', 'nodes[0].params.x NUMBER_OUT_OF_RANGE'],
    ['a number beyond all bounds', '{ x: 1e400 }', 'nodes[0].params.x NUMBER_OUT_OF_RANGE'],
    ['half a surrogate pair', '{ x: "\\ud800" }', 'nodes[0].params.x INVALID_UNICODE'],
  ])('refuses %s', (_, params, error) => {
    expect(placesOf(pipeline(params), 'yaml').map((place) => place.replace(/^4:\d+ /, ''))).toEqual([error]);
  });

  it('says how to write a key that is a number', () => {
    const result = loadDefinition(pipeline('{ 007: x }'), 'yaml');
    expect(result.ok || result.errors[0]).toMatchObject({ suggestion: '"007"' });
  });

  it('follows aliases, and keeps merge keys, yes and dates as what YAML 1.2 says they are', () => {
    const result = loadDefinition(pipeline('{ a: &x [1], b: *x, c: yes, d: 2020-01-01, e: 0o17, "<<": 1 }'), 'yaml');
    expect(result.ok && result.definition.nodes[0]?.params).toEqual({
      a: [1],
      b: [1],
      c: 'yes',
      d: '2020-01-01',
      e: 15,
      '<<': 1,
    });
  });

  it('stops an alias bomb', () => {
    const levels = [...'bcdefghi'].map((name, level) => {
      const alias = `*${'abcdefgh'[level]}`;
      return `  - &${name} [${Array.from({ length: 10 }, () => alias).join(', ')}]`;
    });
    const text = `name: x\nnodes:\n  - &a [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]\n${levels.join('\n')}\n`;
    const result = loadDefinition(text, 'yaml');
    expect(result.ok ? [] : result.errors.map(({ code }) => code)).toContain('TOO_LARGE');
  });

  it('compares fifty thousand keys in time', () => {
    const keys = Array.from({ length: 50_000 }, (_, key) => `    k${key}: 1`).join('\n');
    expect(loadDefinition(`name: x\nnodes:\n- id: a\n  engine: task\n  params:\n${keys}\n`, 'yaml').ok).toBe(true);
  });
});

describe('parseJsonStrict', () => {
  it('gives what JSON.parse gives where nothing is lost', () => {
    const text = '{"a": [1, -0.5, 1e3, "\\u00e9\\n", true, null], "__proto__": {"x": 1}, "constructor": 2, "": 3}';
    expect(parseJsonStrict(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });

  it('keeps __proto__ as an own member and pollutes nothing', () => {
    const result = parseJsonStrict('{"__proto__": {"polluted": 1}}');
    expect(result.ok && Object.keys(result.value as object)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it.each([
    ['nothing', '', '1:1  INVALID_JSON'],
    ['an open list', '[1,', '1:4  INVALID_JSON'],
    ['an open object', '{"a"', '1:5  INVALID_JSON'],
    ['an open text', '"abc', '1:5  INVALID_JSON'],
    ['a comma too many', '{"a": 1,\n}', '2:1  INVALID_JSON'],
    ['a missing comma', '[1 2]', '1:4  INVALID_JSON'],
    ['single quotes', "{'a': 1}", '1:2  INVALID_JSON'],
    ['a comment', '// x\n1', '1:1  INVALID_JSON'],
    ['a misspelt word', '{"a": tru}', '1:7  INVALID_JSON'],
    ['NaN', '[NaN]', '1:2  INVALID_JSON'],
    ['more text behind', '{} {}', '1:4  INVALID_JSON'],
    ['a bare tab in a text', '{"a": "x\ty"}', '1:9 a INVALID_JSON'],
    ['equal keys', '{"a": 1,\n "a": 1}', '2:2 a DUPLICATE_KEY'],
    ['equal keys, one escaped', '{"a": 1, "\\u0061": 1}', '1:10 a DUPLICATE_KEY'],
    ['an integer beyond 2^53', '{"a": [9007199254740993]}', '1:8 a[0] NUMBER_OUT_OF_RANGE'],
    ['a negative one', '[-9007199254740993]', '1:2 [0] NUMBER_OUT_OF_RANGE'],
    ['a number beyond all bounds', '[-1e999]', '1:2 [0] NUMBER_OUT_OF_RANGE'],
    ['half a surrogate pair', '["\\udc00x"]', '1:2 [0] INVALID_UNICODE'],
    ['half a surrogate pair in a key', '{"\\ud83d": 1}', '1:2 ["\\ud83d"] INVALID_UNICODE'],
    ['101 levels', `${'['.repeat(101)}${']'.repeat(101)}`, '1:101  TOO_DEEP'],
    ['a hundred thousand levels', '{"a":'.repeat(100_000), '1:501  TOO_DEEP'],
  ])('refuses %s with its place', (_, text, error) => {
    expect(jsonErrors(text)).toEqual([error]);
  });

  it('tells the exact digits of an integer that is too large', () => {
    const result = parseJsonStrict('9007199254740993');
    expect(result.ok || result.errors[0]?.message).toContain('9007199254740993 is an integer beyond 2^53');
  });

  it('takes 100 levels, brackets in texts, 2^53, and large numbers that are no integers', () => {
    const texts = [
      `${'['.repeat(100)}${']'.repeat(100)}`,
      JSON.stringify('['.repeat(200)),
      JSON.stringify(`\\"${'{'.repeat(200)}`),
      '9007199254740992',
      '-9007199254740992',
      '1e300',
      '12345678901234567890.5',
      '0.1234567890123456789',
    ];
    for (const text of texts) expect(parseJsonStrict(text)).toEqual({ ok: true, value: JSON.parse(text) });
  });

  it('finds all of several errors', () => {
    expect(jsonErrors('{"a": 1, "a": {"b": 99999999999999999999, "b": 1e999}}')).toHaveLength(4);
  });

  it('reads a text of megabytes', () => {
    expect(parseJsonStrict(JSON.stringify('x'.repeat(5_000_000))).ok).toBe(true);
  });
});
