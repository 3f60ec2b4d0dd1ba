/** Runs of which users ask anything: nodes are marked, approvals answered, runs deleted and started again. */
import fc from 'fast-check';
import type { Plan, PlannedNode } from '../plan.ts';
import type { PlannedAsk } from '../plan-asks.ts';
import { pauses, stops } from './commands.ts';
import { rarely } from './rarely.ts';
import { richPipeline } from './rich.ts';
import { calmOrNot, harshOrder } from './trouble.ts';
import { wholePlans } from './whole.ts';

/** Nodes of the pipeline, at most. */
const MOST_NODES = 6;

const run = rarely(fc.nat(4), 0, 2);
const place = fc.nat(MOST_NODES - 1);
const state = fc.constantFrom('SUCCEEDED' as const, 'FAILED' as const, 'SKIPPED' as const);
export const soon = fc.constantFrom(500, 5, 1_010, 2_500, 6_000, 31_000, 62_000);
const late = fc.constantFrom(20_000, 5_000, 130_000, 200_000);

export const mark: fc.Arbitrary<PlannedAsk> = fc.record({
  kind: fc.constant('mark' as const),
  atMs: soon,
  run,
  place,
  state,
});

const answer: fc.Arbitrary<PlannedAsk> = fc.record({
  kind: fc.constant('answer' as const),
  atMs: fc.oneof(soon, late),
  run,
  place,
  attempt: rarely(fc.constant(2), 1, 3),
  approve: rarely(fc.constant(false), true, 2),
  times: rarely(fc.constant(2), 1, 2),
});

const deletion: fc.Arbitrary<PlannedAsk> = fc.record({
  kind: fc.constant('delete' as const),
  atMs: fc.oneof(soon, late),
  run,
  isForced: fc.boolean(),
});

export const rerun: fc.Arbitrary<PlannedAsk> = fc.record({
  kind: fc.constant('rerun' as const),
  atMs: late,
  run,
  from: fc.oneof(
    fc.constantFrom('failed' as const, 'failed' as const, 'all' as const),
    fc.uniqueArray(place, { minLength: 1, maxLength: 2 }),
  ),
  marks: rarely(fc.uniqueArray(fc.record({ place, state }), { maxLength: 2, selector: (one) => one.place }), [], 2),
});

const loan: fc.Arbitrary<PlannedAsk> = fc.record({
  kind: fc.constant('lend' as const),
  atMs: soon,
  run,
  forMs: fc.constantFrom(1_000, 70_000, 200_000),
});

const asks = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: mark },
    { weight: 3, arbitrary: answer },
    { weight: 2, arbitrary: deletion },
    { weight: 4, arbitrary: rerun },
    { weight: 1, arbitrary: loan },
  ),
  { minLength: 1, maxLength: 6 },
);

const waits = fc.array(rarely(fc.constantFrom(30, 90), undefined, 2), {
  minLength: MOST_NODES,
  maxLength: MOST_NODES,
});

/** What waits for an answer is no map, and nothing of it is remembered. */
export function toApproval(node: PlannedNode, timeoutSeconds: number): PlannedNode {
  const { map: _map, child: _child, cache: _cache, engine: _engine, queueTimeoutSeconds: _wait, ...rest } = node;
  return { ...rest, approval: true, isReader: false, timeoutSeconds };
}

/** Of some answers, another user gives the opposite at the same time. */
function withRival(ask: PlannedAsk): PlannedAsk[] {
  return ask.kind === 'answer' && ask.times > 1 ? [ask, { ...ask, approve: !ask.approve }] : [ask];
}

/** Acts name nodes that there are, and answers those that wait for one, where there is any. */
export function within(ask: PlannedAsk, count: number, waiting: readonly number[]): PlannedAsk {
  if (ask.kind === 'answer' && waiting.length > 0) {
    return { ...ask, place: waiting[ask.place % waiting.length] as number };
  }
  if (ask.kind === 'mark' || ask.kind === 'answer') return { ...ask, place: ask.place % count };
  if (ask.kind !== 'rerun') return ask;
  const marks = new Map(ask.marks.map((one) => [one.place % count, { ...one, place: one.place % count }]));
  const from = typeof ask.from === 'string' ? ask.from : [...new Set(ask.from.map((one) => one % count))];
  return { ...ask, from, marks: [...marks.values()] };
}

/** A run or two, a child of each, and users who ask for anything at any time. */
export const askedPlans: fc.Arbitrary<Plan> = calmOrNot(
  fc
    .record({
      plan: wholePlans,
      root: richPipeline(MOST_NODES, 0, 1),
      child: richPipeline(2, 1, 0),
      waits,
      asks,
      stops,
      pauses: rarely(pauses, undefined, 5),
      runsAtMs: rarely(fc.constantFrom([10], [3_000]), undefined, 2),
      order: harshOrder,
      lateEngineAtMs: fc.constantFrom(500, 20_000),
    })
    .map(({ plan, root, child, waits: all, asks: drawn, ...rest }) => {
      const nodes = root.nodes.map((one, at) => {
        const wait = all[at];
        return wait === undefined ? one : toApproval(one, wait);
      });
      const waiting = [...nodes.keys()].filter((at) => nodes[at]?.approval);
      const known = drawn.flatMap(withRival).map((ask) => within(ask, nodes.length, waiting));
      return { ...plan, ...root, ...rest, nodes, children: [child], asks: known };
    }),
);
