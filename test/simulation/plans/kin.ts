import fc from 'fast-check';
import type { Plan, PlannedNode } from '../plan.ts';
import { stops } from './commands.ts';
import { narrowPlans } from './narrow.ts';
import { rarely } from './rarely.ts';
import { ENDLESS, inTime, richPipeline } from './rich.ts';
import { fault, longFreeze } from './trouble.ts';

/** A run, a child or two of it, and much that goes wrong close together while the one starts or stops the other. */
export const kinPlans: fc.Arbitrary<Plan> = fc
  .record({
    plan: narrowPlans,
    root: richPipeline(2, 0, 1),
    child: richPipeline(2, 1, 0),
    isEndless: rarely(fc.constant(true), false, 3),
    stopAtMs: rarely(fc.constantFrom(5, 300, 1_200, 2_500, 6_000), undefined, 1),
    stops,
    faults: fc.uniqueArray(fc.tuple(fc.nat(30), fc.oneof(fault, longFreeze)), {
      minLength: 2,
      maxLength: 5,
      selector: ([at]) => at,
    }),
    lateEngineAtMs: fc.constantFrom(500, 20_000),
  })
  .map(({ plan, root, child, isEndless, ...rest }) => {
    const below = isEndless ? { ...child, nodes: [...child.nodes, ENDLESS] } : child;
    const [first, ...others] = root.nodes as [PlannedNode, ...PlannedNode[]];
    const parent = { ...root, nodes: [{ ...first, engine: undefined, child: 0 }, ...others] };
    return { ...plan, ...inTime(parent, [below]), children: [below], ...rest };
  });
