import { describe, expect, it } from 'vitest';
import { World } from './world.ts';

describe('a stop whose first order died before it told any execution', () => {
  it('tells them when it is ordered again, without waiting for a tick', async () => {
    const nodes = [{ id: 'a', params: { function: 'f', payload: {} } }];
    const scenario = {
      name: 'stop again',
      definition: { name: 'again', nodes },
      script: () => ({ durationMs: 600_000, end: { status: 'SUCCEEDED' as const, output: '{}' } }),
      stopAtMs: 5_000,
    };
    const quiet = new World(scenario);
    await quiet.play();
    const commit = quiet.trace.operations.findIndex((label) => /stop\d+ runs\.commitRun/.test(label));
    const world = new World(scenario, { at: new Map([[commit, { kind: 'kill', when: 'after' }]]) });
    await world.play();
    const [execution] = [...world.executions.started.values()];
    expect(execution).toMatchObject({ status: 'ABORTED' });
    expect((execution?.endedAt ?? 0) - world.beganAt).toBeLessThan(10_000);
  });
});
