import fc from 'fast-check';
import type { Plan } from '../plan.ts';
import { endingPlans } from './ending.ts';
import { nodesUpTo } from './nodes.ts';
import { fault } from './trouble.ts';

/** One or two nodes, and much that goes wrong close together, where the fence and its neighbours are. */
export const narrowPlans: fc.Arbitrary<Plan> = fc
  .record({
    plan: endingPlans,
    nodes: nodesUpTo(2),
    faults: fc.uniqueArray(fc.tuple(fc.nat(25), fault), { minLength: 2, maxLength: 5, selector: ([at]) => at }),
  })
  .map(({ plan, nodes, faults }) => ({
    ...plan,
    nodes,
    faults,
    tickMs: plan.tickMs === 60_000 ? 5_000 : plan.tickMs,
    engineAtMs: 0,
    engineGone: undefined,
    maxDecisions: 200,
    maxFlights: 500,
    outage: undefined,
    startsPerSecond: undefined,
  }));
