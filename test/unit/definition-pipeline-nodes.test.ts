import { describe, expect, it } from 'vitest';
import { parseDefinition } from '#domain/definition-schema.ts';

function errorsOf(params: unknown) {
  const nodes = [{ id: 'a', engine: 'pipeline', ...(params === undefined ? {} : { params }) }];
  const result = parseDefinition({ name: 'own', nodes });
  return result.ok
    ? []
    : result.errors.map(({ path, code, suggestion }) => ({ path, code, ...(suggestion && { suggestion }) }));
}

describe('a node of the engine pipeline', () => {
  it('names the pipeline that it starts', () => {
    expect(errorsOf({ pipeline: 'other', input: { a: 1 }, revision: 'abc' })).toEqual([]);
    expect(errorsOf(undefined)).toEqual([{ path: 'nodes[0].params.pipeline', code: 'INVALID_TYPE' }]);
    expect(errorsOf({ pipeline: 5 })).toEqual([{ path: 'nodes[0].params.pipeline', code: 'INVALID_TYPE' }]);
  });

  it('cannot start its own pipeline', () => {
    expect(errorsOf({ pipeline: 'own' })).toEqual([{ path: 'nodes[0].params.pipeline', code: 'SELF_START' }]);
  });

  it('takes no other parameter', () => {
    expect(errorsOf({ pipeline: 'other', inputs: {} })).toEqual([
      { path: 'nodes[0].params.inputs', code: 'UNKNOWN_FIELD', suggestion: 'input' },
    ]);
  });
});
