import fc from 'fast-check';
import type { Plan } from '../plan.ts';
import { rarely } from './rarely.ts';
import { place } from './trouble.ts';
import { wholePlans } from './whole.ts';

/** Random worlds that end early: a user stops them, a failure does, or their own time is over; with refused starts. */
export const endingPlans: fc.Arbitrary<Plan> = fc
  .record({
    plan: wholePlans,
    failFast: fc.boolean(),
    stopAtMs: fc.option(fc.constantFrom(0, 5, 1_000, 2_500, 10_000, 60_000, 130_000), { nil: undefined, freq: 3 }),
    timeoutSeconds: rarely(fc.constantFrom(1, 10, 70, 300), undefined, 3),
    refusals: fc.array(place, { maxLength: 1 }),
  })
  .map(({ plan, refusals, ...ending }) => ({
    ...plan,
    ...ending,
    faults: [...plan.faults, ...refusals.map((at) => [at, { kind: 'refuse' as const }] as const)],
  }));
