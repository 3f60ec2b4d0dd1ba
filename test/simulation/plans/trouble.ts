/** What goes wrong in a random world: with single port calls, and with the order of everything. */
import fc from 'fast-check';
import type { OperationFault } from '#testing/faults.ts';
import type { Plan } from '../plan.ts';

const when = fc.constantFrom('before', 'after');

export const fault: fc.Arbitrary<OperationFault> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('kill' as const), when }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('fail' as const), when }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'doubt' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('freeze' as const),
      when,
      forMs: fc.constantFrom(2_000, 500, 10_000, 29_000, 31_000, 61_000, 100_000, 200_000),
    }),
  },
);

/** Faults fall mostly early, where every world still has operations. */
export const place = fc.oneof({ weight: 3, arbitrary: fc.nat(40) }, { weight: 1, arbitrary: fc.nat(200) });

export const order: fc.Arbitrary<Plan['order']> = fc.option(
  fc.record({
    seed: fc.nat(),
    loseOneIn: fc.constantFrom(undefined, 2, 5),
    copies: fc.constantFrom(1, 3),
    lateMs: fc.constantFrom(0, 200, 3_000, 90_000),
    skewMs: fc.constantFrom(0, 2_000),
    staleMs: fc.constantFrom(0, 1_000),
    isIndexStale: fc.boolean(),
    strangers: fc.boolean(),
  }),
  { nil: undefined, freq: 6 },
);

/** Another order: messages are handed over twice at once, and ticks do not come. */
export const harshOrder: fc.Arbitrary<Plan['order']> = fc
  .record({
    plan: order,
    doublesOneIn: fc.constantFrom(undefined, 2, 4),
    skipsOneIn: fc.constantFrom(undefined, 2, 4),
  })
  .map(({ plan, ...more }) => plan && { ...plan, ...more });

export const longFreeze: fc.Arbitrary<OperationFault> = fc.record({
  kind: fc.constant('freeze'),
  when: fc.constant('before'),
  forMs: fc.constantFrom(100_000, 61_000, 200_000),
});

/** Worlds in which nothing goes wrong, for what can be asked of those alone; or worlds as the others. */
export function calmOrNot(plans: fc.Arbitrary<Plan>): fc.Arbitrary<Plan> {
  return fc.record({ plan: plans, isCalm: fc.boolean() }).map(({ plan, isCalm }) => {
    return isCalm ? { ...plan, faults: [], order: undefined, outage: undefined, drop: false } : plan;
  });
}
