import fc from 'fast-check';
import type { Plan } from '../plan.ts';
import { pauses, stops } from './commands.ts';
import { rarely } from './rarely.ts';
import { richPipeline } from './rich.ts';
import { calmOrNot } from './trouble.ts';
import { wholePlans } from './whole.ts';

/** Several runs of one pipeline at once, which gets new revisions meanwhile. Any of the runs may be stopped. */
export const crowdPlans: fc.Arbitrary<Plan> = calmOrNot(
  fc
    .record({
      plan: wholePlans,
      root: richPipeline(4, 0, 0),
      runsAtMs: fc.array(fc.constantFrom(0, 10, 1_000, 3_000, 65_000), { minLength: 1, maxLength: 3 }),
      revisions: rarely(
        fc.array(fc.record({ atMs: fc.constantFrom(0, 900, 2_000, 20_000), to: richPipeline(4, 0, 0) }), {
          minLength: 1,
          maxLength: 2,
        }),
        undefined,
        1,
      ),
      stops,
      pauses: rarely(pauses, undefined, 3),
      lateEngineAtMs: fc.constantFrom(500, 20_000, 200_000),
    })
    .map(({ plan, root, ...rest }) => ({ ...plan, ...root, ...rest })),
);
