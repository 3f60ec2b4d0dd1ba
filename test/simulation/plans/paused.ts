import fc from 'fast-check';
import type { Plan } from '../plan.ts';
import { pauses } from './commands.ts';
import { endingPlans } from './ending.ts';
import { wholePlans } from './whole.ts';

/** One run that is paused and goes on, and may end early. */
export const pausedPlans: fc.Arbitrary<Plan> = fc
  .record({ plan: fc.oneof(wholePlans, endingPlans), pauses })
  .map(({ plan, ...rest }) => ({ ...plan, ...rest }));
