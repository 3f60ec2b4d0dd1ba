import { describe, expect, it } from 'vitest';
import { compileEventPattern, EventPatternError, PATTERN_DEPTH } from '#local/event-pattern.ts';

const EVENT = {
  version: '0',
  source: 'aws.states',
  'detail-type': 'Step Functions Execution Status Change',
  resources: ['arn:one', 'arn:two'],
  detail: {
    name: 'millrace-run-1',
    status: 'SUCCEEDED',
    count: 5,
    flag: true,
    nothing: null,
    empty: [],
    tags: ['red', 'green'],
    nested: { deep: 'x' },
    rows: [
      { kind: 'a', size: 1 },
      { kind: 'b', size: 2 },
    ],
  },
};

function matches(pattern: unknown, event: Readonly<Record<string, unknown>> = EVENT): boolean {
  return compileEventPattern(pattern)(event);
}

function problem(pattern: unknown): string {
  try {
    compileEventPattern(pattern);
  } catch (error) {
    if (error instanceof EventPatternError) return error.message;
    throw error;
  }
  return 'no problem';
}

describe('compileEventPattern', () => {
  it.each([
    ['an exact value', { source: ['aws.states'] }, true],
    ['one of several values', { source: ['x', 'aws.states'] }, true],
    ['another value', { source: ['x'] }, false],
    ['every field', { source: ['aws.states'], detail: { status: ['FAILED'] } }, false],
    ['a number', { detail: { count: [5] } }, true],
    ['a number as text', { detail: { count: ['5'] } }, false],
    ['a boolean', { detail: { flag: [true] } }, true],
    ['null', { detail: { nothing: [null] } }, true],
    ['null where the field is missing', { detail: { missing: [null] } }, false],
    ['an element of a list', { detail: { tags: ['green'] } }, true],
    ['objects in a list, all in one element', { detail: { rows: { kind: ['a'], size: [1] } } }, true],
    ['objects in a list, spread over elements', { detail: { rows: { kind: ['a'], size: [2] } } }, false],
    ['prefix', { detail: { name: [{ prefix: 'millrace-' }] } }, true],
    ['prefix of something else', { detail: { name: [{ prefix: 'other-' }] } }, false],
    ['prefix of no text', { detail: { count: [{ prefix: '5' }] } }, false],
    ['prefix in any case', { detail: { name: [{ prefix: { 'equals-ignore-case': 'MILLRACE-' } }] } }, true],
    ['suffix', { detail: { name: [{ suffix: '-1' }] } }, true],
    ['equals-ignore-case', { detail: { status: [{ 'equals-ignore-case': 'succeeded' }] } }, true],
    ['anything-but another value', { detail: { status: [{ 'anything-but': 'FAILED' }] } }, true],
    ['anything-but the value', { detail: { status: [{ 'anything-but': ['FAILED', 'SUCCEEDED'] }] } }, false],
    ['anything-but a number', { detail: { count: [{ 'anything-but': [5] }] } }, false],
    ['anything-but a missing field', { detail: { missing: [{ 'anything-but': 'x' }] } }, false],
    ['anything-but a prefix', { source: [{ 'anything-but': { prefix: 'aws.' } }] }, false],
    ['anything-but prefixes', { source: [{ 'anything-but': { prefix: ['a.', 'b.'] } }] }, true],
    ['anything-but a suffix', { source: [{ 'anything-but': { suffix: '.states' } }] }, false],
    ['anything-but in any case', { source: [{ 'anything-but': { 'equals-ignore-case': 'AWS.STATES' } }] }, false],
    ['anything-but with a list that has another element', { detail: { tags: [{ 'anything-but': 'red' }] } }, true],
    ['exists', { detail: { nothing: [{ exists: true }] } }, true],
    ['exists of a missing field', { detail: { missing: [{ exists: true }] } }, false],
    ['exists false', { detail: { missing: [{ exists: false }] } }, true],
    ['exists false below a missing field', { detail: { missing: { child: [{ exists: false }] } } }, true],
    ['exists false of what is there', { detail: { status: [{ exists: false }] } }, false],
    ['exists of an empty list', { detail: { empty: [{ exists: true }] } }, false],
    ['exists of an object, which is no leaf', { detail: { nested: [{ exists: true }] } }, false],
    ['exists of a name that every object inherits', { detail: { constructor: [{ exists: true }] } }, false],
    ['numeric', { detail: { count: [{ numeric: ['>', 0, '<=', 5] }] } }, true],
    ['numeric outside', { detail: { count: [{ numeric: ['>', 5] }] } }, false],
    ['numeric of a text', { detail: { status: [{ numeric: ['>', 0] }] } }, false],
    ['$or', { $or: [{ source: ['x'] }, { detail: { count: [5] } }] }, true],
    ['$or of nothing true', { $or: [{ source: ['x'] }, { detail: { count: [6] } }] }, false],
    [
      '$or beside another field',
      { source: ['x'], $or: [{ source: ['aws.states'] }, { detail: { count: [5] } }] },
      false,
    ],
    ['$or within detail', { detail: { $or: [{ status: ['FAILED'] }, { count: [5] }] } }, true],
  ])('tells whether %s matches', (_what, pattern, expected) => {
    expect(matches(pattern)).toBe(expected);
  });

  it('applies a nested anything-but prefix to each event', () => {
    const pattern = { detail: { id: [{ 'anything-but': { prefix: 'T-' } }] } };
    expect(['T-1', 'U-1'].map((id) => matches(pattern, { detail: { id } }))).toEqual([false, true]);
  });

  it.each([
    ['an empty pattern', {}, 'an empty object would match everything'],
    ['an empty object inside', { detail: {} }, 'detail: an empty object would match everything'],
    ['a misspelt field', { sorce: ['x'] }, /^sorce: an event has no such field/],
    ['a misspelt field in $or', { $or: [{ sorce: ['x'] }, { source: ['x'] }] }, /^sorce: an event has no such field/],
    ['an empty list', { detail: { n: [] } }, 'detail.n: an empty list would match nothing'],
    ['a bare value', { source: 'x' }, 'source: takes a list of values, or an object'],
    ['an unknown operator', { source: [{ wildcard: '*' }] }, /^source\.wildcard: this operator is not hosted/],
    ['two operators in one', { source: [{ prefix: 'a', suffix: 'b' }] }, 'source: an operator is an object of one key'],
    [
      'an unknown operator in anything-but',
      { source: [{ 'anything-but': { cidr: 'x' } }] },
      /^source\.anything-but: takes/,
    ],
    ['an empty anything-but', { source: [{ 'anything-but': [] }] }, 'source.anything-but: the list is empty'],
    [
      'an operator in an anything-but list',
      { source: [{ 'anything-but': [{ prefix: 'a' }] }] },
      /^source\.anything-but: takes/,
    ],
    ['a prefix that is no text', { source: [{ prefix: 5 }] }, 'source.prefix: takes a text'],
    ['a bad comparison', { detail: { n: [{ numeric: ['!', 5] }] } }, /^detail\.n\.numeric: takes a list/],
    ['exists without a boolean', { detail: { n: [{ exists: 'yes' }] } }, 'detail.n.exists: takes true or false'],
    ['$or of one', { $or: [{ source: ['x'] }] }, '$or: takes a list of at least two patterns'],
    ['a text', 'source', 'a pattern is an object'],
  ])('refuses %s, naming it', (_what, pattern, message) => {
    expect(problem(pattern)).toMatch(message);
  });

  it('refuses a pattern nested deeper than the limit', () => {
    const nested = (depth: number): unknown => (depth === 0 ? ['x'] : { a: nested(depth - 1) });
    expect(problem({ detail: nested(PATTERN_DEPTH) })).toMatch(/nested deeper than 32/);
    expect(problem({ detail: nested(PATTERN_DEPTH - 1) })).toBe('no problem');
  });
});
