/** Runs over which, or over whose start, a pass sleeps, at every port call, until they were played by others and deleted. */
import { describe, it } from 'vitest';
import type { Plan, PlannedAttempt, PlannedNode } from './plan.ts';
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

/** A run a minute, until the schedule goes. */
const SCHEDULED: Plan = {
  ...PLAN,
  nodes: [NODE],
  children: undefined,
  revisions: [
    { atMs: 0, to: { nodes: [NODE], failFast: false, schedule: [{ id: 's0', rate: '1 minute', catchUp: 'all' }] } },
    { atMs: 90_000, to: { nodes: [NODE], failFast: false } },
  ],
  orders: [],
  asks: [{ kind: 'delete', atMs: 66_000, run: 1, isForced: false }],
};

const [SUCCESS] = NODE.attempts as [PlannedAttempt];

/** Two items, one after the other: the pass that starts the second one reads the list of the map. */
const MAPPED: Plan = {
  ...PLAN,
  nodes: [{ ...NODE, map: { items: [[SUCCESS], [SUCCESS]], maxConcurrency: 1, tolerated: 0 } }],
  children: undefined,
  asks: [{ kind: 'delete', atMs: 20_000, run: 0, isForced: false }],
};

/** The minutes before, by a backfill; no instant of the schedule itself comes until who sleeps has woken. */
const BACKFILLED: Plan = {
  ...SCHEDULED,
  revisions: [
    { atMs: 0, to: { nodes: [NODE], failFast: false, schedule: [{ id: 's0', rate: '2 minutes', catchUp: 'all' }] } },
    { atMs: 115_000, to: { nodes: [NODE], failFast: false } },
  ],
  backfills: [{ atMs: 10_000, fromMs: -240_000, toMs: 0, direction: 'forward', maxActiveRuns: 1 }],
  asks: [{ kind: 'delete', atMs: 16_000, run: 1, isForced: false }],
};

async function sleepEverywhere(plan: Plan, forMs: number): Promise<void> {
  const { trace } = await playPlan(plan);
  for (let at = 0; at < trace.operations.length; at++) {
    for (const when of ['before', 'after'] as const) {
      await playPlan({ ...plan, faults: [[at, { kind: 'freeze', when, forMs }]] });
    }
  }
}

const SLEEPS_MS = [8_000, 29_000, 100_000];

describe('what was deleted is not made again by who slept while it started it', () => {
  it.each(SLEEPS_MS)('a child, for %i ms', async (forMs) => {
    await sleepEverywhere(PLAN, forMs);
  });

  it.each(SLEEPS_MS)('a run of a schedule, for %i ms', async (forMs) => {
    await sleepEverywhere(SCHEDULED, forMs);
  });

  it('a run of a backfill', async () => {
    await sleepEverywhere(BACKFILLED, 100_000);
  });
});

describe('a pass over a run that was deleted meanwhile', () => {
  it('ends without a word, though the list of a map has gone', async () => {
    await sleepEverywhere(MAPPED, 200_000);
  });
});
