/** A child whose starter sleeps, at every port call, until the child was played by others and deleted. */
import { describe, it } from 'vitest';
import type { Plan, PlannedNode } from './plan.ts';
import { playPlan } from './play-plan.ts';

const NODE: PlannedNode = {
  upstreams: [],
  trigger: 'all_success',
  allowFailure: false,
  isReader: false,
  timeoutSeconds: 30,
  attempts: [{ kind: 'SUCCEEDED', error: 'Flaky', durationMs: 1_000 }],
};

const PLAN: Plan = {
  nodes: [{ ...NODE, child: 0 }],
  children: [{ nodes: [NODE], failFast: false }],
  failFast: false,
  events: 'run',
  engineAtMs: 0,
  maxDecisions: 200,
  maxFlights: 500,
  tickMs: 1_000,
  faults: [],
  drop: false,
  asks: [{ kind: 'delete', atMs: 20_000, run: 1, isForced: false }],
};

describe('a child that was deleted', () => {
  it('is not made again by who slept while it started it', async () => {
    const { trace } = await playPlan(PLAN);
    for (let at = 0; at < trace.operations.length; at++) {
      for (const when of ['before', 'after'] as const) {
        await playPlan({ ...PLAN, faults: [[at, { kind: 'freeze', when, forMs: 200_000 }]] });
      }
    }
  });
});
