import { describe, expect, it } from 'vitest';
import { parseDefinition } from '#domain/definition-schema.ts';
import type { Json } from '#domain/json.ts';

function errorsOf(engine: 'pass' | 'approval', params?: Json): [path: string, code: string][] {
  const node = { id: 'a', engine, ...(params !== undefined && { params }) };
  const parsed = parseDefinition({ name: 'p', nodes: [node] });
  return parsed.ok ? [] : parsed.errors.map(({ path, code }) => [path, code]);
}

describe('a pass node', () => {
  it.each([undefined, {}, { output: null }, { output: { a: '{% $run.input %}' } }])('takes %j', (params) => {
    expect(errorsOf('pass', params)).toEqual([]);
  });

  it('takes no other parameter', () => {
    expect(errorsOf('pass', { outptu: 1 })).toEqual([['nodes[0].params.outptu', 'UNKNOWN_FIELD']]);
  });
});

describe('an approval', () => {
  it.each([
    { prompt: 'Ship?' },
    { prompt: '{% "Ship " & $run.input & "?" %}' },
    { prompt: `{% $substring("${'x'.repeat(1100)}", 0, 10) %}` },
    { prompt: 'Ship?', output: { type: 'object', properties: { n: { type: 'integer' } } } },
  ])('takes %j', (params) => {
    expect(errorsOf('approval', params)).toEqual([]);
  });

  it.each<[Json | undefined, string, string]>([
    [undefined, 'nodes[0].params.prompt', 'INVALID_TYPE'],
    [{ prompt: 1 }, 'nodes[0].params.prompt', 'INVALID_TYPE'],
    [{ prompt: ' ' }, 'nodes[0].params.prompt', 'INVALID_FIELD'],
    [{ prompt: 'x'.repeat(1001) }, 'nodes[0].params.prompt', 'INVALID_FIELD'],
    [{ prompt: 'Ship?', promt: 1 }, 'nodes[0].params.promt', 'UNKNOWN_FIELD'],
    [{ prompt: 'Ship?', output: 'text' }, 'nodes[0].params.output', 'INVALID_TYPE'],
    [{ prompt: 'Ship?', output: { type: 'objekt' } }, 'nodes[0].params.output.type', 'INVALID_SCHEMA'],
    [{ prompt: 'Ship?', output: { const: '{% 1 %}' } }, 'nodes[0].params.output.const', 'INVALID_SCHEMA'],
  ])('refuses %j', (params, path, code) => {
    expect(errorsOf('approval', params)).toEqual([[path, code]]);
  });
});
