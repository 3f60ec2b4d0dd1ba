import fc from 'fast-check';
import type { Plan } from '../plan.ts';
import { MOST_NODES, nodesUpTo } from './nodes.ts';
import { rarely } from './rarely.ts';
import { fault, order, place } from './trouble.ts';

/** Random worlds that nobody stops: the reference says what they come to. */
export const wholePlans: fc.Arbitrary<Plan> = fc.record({
  nodes: nodesUpTo(MOST_NODES),
  failFast: fc.constant(false),
  events: fc.constantFrom('run', 'nodes'),
  engineAtMs: rarely(fc.constantFrom(500, 90_000), 0, 9),
  engineGone: rarely(fc.constantFrom({ fromMs: 500, toMs: 30_000 }, { fromMs: 3_000, toMs: 200_000 }), undefined, 9),
  output: rarely(fc.constantFrom('value', 'error'), undefined, 5),
  maxDecisions: rarely(fc.constantFrom(1, 3), 200, 4),
  maxFlights: rarely(fc.constantFrom(1, 2, 4), 500, 4),
  tickMs: fc.constantFrom(60_000, 5_000, 60_000, 5_000, 60_000, 5_000, 60_000, 5_000, 1_000),
  faults: fc.uniqueArray(fc.tuple(place, fault), { maxLength: 6, selector: ([at]) => at }),
  order,
  drop: rarely(fc.constant(true), false, 5),
  outage: rarely(
    fc.record({ fromMs: fc.constantFrom(0, 500, 10_000), toMs: fc.constantFrom(11_000, 40_000, 100_000) }),
    undefined,
    9,
  ),
  startsPerSecond: rarely(fc.constant(1), undefined, 9),
});
