/** Random worlds: whatever goes wrong, a run comes to exactly what the independent reference says. */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { playPlan } from './plan.ts';
import { endingPlans, plans } from './random-plans.ts';

describe('a random run in a random world', () => {
  it('comes to what the reference says', async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => void (await playPlan(plan))),
      { numRuns: 3_000 },
    );
  });

  it('keeps what it decided, and stops the rest, where it is stopped, fails fast or runs out of time', async () => {
    await fc.assert(
      fc.asyncProperty(endingPlans, async (plan) => void (await playPlan(plan))),
      { numRuns: 2_000 },
    );
  });
});
