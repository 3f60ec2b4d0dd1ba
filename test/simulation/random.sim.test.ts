/** Random worlds: whatever goes wrong, a run comes to exactly what the independent reference says. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Plan } from './plan.ts';
import { playPlan } from './play-plan.ts';
import { PLANS } from './random-plans.ts';

/** The same worlds each time, so that a failure is due to a change; `npm run simulate` looks at others. */
const TELL = { seed: 1, includeErrorInReport: true };

describe('a random run in a random world', () => {
  it('comes to what the reference says', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.whole, async (plan) => void (await playPlan(plan))),
      { ...TELL, numRuns: 1_500 },
    );
  });

  it('takes no more port calls than attempts, ticks and changes of engines ask for, where nothing goes wrong', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.whole, async (drawn) => {
        const quiet = { faults: [], order: undefined, drop: false, outage: undefined, startsPerSecond: undefined };
        const nodes = drawn.nodes.map((node) => ({ ...node, map: undefined }));
        const plan: Plan = { ...drawn, nodes, ...quiet, events: 'run', maxDecisions: 200, maxFlights: 500 };
        const { trace, ticks } = await playPlan(plan);
        const attempts = trace.inputs.size;
        const looks = trace.operations.filter((operation) => operation.includes('describe')).length;
        const changes = trace.operations.filter((operation) => /^engine\d+ limits\.commitLimit/.test(operation)).length;
        // A change of an engine: ten calls to commit and tell it, and six for the row of a run that waits.
        expect(trace.operations.length).toBeLessThanOrEqual(20 + 8 * attempts + 3 * looks + 4 * ticks + 16 * changes);
      }),
      { ...TELL, numRuns: 300 },
    );
  });

  it('keeps what it decided, and stops the rest, where it is stopped, fails fast or runs out of time', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.ending, async (plan) => void (await playPlan(plan))),
      { ...TELL, numRuns: 1_000 },
    );
  });

  it('starts nothing behind the fence, however much goes wrong close together', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.narrow, async (plan) => void (await playPlan(plan))),
      { ...TELL, numRuns: 1_500 },
    );
  });

  it('comes to what the reference says of it, whatever it starts and whoever stops that, twice over', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.family, async (plan) => void (await playPlan(plan))),
      { ...TELL, numRuns: 1_000 },
    );
  });

  it('leaves no child behind and ends none that is wanted, however much goes wrong close together', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.kin, async (plan) => void (await playPlan(plan))),
      { ...TELL, numRuns: 1_500 },
    );
  });

  it('comes to what the reference says of it, whatever other runs, revisions and outputs there are', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.crowd, async (plan) => void (await playPlan(plan))),
      { ...TELL, numRuns: 1_000 },
    );
  });

  it('starts nothing while it is paused, and comes to the same', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.paused, async (plan) => void (await playPlan(plan))),
      { ...TELL, numRuns: 800 },
    );
  });

  it('never gives a slot away twice and loses none, whatever becomes of engines, pools and turns meanwhile', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.limits, async (plan) => void (await playPlan(plan))),
      { ...TELL, numRuns: 600 },
    );
  });

  it('becomes what users made of it by marks, answers, deletions and re-runs, and leaves what newer code has alone', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.asked, async (plan) => void (await playPlan(plan))),
      { ...TELL, numRuns: 300 },
    );
  });

  it('becomes what was answered to each item of a map that asks', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.answered, async (plan) => void (await playPlan(plan))),
      { ...TELL, numRuns: 200 },
    );
  });

  it('is given what its upstreams gave, however large it is', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.bulky, async (plan) => void (await playPlan(plan))),
      { ...TELL, numRuns: 100 },
    );
  });

  it('is one of those that a backfill asks for, once for each instant, in order, so many at once', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.backfilled, async (plan) => void (await playPlan(plan))),
      { ...TELL, numRuns: 60 },
    );
  });

  it('starts by itself once for each instant and event, and not while its pipeline is paused or deleted', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.scheduled, async (plan) => void (await playPlan(plan))),
      { ...TELL, numRuns: 150 },
    );
  });

  it('ends what falls silent and nothing that reports, and waits for an engine whose owner is silent', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.silent, async (plan) => void (await playPlan(plan))),
      { ...TELL, numRuns: 250 },
    );
  });

  it('comes to the same where messages are handed over twice at once and ticks do not come', async () => {
    await fc.assert(
      fc.asyncProperty(PLANS.harsh, async (plan) => void (await playPlan(plan))),
      { ...TELL, numRuns: 250 },
    );
  });
});
