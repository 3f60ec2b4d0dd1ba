/** The fence: an attempt that was ended before its start was confirmed is not over while a start may be on its way. */
import { describe, expect, it } from 'vitest';
import type { OperationFault } from '#testing/faults.ts';
import { World } from './world.ts';

const KILL: OperationFault = { kind: 'kill', when: 'before' };

describe('an attempt that is ended before its start was confirmed', () => {
  it('outlasts a start that was on its way when its end was committed, however long that commit took', async () => {
    const faults: [number, OperationFault][] = [
      // The pass that decides the attempt dies before it starts it.
      [2, KILL],
      // A user's stop takes until 10.5 s to be committed.
      [5, { kind: 'freeze', when: 'before', forMs: 8_500 }],
      // Every pass that would ask for the start again dies, but for one that is slow: it starts what it read at 10 s at 38.5 s.
      [11, KILL],
      [15, KILL],
      [19, KILL],
      [23, KILL],
      [27, KILL],
      [33, { kind: 'freeze', when: 'after', forMs: 28_500 }],
      [34, KILL],
      // The pass that would find no execution comes 35 s after the stop was decided, and 26.5 s after it was committed.
      [69, KILL],
      [70, KILL],
    ];
    const world = new World(
      {
        name: 'slow stop',
        definition: { name: 'slow', nodes: [{ id: 'a', params: { function: 'f', payload: {} } }] },
        script: () => ({ durationMs: 600_000, end: { status: 'SUCCEEDED', output: '{}' } }),
        stopAtMs: 2_000,
      },
      { at: new Map(faults), tickMs: 5_000 },
    );
    await world.play();
    expect(world.trace.operations[5]).toContain('stop3 runs.commitRun');
    expect(world.trace.operations[33]).toContain('pass11 executions.describe');
    expect(world.trace.starts.map(({ at }) => at - world.beganAt)).toEqual([38_500]);
    expect(world.runs.latest(world.run?.id ?? '')).toMatchObject({ state: 'ABORTED', nodes: 'A' });
  });
});
