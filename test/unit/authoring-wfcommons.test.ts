import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { InvalidDefinitionError, importWfCommons, type WfcommonsOptions } from '#authoring/index.ts';
import type { DefinitionError } from '#domain/definition.ts';

const text = readFileSync(new URL('../fixtures/wfformat/diamond.json', import.meta.url), 'utf8');

/** Errors of the sample after a replacement in its text, which must change something. */
function errorsAfter(from: string, to: string): readonly DefinitionError[] {
  expect(text).toContain(from);
  return errorsOf(text.replace(from, to));
}

function errorsOf(document: string, options?: WfcommonsOptions): readonly DefinitionError[] {
  try {
    importWfCommons(document, options);
  } catch (error) {
    if (error instanceof InvalidDefinitionError) return error.errors;
    throw error;
  }
  return [];
}

describe('importWfCommons', () => {
  it('makes a node of each task, with its id, its parents and its run time', () => {
    const { name, nodes } = importWfCommons(text, { timeScale: 0.1, functionName: 'sleep' });
    expect(name).toBe('Diamond-4-tasks-');
    expect(nodes).toEqual([
      {
        id: 'split_1',
        engine: 'lambda',
        params: { function: 'sleep', payload: { seconds: 0.15, task: 'split_1' } },
        timeoutSeconds: 61,
      },
      {
        id: 'left_2',
        engine: 'lambda',
        dependsOn: ['split_1'],
        params: { function: 'sleep', payload: { seconds: 2, task: 'left_2' } },
        timeoutSeconds: 66,
      },
      {
        id: 'right_3',
        engine: 'lambda',
        dependsOn: ['split_1'],
        params: { function: 'sleep', payload: { seconds: 0, task: 'right_3' } },
        timeoutSeconds: 60,
      },
      {
        id: 'merge_4',
        engine: 'lambda',
        dependsOn: ['left_2', 'right_3'],
        params: { function: 'sleep', payload: { seconds: 0.325, task: 'merge_4' } },
        timeoutSeconds: 61,
      },
    ]);
  });

  it('keeps the recorded times and calls "work" unless told otherwise', () => {
    const [split] = importWfCommons(text).nodes;
    expect(split?.params).toEqual({ function: 'work', payload: { seconds: 1.5, task: 'split_1' } });
  });

  it.each([
    ['---', 'workflow'],
    ['  .x y/z ', 'x-y-z-'],
    ['n'.repeat(300), 'n'.repeat(128)],
  ])('makes a valid pipeline name of %j', (from, to) => {
    expect(importWfCommons(text.replace('Diamond (4 tasks)', from)).name).toBe(to);
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('refuses a time scale of %s', (timeScale) => {
    expect(() => importWfCommons(text, { timeScale })).toThrow(RangeError);
  });

  it('refuses other versions', () => {
    expect(errorsAfter('"1.5"', '"1.4"')).toMatchObject([
      { code: 'UNSUPPORTED_VERSION', path: 'schemaVersion', value: '1.4', allowed: '1.5', line: 5, column: 20 },
    ]);
    expect(errorsAfter('"schemaVersion": "1.5",', '')).toMatchObject([{ code: 'UNSUPPORTED_VERSION' }]);
  });

  it('names both tasks of an edge that only one of them knows', () => {
    const [error, ...others] = errorsAfter('"parents": ["left_2", "right_3"]', '"parents": ["left_2"]');
    expect(others).toEqual([]);
    expect(error).toMatchObject({
      code: 'EDGE_MISMATCH',
      path: 'workflow.specification.tasks[2].children[0]',
      line: 11,
      column: 82,
    });
    expect(error?.message).toBe(
      'task "right_3" has "merge_4" as its child, but "merge_4" does not have "right_3" as its parent',
    );
    expect(errorsAfter('"children": ["left_2", "right_3"]', '"children": ["left_2"]')).toMatchObject([
      { code: 'EDGE_MISMATCH', path: 'workflow.specification.tasks[2].parents[0]' },
    ]);
  });

  it('refuses edges to tasks that are not there', () => {
    expect(errorsAfter('"children": []', '"children": ["gone"]')).toMatchObject([
      { code: 'UNKNOWN_DEPENDENCY', path: 'workflow.specification.tasks[3].children[0]', value: 'gone' },
    ]);
    expect(errorsAfter('"parents": []', '"parents": ["gone"]')).toMatchObject([
      { code: 'UNKNOWN_DEPENDENCY', path: 'workflow.specification.tasks[0].parents[0]', value: 'gone' },
    ]);
  });

  it('wants exactly one run time for each task', () => {
    expect(errorsAfter('{ "id": "left_2", "runtimeInSeconds": 20 },', '')).toMatchObject([
      { code: 'MISSING_RUNTIME', path: 'workflow.specification.tasks[1].id', value: 'left_2' },
    ]);
    expect(errorsAfter('"id": "left_2", "runtime', '"id": "right_3", "runtime').map(({ code }) => code)).toEqual([
      'DUPLICATE_RUNTIME',
      'MISSING_RUNTIME',
    ]);
    expect(errorsAfter('"id": "left_2", "runtime', '"id": "other", "runtime').map(({ code }) => code)).toEqual([
      'UNKNOWN_TASK',
      'MISSING_RUNTIME',
    ]);
  });

  it.each([
    ['a negative run time', '"runtimeInSeconds": 20', '"runtimeInSeconds": -20', 'INVALID_FIELD'],
    ['a run time as text', '"runtimeInSeconds": 20', '"runtimeInSeconds": "20"', 'INVALID_TYPE'],
    ['a misspelt field', '"parents": ["split_1"]', '"parent": ["split_1"]', 'INVALID_TYPE'],
    ['a parent that is no text', '"parents": ["split_1"]', '"parents": [null]', 'INVALID_TYPE'],
    ['no tasks', '"specification"', '"other"', 'INVALID_TYPE'],
    ['a key twice', '"name": "left"', '"name": "x", "name": "left"', 'DUPLICATE_KEY'],
    ['broken JSON', '"parents": [],', '"parents": [', 'INVALID_JSON'],
  ])('refuses %s with its place', (_, from, to, code) => {
    const errors = errorsAfter(from, to);
    expect(errors.map((error) => error.code)).toContain(code);
    for (const error of errors) expect(error.line).toBeGreaterThan(0);
  });

  it('names tasks that wait for each other by their place in the document', () => {
    const circle = text
      .replace('"parents": [],', '"parents": ["merge_4"],')
      .replace('"children": [] }', '"children": ["split_1"] }');
    expect(errorsOf(circle)).toMatchObject([
      { code: 'CYCLE', path: 'workflow.specification.tasks[0].parents[0]', value: ['split_1', 'left_2', 'merge_4'] },
    ]);
  });

  it('refuses the same task twice', () => {
    expect(errorsAfter('"id": "right_3", "parents"', '"id": "left_2", "parents"').map(({ code }) => code)).toContain(
      'DUPLICATE_NODE_ID',
    );
  });
});
