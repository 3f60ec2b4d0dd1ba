/** A run with a map over which a pass sleeps, at every port call, until others have ended the run and it is deleted. */
import { describe, it } from 'vitest';
import type { Plan, PlannedAttempt } from './plan.ts';
import { playPlan } from './play-plan.ts';

const SUCCESS: PlannedAttempt = { kind: 'SUCCEEDED', error: 'Flaky', durationMs: 1_000 };

const PLAN: Plan = {
  nodes: [
    {
      upstreams: [],
      trigger: 'all_success',
      allowFailure: false,
      isReader: false,
      timeoutSeconds: 30,
      attempts: [SUCCESS],
      map: { items: [[SUCCESS], [SUCCESS]], maxConcurrency: 1, tolerated: 0 },
    },
  ],
  failFast: false,
  events: 'run',
  engineAtMs: 0,
  maxDecisions: 200,
  maxFlights: 500,
  tickMs: 1_000,
  faults: [],
  drop: false,
  asks: [{ kind: 'delete', atMs: 20_000, run: 0, isForced: false }],
};

describe('a pass over a run that was deleted meanwhile', () => {
  it('ends without a word, though the list of a map has gone', async () => {
    const { trace } = await playPlan(PLAN);
    for (let at = 0; at < trace.operations.length; at++) {
      for (const when of ['before', 'after'] as const) {
        await playPlan({ ...PLAN, faults: [[at, { kind: 'freeze', when, forMs: 200_000 }]] });
      }
    }
  });
});
