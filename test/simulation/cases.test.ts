/** Cases about runs (C…), each played by the real pass and tick in a simulated world. */
import { describe, expect, it } from 'vitest';
import type { NodeDefinition, PipelineDefinition, TriggerRule } from '#domain/definition.ts';
import { TRIGGER_RULES } from '#domain/definition.ts';
import { statusOf } from '#domain/node-status.ts';
import { type Faults, type Script, World } from './world.ts';

function node(id: string, dependsOn: string[] = [], more: Partial<NodeDefinition> = {}): NodeDefinition {
  return { id, dependsOn, params: { function: 'f', payload: {} }, ...more };
}

function ok(durationMs = 1_000): Script {
  return { durationMs, end: { status: 'SUCCEEDED', output: '{}' } };
}

function bad(durationMs = 1_000, name = 'Broken'): Script {
  return { durationMs, end: { status: 'FAILED', error: { name, message: 'told so' } } };
}

const HANGS = ok(10 ** 9);

interface Played {
  readonly world: World;
  readonly state: string;
  readonly nodes: Record<string, string>;
  /** When attempts were started, in seconds after the run was made. */
  readonly starts: (id: string) => number[];
  readonly endedAfter: number;
}

async function play(
  definition: Omit<PipelineDefinition, 'name'>,
  script: (id: string, attempt: number) => Script | undefined = () => undefined,
  more: { stopAtMs?: number; faults?: Faults; maxTicks?: number } = {},
): Promise<Played> {
  const scenario = {
    name: 'case',
    definition: { name: 'case', ...definition },
    script,
    ...(more.stopAtMs !== undefined && { stopAtMs: more.stopAtMs }),
  };
  const world = new World(scenario, more.faults);
  await world.play(more.maxTicks);
  const run = await world.runs.readRun(world.run?.id ?? '');
  if (!run) throw new Error('the run is gone');
  const states = world.pipeline.nodes.map(
    ({ id, index }) => [id, statusOf(run.nodes.charCodeAt(index)).state] as const,
  );
  const starts = (id: string) =>
    world.trace.starts
      .filter(({ name }) => name.split('-')[3] === String(world.pipeline.indexOf.get(id)))
      .map(({ at }) => Math.round((at - run.createdAt) / 1000));
  return {
    world,
    state: run.state,
    nodes: Object.fromEntries(states),
    starts,
    endedAfter: Math.round(((run.endedAt ?? 0) - run.createdAt) / 1000),
  };
}

describe('trigger rules in a run', () => {
  it('C16 a join is not decided before its other upstream has ended', async () => {
    const { state, nodes, starts } = await play(
      {
        nodes: [
          node('br'),
          node('x', ['br']),
          node('a', ['br']),
          node('b', ['x'], { trigger: 'one_failed' }),
          node('j', ['a', 'b'], { trigger: 'none_failed_min_one_success' }),
        ],
      },
      (id) => (id === 'a' ? ok(10_000) : undefined),
    );
    expect({ state, ...nodes }).toEqual({
      state: 'SUCCEEDED',
      br: 'SUCCEEDED',
      x: 'SUCCEEDED',
      a: 'SUCCEEDED',
      b: 'SKIPPED',
      j: 'SUCCEEDED',
    });
    expect(starts('j')).toEqual([11]);
  });

  const afterSkips: Record<TriggerRule, string> = {
    all_success: 'SKIPPED',
    all_done: 'SUCCEEDED',
    one_success: 'SKIPPED',
    one_failed: 'SKIPPED',
    all_failed: 'SKIPPED',
    none_failed: 'SUCCEEDED',
    none_failed_min_one_success: 'SKIPPED',
    none_skipped: 'SKIPPED',
    always: 'SUCCEEDED',
  };
  for (const rule of TRIGGER_RULES) {
    it(`C19 all upstreams skipped: ${rule}`, async () => {
      const skipped = (id: string) => node(id, ['root'], { trigger: 'one_failed' });
      const { state, nodes } = await play({
        nodes: [node('root'), skipped('u1'), skipped('u2'), node('j', ['u1', 'u2'], { trigger: rule })],
      });
      expect({ state, u1: nodes['u1'], u2: nodes['u2'], j: nodes['j'] }).toEqual({
        state: 'SUCCEEDED',
        u1: 'SKIPPED',
        u2: 'SKIPPED',
        j: afterSkips[rule],
      });
    });
  }

  it('C20 what stands below a join of failures is not failed before the join has run', async () => {
    const { state, nodes } = await play(
      {
        nodes: [
          node('f'),
          node('s'),
          node('j', ['f', 's'], { trigger: 'all_done' }),
          node('k', ['j']),
          node('l', ['k']),
        ],
      },
      (id) => (id === 'f' ? bad() : ok(5_000)),
    );
    expect({ state, ...nodes }).toEqual({
      state: 'FAILED',
      f: 'FAILED',
      s: 'SUCCEEDED',
      j: 'SUCCEEDED',
      k: 'SUCCEEDED',
      l: 'SUCCEEDED',
    });
  });

  it('C22 one_success without a success: failed if an upstream is bad, else skipped', async () => {
    const join = [node('j', ['u1', 'u2'], { trigger: 'one_success' }), node('k', ['j'])];
    const skip = (id: string) => node(id, ['root'], { trigger: 'one_failed' });
    const failed = await play({ nodes: [node('root'), node('u1'), skip('u2'), ...join] }, (id) =>
      id === 'u1' ? bad() : undefined,
    );
    expect([failed.state, failed.nodes['j'], failed.nodes['k']]).toEqual([
      'FAILED',
      'UPSTREAM_FAILED',
      'UPSTREAM_FAILED',
    ]);
    const skipped = await play({ nodes: [node('root'), skip('u1'), skip('u2'), ...join] });
    expect([skipped.state, skipped.nodes['j'], skipped.nodes['k']]).toEqual(['SUCCEEDED', 'SKIPPED', 'SKIPPED']);
  });

  it('C23 a failure that will be retried is not final', async () => {
    const { state, nodes } = await play(
      {
        nodes: [
          node('a', [], { retry: { maxAttempts: 2, intervalSeconds: 30 } }),
          node('n', ['a'], { trigger: 'one_failed' }),
        ],
      },
      (_, attempt) => (attempt === 1 ? bad() : ok()),
    );
    expect({ state, ...nodes }).toEqual({ state: 'SUCCEEDED', a: 'SUCCEEDED', n: 'SKIPPED' });
  });

  it('an allowed failure fails neither the run nor, through it, what stands below', async () => {
    const { state, nodes } = await play(
      { nodes: [node('a', [], { allowFailure: true }), node('b', ['a']), node('c', ['b'])] },
      (id) => (id === 'a' ? bad() : undefined),
    );
    expect({ state, ...nodes }).toEqual({
      state: 'SUCCEEDED',
      a: 'FAILED',
      b: 'UPSTREAM_FAILED',
      c: 'UPSTREAM_FAILED',
    });
  });
});

describe('failures beside others', () => {
  it('C28 without fail-fast the other branch finishes', async () => {
    const { state, nodes, starts } = await play(
      {
        nodes: [
          node('A'),
          node('B', ['A'], { retry: { maxAttempts: 3 } }),
          node('C', ['A'], { retry: { maxAttempts: 4 } }),
          node('D', ['B']),
          node('E', ['D']),
        ],
      },
      (id) => (id === 'C' ? bad() : id === 'B' ? ok(30_000) : undefined),
    );
    expect({ state, ...nodes }).toEqual({
      state: 'FAILED',
      A: 'SUCCEEDED',
      B: 'SUCCEEDED',
      C: 'FAILED',
      D: 'SUCCEEDED',
      E: 'SUCCEEDED',
    });
    expect(starts('C')).toHaveLength(4);
  });

  it('C29 with fail-fast nothing is left running and the run ends only then', async () => {
    const { world, state, nodes } = await play(
      {
        failFast: true,
        nodes: [node('x'), node('y'), node('z'), node('w', ['y']), node('v', ['x', 'z'], { trigger: 'all_done' })],
      },
      (id) => (id === 'x' ? bad() : ok(600_000)),
    );
    expect({ state, ...nodes }).toEqual({
      state: 'FAILED',
      x: 'FAILED',
      y: 'ABORTED',
      z: 'ABORTED',
      w: 'ABORTED',
      v: 'ABORTED',
    });
    const statuses = [...world.executions.started.values()].map((execution) => execution.status);
    expect(statuses).toEqual(['FAILED', 'ABORTED', 'ABORTED']);
  });
});

describe('retries', () => {
  it('C31 no wait follows the last attempt', async () => {
    const { state, starts, endedAfter } = await play(
      { nodes: [node('a', [], { retry: { maxAttempts: 3, intervalSeconds: 60 } }), node('b', ['a'])] },
      () => bad(0),
    );
    expect([state, starts('a'), endedAfter]).toEqual(['FAILED', [0, 60, 180], 180]);
  });

  it('C34 a deadline of the run ends attempts of any number', async () => {
    const { state, nodes, starts, endedAfter } = await play(
      {
        timeoutSeconds: 25,
        nodes: [node('a', [], { timeoutSeconds: 10, retry: { maxAttempts: 6, intervalSeconds: 0 } })],
      },
      () => ({ durationMs: 10_000, end: { status: 'TIMED_OUT' } }),
      { faults: { tickMs: 1_000 } },
    );
    expect([state, nodes['a'], starts('a')]).toEqual(['TIMED_OUT', 'TIMED_OUT', [0, 10, 20]]);
    expect(endedAfter).toBeLessThanOrEqual(26);
  });

  it('C35 the second attempt times out too', async () => {
    const { state, starts } = await play(
      { nodes: [node('a', [], { timeoutSeconds: 5, retry: { maxAttempts: 3, intervalSeconds: 0 } })] },
      (_, attempt) => (attempt === 1 ? bad() : attempt === 2 ? HANGS : ok()),
      { faults: { tickMs: 1_000 } },
    );
    expect([state, starts('a').length, (starts('a')[2] ?? 0) <= 8]).toEqual(['SUCCEEDED', 3, true]);
  });

  it('retries only the errors that the policy names', async () => {
    const retry = { maxAttempts: 3, intervalSeconds: 1, on: ['Flaky'], notOn: ['BadInput'] };
    const flaky = await play({ nodes: [node('a', [], { retry })] }, () => bad(0, 'Flaky'));
    expect(flaky.starts('a')).toHaveLength(3);
    const other = await play({ nodes: [node('a', [], { retry })] }, () => bad(0, 'BadInput'));
    expect(other.starts('a')).toHaveLength(1);
  });
});

describe('timeouts', () => {
  it('C38 an execution killed at its deadline and deleted is timed out, and the run goes on', async () => {
    const world = new World({
      name: 'deleted',
      definition: {
        name: 'deleted',
        nodes: [node('a', [], { timeoutSeconds: 100 }), node('b', ['a'], { trigger: 'all_done' })],
      },
      script: (id) => (id === 'a' ? HANGS : undefined),
    });
    world.deleteExecutionsAt(100_000);
    await world.play();
    const run = await world.runs.readRun(world.run?.id ?? '');
    expect([run?.state, run?.nodes]).toEqual(['FAILED', 'TS']);
  });

  it('T15 C94 an execution that is gone before its deadline fails its attempt as lost, and is retried', async () => {
    const world = new World({
      name: 'gone',
      definition: { name: 'gone', nodes: [node('a', [], { retry: { maxAttempts: 2, intervalSeconds: 1 } })] },
      script: (_, attempt) => (attempt === 1 ? HANGS : undefined),
    });
    world.deleteExecutionsAt(90_000);
    await world.play();
    const run = await world.runs.readRun(world.run?.id ?? '');
    expect([run?.state, world.trace.starts.length]).toEqual(['SUCCEEDED', 2]);
    expect(run?.decisions.find((decision) => decision.to === 'w')?.error?.name).toBe('Millrace.ExecutionLost');
  });
});

describe('stop', () => {
  it('C40 a node that waits for its retry is stopped at once, for good', async () => {
    const { world, state, nodes, endedAfter } = await play(
      { nodes: [node('a', [], { retry: { maxAttempts: 2, intervalSeconds: 60 } }), node('b', ['a'])] },
      () => bad(),
      { stopAtMs: 10_000 },
    );
    expect([state, nodes, endedAfter]).toEqual(['ABORTED', { a: 'ABORTED', b: 'ABORTED' }, 10]);
    expect(world.trace.starts).toHaveLength(1);
  });

  it('C46 a stop also stops what all_done would start', async () => {
    const { state, nodes } = await play(
      { nodes: [node('x'), node('y'), node('z'), node('f', ['x', 'y', 'z'], { trigger: 'all_done' })] },
      () => ok(60_000),
      { stopAtMs: 5_000 },
    );
    expect([state, nodes]).toEqual(['ABORTED', { x: 'ABORTED', y: 'ABORTED', z: 'ABORTED', f: 'ABORTED' }]);
  });

  it('a stop after a failure leaves the run FAILED', async () => {
    const { state, nodes } = await play({ nodes: [node('x'), node('y')] }, (id) => (id === 'x' ? bad() : HANGS), {
      stopAtMs: 5_000,
    });
    expect([state, nodes]).toEqual(['FAILED', { x: 'FAILED', y: 'ABORTED' }]);
  });
});

describe('results', () => {
  it('C86 a completion that arrives before its start is recorded is not lost', async () => {
    const { state, endedAfter } = await play({ nodes: [node('a'), node('b', ['a'])] }, () => ok(0));
    expect([state, endedAfter <= 1]).toEqual(['SUCCEEDED', true]);
  });

  it('T43 an execution aborted from outside is bad for its node and what stands below', async () => {
    const { state, nodes } = await play(
      { nodes: [node('a', [], { retry: { maxAttempts: 3 } }), node('b', ['a'])] },
      () => ({ durationMs: 1_000, end: { status: 'ABORTED' } }),
    );
    expect([state, nodes]).toEqual(['FAILED', { a: 'ABORTED', b: 'UPSTREAM_FAILED' }]);
  });
});
