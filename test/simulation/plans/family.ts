import fc from 'fast-check';
import type { Plan, PlannedPipeline } from '../plan.ts';
import { pauses, stops } from './commands.ts';
import { rarely } from './rarely.ts';
import { ENDLESS, inTime, richPipeline } from './rich.ts';
import { calmOrNot } from './trouble.ts';
import { wholePlans } from './whole.ts';

/** Children at most. */
const MOST_CHILDREN = 2;

const children: fc.Arbitrary<readonly PlannedPipeline[]> = fc
  .record({
    first: richPipeline(3, 1, 1),
    last: richPipeline(3, MOST_CHILDREN, 0),
    isEndless: rarely(fc.constant(true), false, 7),
  })
  .map(({ first, last, isEndless }) => [first, isEndless ? { ...last, nodes: [...last.nodes, ENDLESS] } : last]);

/** Pipelines that start others, twice over. Any of the runs may be stopped. */
export const familyPlans: fc.Arbitrary<Plan> = calmOrNot(
  fc
    .record({
      plan: wholePlans,
      root: richPipeline(5, 0, MOST_CHILDREN),
      children,
      stopAtMs: rarely(fc.constantFrom(0, 1_000, 2_500, 10_000, 60_000), undefined, 3),
      stops,
      pauses: rarely(pauses, undefined, 3),
      lateEngineAtMs: fc.constantFrom(500, 20_000, 200_000),
      revisions: rarely(
        fc.record({ atMs: fc.constantFrom(1_500, 4_000, 30_000), to: richPipeline(3, MOST_CHILDREN, 0) }),
        undefined,
        2,
      ),
    })
    .map(({ plan, root, children: drawn, revisions, ...rest }) => {
      const all = drawn.map((one) => inTime(one, drawn));
      const changes = revisions && [{ ...revisions, child: 1 }];
      return { ...plan, ...inTime(root, drawn), children: all, revisions: changes, ...rest };
    }),
);
