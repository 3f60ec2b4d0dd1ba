/** A pipeline whose schedule is run for times that are over, while it runs by itself, is put anew, paused and deleted. */
import fc from 'fast-check';
import type { Plan } from '../plan.ts';
import type { PlannedBackfill } from '../plan-asks.ts';
import { nodesUpTo } from './nodes.ts';
import { scheduledPlans } from './scheduled.ts';

const backfill: fc.Arbitrary<PlannedBackfill> = fc
  .record({
    atMs: fc.constantFrom(62_000, 3_000, 61_010, 100_000, 155_000),
    // From before the pipeline was there to what is not over yet: that is refused.
    agoMs: fc.constantFrom(0, 1_000, 60_000, -100_000),
    forMs: fc.constantFrom(0, 120_000, 300_000, 480_000),
    direction: fc.constantFrom('forward' as const, 'backward' as const),
    maxActiveRuns: fc.constantFrom(1, 2, 3, 100),
  })
  .map(({ agoMs, forMs, ...rest }) => ({ ...rest, fromMs: rest.atMs - agoMs - forMs, toMs: rest.atMs - agoMs }));

/** Backfills, of which some are asked for by two users at once, or again a while later. */
const backfills: fc.Arbitrary<readonly PlannedBackfill[]> = fc
  .array(fc.record({ one: backfill, againMs: fc.constantFrom(undefined, undefined, 0, 90_000) }), {
    minLength: 1,
    maxLength: 2,
  })
  .map((drawn) =>
    drawn.flatMap(({ one, againMs }) => (againMs === undefined ? [one] : [one, { ...one, atMs: one.atMs + againMs }])),
  );

/** Runs of what is over, beside those of the schedule. */
export const backfilledPlans: fc.Arbitrary<Plan> = fc
  .record({ plan: scheduledPlans, nodes: nodesUpTo(1), backfills })
  .map(({ plan, nodes, backfills: asked }) => ({
    ...plan,
    nodes,
    revisions: (plan.revisions ?? []).map((revision) => ({ ...revision, to: { ...revision.to, nodes } })),
    requests: [],
    backfills: asked,
  }));
