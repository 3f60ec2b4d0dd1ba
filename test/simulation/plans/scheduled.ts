/** A pipeline that starts runs by itself: at the instants of its schedule, and for events of other systems. */
import fc from 'fast-check';
import type { Plan, PlannedPipeline } from '../plan.ts';
import type { PlannedOrder, PlannedRequest } from '../plan-asks.ts';
import { stops } from './commands.ts';
import { concurrency } from './limits.ts';
import { nodesUpTo } from './nodes.ts';
import { rarely } from './rarely.ts';
import { calmOrNot, harshOrder } from './trouble.ts';
import { wholePlans } from './whole.ts';

const catchUp = fc.constantFrom('all' as const, 'all' as const, 'none' as const, 'latest' as const);

const schedule: fc.Arbitrary<NonNullable<PlannedPipeline['schedule']>> = fc
  .array(
    fc.oneof(
      fc.record({ cron: fc.constantFrom('* * * * *', '*/2 * * * *'), catchUp }),
      fc.record({ rate: fc.constantFrom('1 minute', '2 minutes'), catchUp }),
    ),
    { minLength: 1, maxLength: 2 },
  )
  .map((entries) => entries.map((entry, at) => ({ ...entry, id: `s${at}` })));

const pause: fc.Arbitrary<readonly PlannedOrder[]> = fc
  .record({ fromMs: fc.constantFrom(1_000, 59_990, 61_000, 100_000), forMs: fc.constantFrom(10, 30_000, 90_000) })
  .map(({ fromMs, forMs }) => [
    { kind: 'pausePipeline', atMs: fromMs },
    { kind: 'resumePipeline', atMs: fromMs + forMs },
  ]);

const requests: fc.Arbitrary<readonly PlannedRequest[]> = fc.array(
  fc.record({
    atMs: fc.constantFrom(0, 1_500, 60_010, 70_000, 108_000, 130_000),
    id: fc.nat(2),
    copies: fc.constantFrom(1, 1, 3),
    kind: fc.constantFrom('good', 'good', 'good', 'own', 'bad'),
  }),
  { maxLength: 4 },
);

/** An event that comes while the pipeline is being deleted. */
function lateRequest(endsAtMs: number): PlannedRequest {
  return { atMs: endsAtMs + 20_000, id: 3, copies: 1, kind: 'good' };
}

/** Runs that a pipeline starts by itself, while it is put anew, paused, resumed and, in the end, perhaps deleted. */
export const scheduledPlans: fc.Arbitrary<Plan> = calmOrNot(
  fc
    .record({
      plan: wholePlans,
      nodes: nodesUpTo(2),
      concurrency,
      schedule,
      other: rarely(schedule, undefined, 2),
      beginsAtMs: fc.constantFrom(0, 2_000, 59_990, 60_500),
      forMs: fc.constantFrom(150_000, 60_020, 330_000),
      pause: rarely(pause, [], 1),
      deletes: rarely(fc.boolean(), undefined, 2),
      requests,
      stops,
      order: harshOrder,
    })
    .map(({ plan, nodes, concurrency: turns, schedule: first, other, pause: orders, deletes, ...rest }) => {
      const { beginsAtMs, forMs, requests: asked, stops: stopped, order } = rest;
      const pipeline = { nodes, failFast: false, output: plan.output, concurrency: turns };
      const endsAtMs = beginsAtMs + forMs;
      const deletion = { kind: 'deletePipeline' as const, atMs: endsAtMs + 1_000, isForced: deletes === true };
      return {
        ...plan,
        ...pipeline,
        order,
        stops: stopped,
        requests: deletes === undefined ? asked : [...asked, lateRequest(endsAtMs)],
        orders: deletes === undefined ? orders : [...orders, deletion],
        revisions: [
          { atMs: beginsAtMs, to: { ...pipeline, schedule: first } },
          ...(other ? [{ atMs: beginsAtMs + forMs / 2, to: { ...pipeline, schedule: other } }] : []),
          { atMs: endsAtMs, to: pipeline },
        ],
      };
    }),
);
