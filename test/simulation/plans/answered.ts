/** Maps of questions: each item waits for an answer of its own, while the run is stopped, paused, marked or run again. */
import fc from 'fast-check';
import type { Plan, PlannedNode } from '../plan.ts';
import type { PlannedAsk } from '../plan-asks.ts';
import { mark, rerun, soon, toApproval, within } from './asked.ts';
import { pauses, stops } from './commands.ts';
import { nodesUpTo } from './nodes.ts';
import { rarely } from './rarely.ts';
import { calmOrNot, harshOrder } from './trouble.ts';
import { wholePlans } from './whole.ts';

const MOST_NODES = 3;
const MOST_ITEMS = 3;

/** What the items of a map are is for who answers. */
const map: fc.Arbitrary<NonNullable<PlannedNode['map']>> = fc.record({
  items: fc.array(fc.constant([]), { maxLength: MOST_ITEMS }),
  maxConcurrency: fc.constantFrom(100, 1, 2),
  tolerated: fc.constantFrom(0, 1, 2),
});

const question = fc.record({ map: rarely(map, undefined, 1), timeoutSeconds: fc.constantFrom(30, 90) });

const answer = fc.record({
  run: rarely(fc.constant(1), 0, 3),
  atMs: fc.oneof(soon, fc.constantFrom(8_000, 20_000, 70_000)),
  item: fc.nat(MOST_ITEMS - 1),
  attempt: rarely(fc.constant(2), 1, 2),
  approve: rarely(fc.constant(false), true, 2),
  times: rarely(fc.constant(2), 1, 3),
  isTold: rarely(fc.constant(false), true, 4),
});

/** A map chooses none of its downstreams. */
function toQuestion(
  node: PlannedNode,
  { map: items, timeoutSeconds }: { map?: PlannedNode['map']; timeoutSeconds: number },
) {
  const asking = { ...toApproval(node, timeoutSeconds), map: items };
  return items ? { ...asking, branch: undefined } : asking;
}

type Answers = readonly (typeof answer extends fc.Arbitrary<infer T> ? T : never)[];

/** The answers to a node; of some that are given twice, another user gives the opposite at the same time. */
function toAsks(node: PlannedNode, place: number, answers: Answers): PlannedAsk[] {
  const count = node.map?.items.length;
  if (!node.approval || count === 0) return [];
  return answers.flatMap(({ isTold, item, ...rest }) => {
    if (!isTold) return [];
    const ask = { kind: 'answer', place, item: count && item % count, ...rest } as const;
    return rest.times > 1 ? [ask, { ...ask, approve: !rest.approve }] : [ask];
  });
}

/** A run or two, most of whose nodes ask, item by item. */
export const answeredPlans: fc.Arbitrary<Plan> = calmOrNot(
  fc
    .record({
      plan: wholePlans,
      nodes: nodesUpTo(MOST_NODES),
      questions: fc.array(fc.option(question, { nil: undefined, freq: 4 }), {
        minLength: MOST_NODES,
        maxLength: MOST_NODES,
      }),
      answers: fc.array(fc.array(answer, { maxLength: 7 }), { minLength: MOST_NODES, maxLength: MOST_NODES }),
      others: fc.array(fc.oneof(mark, rerun), { maxLength: 2 }),
      stops,
      pauses: rarely(pauses, undefined, 2),
      order: harshOrder,
    })
    .map(({ plan, nodes: drawn, questions, answers, others, ...rest }) => {
      const nodes = drawn.map((one, place) => {
        const asked = questions[place];
        return asked ? toQuestion(one, asked) : one;
      });
      const asks = nodes.flatMap((one, place) => toAsks(one, place, answers[place] ?? []));
      return { ...plan, ...rest, nodes, asks: [...asks, ...others.map((ask) => within(ask, nodes.length, []))] };
    }),
);
