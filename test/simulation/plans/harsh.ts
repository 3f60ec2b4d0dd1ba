import fc from 'fast-check';
import type { Plan } from '../plan.ts';
import { crowdPlans } from './crowd.ts';
import { familyPlans } from './family.ts';
import { limitPlans } from './limits.ts';
import { harshOrder } from './trouble.ts';
import { wholePlans } from './whole.ts';

/** Worlds as the others, in which messages are handed over twice at once and ticks do not come. */
export const harshPlans: fc.Arbitrary<Plan> = fc
  .record({
    plan: fc.oneof(wholePlans, familyPlans, crowdPlans, limitPlans),
    order: harshOrder.filter((order) => order?.doublesOneIn !== undefined || order?.skipsOneIn !== undefined),
  })
  .map(({ plan, order }) => ({ ...plan, order }));
