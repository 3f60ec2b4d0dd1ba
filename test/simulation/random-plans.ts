/** The kinds of random plans: graphs with everything that a definition may say, and random trouble. */
import type fc from 'fast-check';
import type { Plan } from './plan.ts';
import { answeredPlans } from './plans/answered.ts';
import { askedPlans } from './plans/asked.ts';
import { backfilledPlans } from './plans/backfilled.ts';
import { bulkyPlans } from './plans/bulky.ts';
import { crowdPlans } from './plans/crowd.ts';
import { endingPlans } from './plans/ending.ts';
import { familyPlans } from './plans/family.ts';
import { harshPlans } from './plans/harsh.ts';
import { kinPlans } from './plans/kin.ts';
import { limitPlans } from './plans/limits.ts';
import { narrowPlans } from './plans/narrow.ts';
import { pausedPlans } from './plans/paused.ts';
import { scheduledPlans } from './plans/scheduled.ts';
import { silentPlans } from './plans/silent.ts';
import { wholePlans } from './plans/whole.ts';

/** The kinds of plans, by name. */
export const PLANS = {
  whole: wholePlans,
  ending: endingPlans,
  narrow: narrowPlans,
  family: familyPlans,
  kin: kinPlans,
  crowd: crowdPlans,
  paused: pausedPlans,
  limits: limitPlans,
  asked: askedPlans,
  answered: answeredPlans,
  scheduled: scheduledPlans,
  backfilled: backfilledPlans,
  silent: silentPlans,
  bulky: bulkyPlans,
  harsh: harshPlans,
} as const satisfies Record<string, fc.Arbitrary<Plan>>;
