/** Scenario U17: every mistake that a definition of steps can have, each refused with its code, beside forms that are valid. */
import { describe, expect, it } from 'vitest';
import { parseDefinition } from '#domain/definition-schema.ts';

const task = (id: unknown, more: object = {}) => ({ id, engine: 'task', ...more });
const reads = (text: string) => ({ params: { value: `{% ${text} %}` } });
const TWO = [task('a'), task('b', { dependsOn: ['a'] })];

function codesOf(nodes: unknown, more: object = {}): string[] {
  const result = parseDefinition({ name: 'steps', nodes, ...more });
  return result.ok ? [] : result.errors.map(({ code }) => code);
}

describe('U17 steps that are refused', () => {
  it.each<[string, unknown, string[], object?]>([
    ['one name twice', [task('a'), task('a')], ['DUPLICATE_NODE_ID']],
    ['a name of a pipeline with other characters', TWO, ['INVALID_ID'], { name: 'a b' }],
    ['a blank name', [task(' ')], ['INVALID_ID']],
    ['a name that is no text', [task(7)], ['INVALID_TYPE']],
    ['no steps', [], ['EMPTY_PIPELINE']],
    ['a blank upstream', [task('a'), task('b', { dependsOn: [''] })], ['EMPTY_DEPENDENCY']],
    ['an unknown upstream', [task('a'), task('b', { dependsOn: ['c'] })], ['UNKNOWN_DEPENDENCY']],
    ['an upstream named twice', [task('a'), task('b', { dependsOn: ['a', 'a'] })], ['DUPLICATE_EDGE']],
    ['an input from an unknown step', [task('a', reads('$nodes.c.output'))], ['INVALID_EXPRESSION']],
    [
      'an input from a step that is not above',
      [task('a'), task('b', reads('$nodes.a.output'))],
      ['INVALID_EXPRESSION'],
    ],
    ['an output of an unknown step', TWO, ['INVALID_EXPRESSION'], { output: '{% $nodes.c.output %}' }],
    ['a cycle', [task('a', { dependsOn: ['b'] }), task('b', { dependsOn: ['a'] })], ['CYCLE']],
    ['a step behind itself', [task('a', { dependsOn: ['a'] })], ['CYCLE']],
    ['no such trigger rule', [task('a'), task('b', { dependsOn: ['a'], trigger: 'any' })], ['INVALID_FIELD']],
    ['a pipeline that starts itself', [{ id: 'a', engine: 'pipeline', params: { pipeline: 'steps' } }], ['SELF_START']],
    ['a field of another system', [task('a'), task('b', { inputs: ['a'] })], ['UNKNOWN_FIELD']],
  ])('%s', (_, nodes, codes, more) => {
    expect(codesOf(nodes, more)).toEqual(codes);
  });
});

describe('U17 steps that are taken', () => {
  it.each<[string, unknown, object?]>([
    ['one step', [task('a')]],
    ['a chain', TWO],
    ['a step that is called as its pipeline', [task('steps')]],
    ['names with dots and capitals', [task('a.b'), task('B', { dependsOn: ['a.b'] })]],
    ['steps before their upstreams', [...TWO].reverse()],
    ['an input from a step further up', [...TWO, task('c', { dependsOn: ['b'], ...reads('$nodes.a.output.rows[0]') })]],
    ['the input of the run', [task('a', reads('$run.input.day'))]],
    ['several outputs', TWO, { output: { first: '{% $nodes.a.output %}', last: '{% $nodes.b.output %}' } }],
    ['an engine that is not there', [{ id: 'a', engine: 'nowhere', params: {} }]],
  ])('%s', (_, nodes, more) => {
    expect(codesOf(nodes, more)).toEqual([]);
  });
});
