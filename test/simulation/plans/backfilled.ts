/** A pipeline whose schedule is run for times that are over, while it runs by itself, is put anew, paused and deleted. */
import fc from 'fast-check';
import type { Plan } from '../plan.ts';
import type { PlannedAsk, PlannedBackfill } from '../plan-asks.ts';
import { nodesUpTo } from './nodes.ts';
import { rarely } from './rarely.ts';
import { scheduledPlans } from './scheduled.ts';

const backfill: fc.Arbitrary<PlannedBackfill> = fc
  .record({
    atMs: fc.constantFrom(62_000, 3_000, 61_010, 100_000, 155_000),
    // From before the pipeline was there to what is not over yet: that is refused.
    agoMs: fc.constantFrom(0, 1_000, 60_000, -100_000),
    forMs: fc.constantFrom(0, 120_000, 180_000, 300_000),
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

/** Runs that are deleted, some a moment after they were made. */
const deletions: fc.Arbitrary<readonly PlannedAsk[]> = fc.array(
  fc.record({
    kind: fc.constant('delete' as const),
    atMs: fc.constantFrom(64_000, 5_000, 68_000, 90_000, 130_000, 160_000),
    run: fc.nat(5),
    isForced: fc.boolean(),
  }),
  { minLength: 1, maxLength: 3 },
);

/** Runs of what is over, beside those of the schedule. */
export const backfilledPlans: fc.Arbitrary<Plan> = fc
  .record({ plan: scheduledPlans, nodes: nodesUpTo(1), backfills, asks: rarely(deletions, undefined, 1) })
  .map(({ plan, nodes, backfills: asked, asks }) => ({
    ...plan,
    nodes,
    revisions: (plan.revisions ?? []).map((revision) => ({ ...revision, to: { ...revision.to, nodes } })),
    requests: [],
    // Runs one after the other take long: with a tick a second, more happens meanwhile than a world may hold.
    tickMs: plan.tickMs === 1_000 ? 5_000 : plan.tickMs,
    asks,
    backfills: asked,
  }));
