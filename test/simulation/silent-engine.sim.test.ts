/** An engine whose owner falls silent for good, with a death or a failure at every port call. */
import { describe, it } from 'vitest';
import type { OperationFault } from '#testing/faults.ts';
import type { Plan, PlannedNode } from './plan.ts';
import { playPlan } from './play-plan.ts';

const NODE: PlannedNode = {
  upstreams: [],
  trigger: 'all_success',
  allowFailure: false,
  isReader: false,
  timeoutSeconds: 90,
  attempts: [{ kind: 'SUCCEEDED', error: 'Broken', durationMs: 1_000 }],
};

const PLAN: Plan = {
  nodes: [NODE],
  failFast: false,
  events: 'run',
  engineAtMs: 0,
  maxDecisions: 200,
  maxFlights: 500,
  tickMs: 60_000,
  faults: [],
  drop: false,
  limits: [{ name: 'e1', changes: [{ atMs: 0, to: 1, heartbeatSeconds: 10 }] }],
};

const FAULTS: readonly OperationFault[] = (['before', 'after'] as const).flatMap((when) => [
  { kind: 'kill', when },
  { kind: 'fail', when },
  { kind: 'freeze', when, forMs: 31_000 },
  { kind: 'doubt' },
]);

describe('an engine that falls silent', () => {
  it('is told to be Unavailable, whoever dies before it is', async () => {
    const { trace } = await playPlan(PLAN);
    for (let at = 0; at < trace.operations.length; at++) {
      for (const fault of FAULTS) await playPlan({ ...PLAN, faults: [[at, fault]] });
    }
  });
});
