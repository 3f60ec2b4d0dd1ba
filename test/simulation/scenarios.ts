import type { NodeDefinition } from '#domain/definition.ts';
import type { Scenario, Script } from './world.ts';

function node(id: string, dependsOn: string[] = [], more: Partial<NodeDefinition> = {}): NodeDefinition {
  return { id, dependsOn, params: { function: 'f', payload: {} }, ...more };
}

function failure(name: string): Script {
  return { durationMs: 1_000, end: { status: 'FAILED', error: { name, message: 'told so' } } };
}

/** What a scenario has to come to when nothing is stopped: the run's state and the vector in topological order. */
export interface Expected {
  readonly state: string;
  readonly nodes: string;
}

/** Small scenarios whose every crash point is tried. */
export const SCENARIOS: readonly (Scenario & { readonly expected?: Expected })[] = [
  {
    name: 'chain',
    definition: { name: 'chain', nodes: [node('a'), node('b', ['a']), node('c', ['b'])] },
    expected: { state: 'SUCCEEDED', nodes: 'SSS' },
  },
  {
    name: 'diamond',
    definition: { name: 'diamond', nodes: [node('a'), node('b', ['a']), node('c', ['a']), node('d', ['b', 'c'])] },
    expected: { state: 'SUCCEEDED', nodes: 'SSSS' },
  },
  {
    name: 'retry',
    definition: {
      name: 'retry',
      nodes: [node('a', [], { retry: { maxAttempts: 3, intervalSeconds: 2 } }), node('b', ['a'])],
    },
    script: (id, attempt) => (id === 'a' && attempt < 3 ? failure('Flaky') : undefined),
    expected: { state: 'SUCCEEDED', nodes: 'SS' },
  },
  {
    name: 'failure beside success',
    definition: { name: 'failure', nodes: [node('a'), node('x'), node('b', ['a']), node('y', ['x', 'b'])] },
    script: (id) => (id === 'x' ? failure('Broken') : undefined),
    expected: { state: 'FAILED', nodes: 'SFSU' },
  },
  {
    name: 'timeout',
    definition: {
      name: 'timeout',
      nodes: [node('a', [], { timeoutSeconds: 5 }), node('b', ['a'], { trigger: 'all_done' })],
    },
    script: (id) => (id === 'a' ? { durationMs: 10_000_000, end: { status: 'SUCCEEDED', output: '{}' } } : undefined),
    expected: { state: 'FAILED', nodes: 'TS' },
  },
  {
    name: 'stop while running',
    definition: { name: 'stop', nodes: [node('a'), node('b', ['a']), node('c', ['b'])] },
    script: () => ({ durationMs: 30_000, end: { status: 'SUCCEEDED', output: '{}' } }),
    stopAtMs: 10_000,
    expected: { state: 'ABORTED', nodes: 'AAA' },
  },
  {
    name: 'stop race',
    definition: { name: 'race', nodes: [node('a')] },
    stopAtMs: 1_000,
  },
  {
    name: 'stop while waiting for a retry',
    definition: {
      name: 'stopretry',
      nodes: [node('a', [], { retry: { maxAttempts: 3, intervalSeconds: 60 } }), node('b', ['a'])],
    },
    script: (id) => (id === 'a' ? failure('Flaky') : undefined),
    stopAtMs: 10_000,
  },
  {
    name: 'fail fast',
    definition: {
      name: 'failfast',
      failFast: true,
      nodes: [node('x'), node('y'), node('v', ['x', 'y'], { trigger: 'all_done' })],
    },
    script: (id) =>
      id === 'x' ? failure('Broken') : { durationMs: 600_000, end: { status: 'SUCCEEDED', output: '{}' } },
    expected: { state: 'FAILED', nodes: 'Fff' },
  },
  {
    name: 'pause and resume',
    definition: {
      name: 'pause',
      nodes: [node('a'), node('b', [], { retry: { maxAttempts: 2, intervalSeconds: 5 } }), node('c', ['a', 'b'])],
    },
    script: (id, attempt) => (id === 'b' && attempt === 1 ? failure('Flaky') : undefined),
    pauses: [{ fromMs: 500, toMs: 90_000 }],
    expected: { state: 'SUCCEEDED', nodes: 'SSS' },
  },
  {
    name: 'stop while paused',
    definition: { name: 'pausestop', nodes: [node('a'), node('b', ['a'])] },
    script: () => ({ durationMs: 20_000, end: { status: 'SUCCEEDED', output: '{}' } }),
    pauses: [{ fromMs: 500, toMs: 400_000 }],
    stopAtMs: 200_000,
  },
];
