/** Runs that wait for their turn behind runs that wait for them (C107). */
import { describe, expect, it } from 'vitest';
import { createInlineEvaluator } from '#adapters/jsonata/evaluate-template.ts';
import type { NodeDefinition, PipelineDefinition } from '#domain/definition.ts';
import type { RunRecord } from '#domain/run.ts';
import { chooser } from '#testing/chooser.ts';
import { type Faults, type Scenario, World } from './world.ts';

type Concurrency = NonNullable<PipelineDefinition['concurrency']>;

function calls(name: string, more: Partial<NodeDefinition> = {}): NodeDefinition {
  return { id: `calls ${name}`, engine: 'pipeline', params: { pipeline: name }, ...more };
}

/** `a` starts `b`, and `b` starts `a` again, which then only works. */
function indirect(concurrency: Concurrency, more: Partial<Scenario> = {}): Scenario {
  const work: NodeDefinition = { id: 'work', params: { function: 'f', payload: {} } };
  const isFirst = "{% $not($run.input.depth = 'two') %}";
  return {
    name: 'C107',
    evaluator: createInlineEvaluator(),
    definition: { name: 'a', concurrency, nodes: [calls('b', { when: isFirst }), work] },
    children: [
      {
        name: 'b',
        nodes: [{ id: 'again', engine: 'pipeline', params: { pipeline: 'a', input: { depth: 'two' } } }],
      },
    ],
    ...more,
  };
}

async function play(scenario: Scenario, faults: Faults = {}): Promise<World> {
  const world = new World(scenario, faults);
  await world.play(400);
  return world;
}

function outcomes(world: World): (readonly [pipeline: string, state: string, reason: string])[] {
  return world.runs.all().map(({ pipeline, state, reason }) => [pipeline, state, reason]);
}

function errorOf(world: World, at: number): RunRecord['error'] {
  const run = world.runs.all()[at];
  return run?.error ?? run?.firstBad?.error;
}

const DEADLOCKED = [
  ['a', 'FAILED', 'NodeFailed'],
  ['b', 'FAILED', 'NodeFailed'],
  ['a', 'FAILED', 'SelfDeadlock'],
];

describe('C107 a run whose ancestor holds the only slot that it needs', () => {
  it('fails, and so do the nodes above it, with its message', async () => {
    const world = await play(indirect({ maxActiveRuns: 1 }));
    expect(outcomes(world)).toEqual(DEADLOCKED);
    expect(errorOf(world, 2)?.name).toBe('Millrace.SelfDeadlock');
    expect(errorOf(world, 1)?.message).toContain('Millrace.SelfDeadlock: runs above this one hold every slot');
    expect(errorOf(world, 0)?.message).toContain('Millrace.SelfDeadlock');
    expect(world.runs.all()[2]?.nodes).toMatch(/^A+$/);
    // Without waiting for a tick.
    for (const { endedAt = Number.NaN } of world.runs.all()) expect(endedAt - world.beganAt).toBeLessThan(60_000);
  });

  it('is not taken for one that others keep waiting', async () => {
    const world = await play(indirect({ maxActiveRuns: 2 }));
    expect(outcomes(world).map(([, state]) => state)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED']);
  });

  it('does not stop those above it, where its pipeline says to stop who runs', async () => {
    const world = await play(indirect({ maxActiveRuns: 1, onOverlap: 'cancelRunning' }));
    expect(outcomes(world)).toEqual(DEADLOCKED);
  });

  it('is left out, where its pipeline says so', async () => {
    const world = await play(indirect({ maxActiveRuns: 1, onOverlap: 'skip' }));
    expect(outcomes(world)[2]).toEqual(['a', 'ABORTED', 'Overlap']);
  });

  it('ends by ticks alone, and after a crash at every await', { timeout: 120_000 }, async () => {
    const scenario = indirect({ maxActiveRuns: 1 });
    expect(outcomes(await play(scenario, { drop: true }))).toEqual(DEADLOCKED);
    const length = (await play(scenario)).trace.operations.length;
    for (let at = 0; at < length + 5; at++) {
      for (const when of ['before', 'after'] as const) {
        const world = await play(scenario, { at: new Map([[at, { kind: 'kill', when }]]) });
        expect(outcomes(world), `${when} ${at}`).toEqual(DEADLOCKED);
      }
    }
  });
});

describe('runs that wait for each other behind two slots', () => {
  it('end: the last one to come fails, and makes room for the others', { timeout: 120_000 }, async () => {
    const scenario = indirect({ maxActiveRuns: 2 }, { users: [[{ atMs: 1, kind: 'start', pipeline: 'a', key: 'k' }]] });
    let deadlocks = 0;
    for (let seed = 1; seed <= 40; seed++) {
      const world = await play(scenario, { choose: chooser(seed), copies: 2, loseOneIn: 10 });
      const all = outcomes(world);
      const ended = all.filter(([, state]) => state === 'SUCCEEDED' || state === 'FAILED');
      expect([all.length, ended.length], `seed ${seed}`).toEqual([6, 6]);
      deadlocks += all.filter(([, , reason]) => reason === 'SelfDeadlock').length;
    }
    expect(deadlocks).toBeGreaterThan(0);
  });
});

describe('C107 in a pool', () => {
  it('parent and child both succeed: a pipeline node takes no slot', async () => {
    const pooled: NodeDefinition = { id: 'work', params: { function: 'f', payload: {} }, pool: 'db' };
    const world = await play({
      name: 'pooled',
      definition: { name: 'parent', nodes: [calls('child', { pool: 'db' })] },
      children: [{ name: 'child', nodes: [pooled] }],
      slots: [['pool/db', 1]],
    });
    expect(outcomes(world).map(([, state]) => state)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
  });
});
