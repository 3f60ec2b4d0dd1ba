/** Step Functions that throttles, refuses, does not answer, or answers what was: the work itself never fails for it. */
import { describe, expect, it } from 'vitest';
import type { NodeDefinition } from '#domain/definition.ts';
import { statusOf } from '#domain/node-status.ts';
import type { Evaluator } from '#ports/index.ts';
import { chooser } from '#testing/chooser.ts';
import type { Faults, OperationFault } from '#testing/faults.ts';
import { SCENARIOS } from './scenarios.ts';
import { type Scenario, type Script, World } from './world.ts';

function node(id: string, dependsOn: string[] = [], more: Partial<NodeDefinition> = {}): NodeDefinition {
  return { id, dependsOn, params: { function: 'f', payload: {} }, ...more };
}

async function play(scenario: Scenario, faults: Faults = {}, maxTicks?: number): Promise<World> {
  const world = new World(scenario, faults);
  await world.play(maxTicks);
  return world;
}

function statesOf(world: World): Record<string, string> {
  const run = world.runs.latest(world.run?.id ?? '');
  const states = world.pipeline.nodes.map(({ id, index }) => [id, statusOf(run.nodes.charCodeAt(index)).state]);
  return { run: run.state, ...Object.fromEntries(states) };
}

const REFUSED: Script = { durationMs: 0, end: { status: 'SUCCEEDED' }, isRefused: true };

describe('an engine that throttles', () => {
  it('C92 takes a hundred nodes at one a second: each has one attempt, and a bad one fails at once', async () => {
    const nodes = Array.from({ length: 100 }, (_, place) => node(`n${place}`));
    const world = await play(
      {
        name: 'C92',
        definition: { name: 'c92', nodes: [...nodes, node('bad')] },
        script: (id) => (id === 'bad' ? REFUSED : undefined),
      },
      { startsPerSecond: 1 },
    );
    const { run, bad, ...others } = statesOf(world);
    expect({ run, bad, others: new Set(Object.values(others)) }).toEqual({
      run: 'FAILED',
      bad: 'FAILED',
      others: new Set(['SUCCEEDED']),
    });
    expect(world.trace.starts).toHaveLength(100);
    expect(world.trace.starts.every(({ name }) => name.endsWith('-1'))).toBe(true);
    // The rate of asking backs off: each start is asked for a few times, not once a second until it is its turn.
    const asked = world.trace.operations.filter((operation) => operation.includes('executions.start')).length;
    expect(asked).toBeLessThan(1_000);
  });

  it('shows a throttled start as such, and asks again without waiting for the tick', async () => {
    const world = await play(
      { name: 'throttled', definition: { name: 'throttled', nodes: [node('a'), node('b')] } },
      { startsPerSecond: 1 },
    );
    const [first, second] = world.trace.starts.map(({ at }) => at - world.beganAt);
    expect(first).toBe(0);
    expect(second).toBeLessThanOrEqual(3_000);
  });
});

describe('an engine out of reach', () => {
  it('T19 C95 for half a minute while it works: the execution is the same, and the run succeeds', async () => {
    const world = await play(
      {
        name: 'C95',
        definition: { name: 'c95', nodes: [node('a')] },
        script: () => ({ durationMs: 60_000, end: { status: 'SUCCEEDED', output: '{}' } }),
      },
      { outage: { fromMs: 10_000, toMs: 40_000 }, tickMs: 5_000, drop: true },
    );
    expect(statesOf(world)).toEqual({ run: 'SUCCEEDED', a: 'SUCCEEDED' });
    expect(world.trace.starts).toHaveLength(1);
  });

  it('asks no more often than its messages say while a throttled start stays unanswered', async () => {
    const world = await play(
      { name: 'outage', definition: { name: 'outage', nodes: [node('a')] } },
      { outage: { fromMs: 0, toMs: 300_000 } },
    );
    expect(statesOf(world)).toEqual({ run: 'SUCCEEDED', a: 'SUCCEEDED' });
    expect(world.trace.operations.length).toBeLessThan(120);
  });

  it('does not time an attempt out that ended in time while nobody could tell', async () => {
    const world = await play(
      {
        name: 'unseen',
        definition: { name: 'unseen', nodes: [node('a', [], { timeoutSeconds: 30 })] },
        script: () => ({ durationMs: 1_000, end: { status: 'FAILED', error: { name: 'Broken', message: 'told so' } } }),
      },
      { outage: { fromMs: 500, toMs: 100_000 }, tickMs: 5_000 },
    );
    expect(statesOf(world)).toEqual({ run: 'FAILED', a: 'FAILED' });
  });

  it('ends an attempt unseen that nobody could look at until long after its time', async () => {
    const world = await play(
      {
        name: 'denied',
        definition: { name: 'denied', nodes: [node('a', [], { timeoutSeconds: 30 })] },
        script: () => ({ durationMs: 10_000_000, end: { status: 'SUCCEEDED', output: '{}' } }),
      },
      { outage: { fromMs: 500, toMs: 1_000_000 }, drop: true },
    );
    expect(statesOf(world)).toEqual({ run: 'FAILED', a: 'TIMED_OUT' });
  });

  it('lets the time of an attempt run from its start, however late that came and whoever died after it', async () => {
    const world = await play(
      {
        name: 'late start',
        definition: { name: 'late', nodes: [node('a', [], { timeoutSeconds: 30 })] },
        script: () => ({ durationMs: 20_000, end: { status: 'SUCCEEDED', output: '{}' } }),
      },
      // The first pass dies before it starts the attempt, the second after it did and before it can say so.
      { at: new Map([[2, kill('before')] as const, [10, kill('after')] as const]) },
    );
    expect(world.trace.operations[10]).toBe('pass4 executions.start (kill after)');
    expect(statesOf(world)).toEqual({ run: 'SUCCEEDED', a: 'SUCCEEDED' });
  });
});

describe('an evaluator out of reach', () => {
  it('T26 holds a start up that is asked for again, for as long as it takes', async () => {
    let calls = 0;
    const evaluator: Evaluator = {
      evaluate: async (requests) => {
        calls += 1;
        return calls === 1 || calls > 12 ? requests.map(() => ({ ok: true, value: { function: 'f' } })) : [];
      },
    };
    const params = { function: 'f', payload: '{% $run.id %}' };
    const world = await play(
      { name: 'unreached', definition: { name: 'unreached', nodes: [node('a', [], { params })] }, evaluator },
      // The pass that decides the attempt dies before it starts it.
      { at: new Map([[4, kill('before')]]) },
    );
    expect(world.trace.operations[4]).toContain('executions.start');
    expect(statesOf(world)).toEqual({ run: 'SUCCEEDED', a: 'SUCCEEDED' });
    expect(world.trace.starts).toHaveLength(1);
  });
});

describe('an engine that refuses', () => {
  it('fails the attempt, which is retried as its policy says', async () => {
    const retry = { maxAttempts: 3, intervalSeconds: 1 };
    const scenario = (refusals: number): Scenario => ({
      name: 'refused',
      definition: { name: 'refused', nodes: [node('a', [], { retry }), node('b', ['a'])] },
      script: (id, attempt) => (id === 'a' && attempt <= refusals ? REFUSED : undefined),
    });
    expect(statesOf(await play(scenario(1)))).toEqual({ run: 'SUCCEEDED', a: 'SUCCEEDED', b: 'SUCCEEDED' });
    expect(statesOf(await play(scenario(3)))).toEqual({ run: 'FAILED', a: 'FAILED', b: 'UPSTREAM_FAILED' });
  });
});

function kill(when: 'before' | 'after'): OperationFault {
  return { kind: 'kill', when };
}

describe('a run whose port calls fail', () => {
  for (const scenario of SCENARIOS) {
    it(`${scenario.name}: any one of them, before and after it took effect`, async () => {
      for (const faults of [{}, { drop: true }, { drop: true, tickMs: 5_000 }]) await everyFailure(scenario, faults);
    });

    it(`${scenario.name}: with answers that lag, clocks that differ, and a due index that does too`, async () => {
      for (let seed = 1; seed <= 60; seed++) {
        const choose = chooser(seed * 104_729);
        const lags = { staleMs: 1_000, skewMs: 999, isIndexStale: true, lateMs: choose(2) * 3_000 };
        const world = await play(scenario, { choose, ...lags, loseOneIn: 2 + choose(3) });
        if (scenario.expected) expect(vectorOf(world)).toEqual(scenario.expected);
      }
    });
  }
});

async function everyFailure(scenario: (typeof SCENARIOS)[number], faults: Faults): Promise<void> {
  for (let at = 0; ; at++) {
    let isReached = false;
    for (const when of ['before', 'after'] as const) {
      const world = await play(scenario, { ...faults, at: new Map([[at, { kind: 'fail', when }]]) });
      isReached = world.trace.operations.length > at;
      if (scenario.expected) expect(vectorOf(world), `${when} ${at}`).toEqual(scenario.expected);
    }
    if (!isReached) return;
  }
}

function vectorOf(world: World): { state: string; nodes: string } {
  const { state, nodes } = world.runs.latest(world.run?.id ?? '');
  return { state, nodes };
}
