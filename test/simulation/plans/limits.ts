/** Runs that share engines, pools and turns. */
import fc from 'fast-check';
import type { Plan, PlannedChange, PlannedLimit, PlannedNode, PlannedPipeline } from '../plan.ts';
import { pauses, stops } from './commands.ts';
import { nodesUpTo } from './nodes.ts';
import { rarely } from './rarely.ts';
import { calmOrNot, fault, longFreeze, place } from './trouble.ts';
import { wholePlans } from './whole.ts';

const limitExtras = fc.record({
  engine: fc.constantFrom(0, 0, 0, 1, 2, undefined),
  pool: fc.constantFrom(undefined, undefined, undefined, 0, 1),
  priority: fc.constantFrom(undefined, undefined, 5, -3),
  queueTimeoutSeconds: rarely(fc.constantFrom(1, 30, 300), undefined, 9),
  cleanup: rarely(fc.constant(true), undefined, 9),
  isPlain: rarely(fc.constant(false), true, 3),
  isChild: rarely(fc.constant(true), false, 7),
});

export const concurrency: fc.Arbitrary<PlannedPipeline['concurrency']> = rarely(
  fc.record({
    maxActiveRuns: fc.constantFrom(1, 1, 2),
    onOverlap: fc.constantFrom('queue', 'queue', 'queue', 'skip', 'cancelRunning', 'allow'),
  }),
  undefined,
  1,
);

/** Engines and pools of a world; what asks for others gets one of these. */
interface Shared {
  readonly engines: readonly PlannedLimit[];
  readonly pools: readonly PlannedLimit[];
}

function limitedPipeline(most: number, child?: number): fc.Arbitrary<(shared: Shared) => PlannedPipeline> {
  return fc
    .record({
      nodes: nodesUpTo(most),
      extras: fc.array(limitExtras, { minLength: most, maxLength: most }),
      failFast: rarely(fc.constant(true), false, 7),
      timeoutSeconds: rarely(fc.constantFrom(70, 300), undefined, 9),
      concurrency,
    })
    .map(({ nodes, extras: all, ...rest }) => (shared: Shared) => ({
      ...rest,
      nodes: nodes.map((one, place) => limited(one, all[place] as LimitExtras, shared, child)),
    }));
}

type LimitExtras = typeof limitExtras extends fc.Arbitrary<infer T> ? T : never;

function limited(
  one: PlannedNode,
  { engine, pool, isPlain, isChild, ...rest }: LimitExtras,
  { engines, pools }: Shared,
  child: number | undefined,
): PlannedNode {
  const plain = isPlain ? { ...one, when: undefined, branch: undefined, trigger: 'all_done' as const } : one;
  if (isChild && child !== undefined) return { ...plain, ...rest, child, map: undefined };
  return {
    ...plain,
    ...rest,
    ...(engine !== undefined && { engine: engines[engine % engines.length]?.name }),
    ...(pool !== undefined && pools.length > 0 && { pool: pools[pool % pools.length]?.name }),
  };
}

const slots = fc.constantFrom(1, 1, 2, 3, 5);
const changeTimes = fc.constantFrom(0, 10, 1_200, 4_000, 30_000, 100_000);

/** What is done to a limit: it comes, is changed, and stands in the end. */
function changes(between: fc.Arbitrary<PlannedChange['to']>, last: fc.Arbitrary<PlannedChange['to']>) {
  return fc
    .record({
      first: fc.record({ atMs: fc.constantFrom(0, 0, 0, 500, 70_000), to: last }),
      between: rarely(
        fc.array(fc.record({ atMs: changeTimes, to: between }), { minLength: 1, maxLength: 3 }),
        undefined,
        1,
      ),
      last: fc.record({ atMs: fc.constantFrom(100_000, 6_000, 200_000), to: last }),
    })
    .map(({ first, between: drawn, last: end }): PlannedChange[] => {
      if (!drawn) return [first];
      const sorted = [first, ...drawn].sort((a, b) => a.atMs - b.atMs);
      return [...sorted, { ...end, atMs: Math.max(end.atMs, ...sorted.map(({ atMs }) => atMs)) }];
    });
}

const engineChanges = changes(
  fc.oneof(slots, fc.constantFrom(0, 'unlimited' as const, 'drained' as const, 'gone' as const)),
  rarely(fc.constant('unlimited' as const), 1, 9).chain((to) => (to === 1 ? slots : fc.constant(to))),
);
const poolChanges = changes(fc.oneof(slots, fc.constant(0)), slots);

function limitsNamed<T extends PlannedLimit['name']>(
  names: readonly T[],
  least: number,
  drawn: fc.Arbitrary<PlannedChange[]>,
): fc.Arbitrary<PlannedLimit[]> {
  return fc
    .array(drawn, { minLength: least, maxLength: names.length })
    .map((all) => all.map((one, place) => ({ name: names[place] as T, changes: one })));
}

/** Runs that share engines, pools and turns, all of which change meanwhile. Any of the runs may be stopped. */
export const limitPlans: fc.Arbitrary<Plan> = calmOrNot(
  fc
    .record({
      plan: wholePlans,
      root: limitedPipeline(5, 0),
      below: limitedPipeline(3),
      engines: limitsNamed(['e0', 'e1', 'e2'], 1, engineChanges),
      pools: limitsNamed(['p0', 'p1'], 0, poolChanges),
      runsAtMs: fc.array(fc.constantFrom(0, 10, 1_000, 3_000, 65_000), { minLength: 0, maxLength: 3 }),
      faults: fc.uniqueArray(
        fc.tuple(place, fc.oneof({ weight: 3, arbitrary: fault }, { weight: 1, arbitrary: longFreeze })),
        {
          maxLength: 6,
          selector: ([at]) => at,
        },
      ),
      stops,
      pauses: rarely(pauses, undefined, 3),
    })
    .map(({ plan, root, below, engines, pools, ...rest }) => {
      const shared = { engines, pools };
      return {
        ...plan,
        ...root(shared),
        ...rest,
        children: [below(shared)],
        limits: [...engines, ...pools],
        engineAtMs: 0,
        engineGone: undefined,
      };
    }),
);
