/** Nodes whose outputs are large: they come directly or by reference, and go on by reference. */
import fc from 'fast-check';
import type { Plan } from '../plan.ts';
import { nodesUpTo } from './nodes.ts';
import { rarely } from './rarely.ts';
import { calmOrNot, harshOrder } from './trouble.ts';
import { wholePlans } from './whole.ts';

const MOST_NODES = 5;

/** A run or two; all that is too large for an execution's input is put aside for it. */
export const bulkyPlans: fc.Arbitrary<Plan> = calmOrNot(
  fc
    .record({
      plan: wholePlans,
      nodes: nodesUpTo(MOST_NODES),
      bulks: fc.array(fc.constantFrom('direct', 'reference', 'none'), { minLength: MOST_NODES, maxLength: MOST_NODES }),
      runsAtMs: rarely(fc.constant([1_000]), undefined, 3),
      order: harshOrder,
    })
    .map(({ plan, nodes, bulks, ...rest }) => ({
      ...plan,
      ...rest,
      nodes: nodes.map((node, place) => ({ ...node, when: undefined, bulk: bulks[place] })),
    })),
);
