/** Random worlds: whatever goes wrong, a run comes to exactly what the independent reference says. */
import fc from 'fast-check';
import { describe, it } from 'vitest';
import { playPlan } from './play-plan.ts';
import { PLANS } from './random-plans.ts';

describe('a random run in a random world', () => {
  it('comes to what the reference says', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.whole, async (plan) => void (await playPlan(plan))),
      { numRuns: 3_000 },
    );
  });

  it('keeps what it decided, and stops the rest, where it is stopped, fails fast or runs out of time', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.ending, async (plan) => void (await playPlan(plan))),
      { numRuns: 2_000 },
    );
  });
});
