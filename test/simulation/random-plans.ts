/** Draws plans: random graphs with everything that a definition may say, and random trouble. */
import fc from 'fast-check';
import { TRIGGER_RULES } from '#domain/definition.ts';
import type { OperationFault } from './faults.ts';
import type { Plan, PlannedAttempt, PlannedChange, PlannedLimit, PlannedNode, PlannedPipeline } from './plan.ts';

const MOST_NODES = 12;
/** Time limits of attempts (s): short ones stand far enough from the longest duration for every delay in between. */
const TIMEOUTS = [30, 90, 86_400] as const;
const ERRORS = ['Flaky', 'Broken', 'BadInput', 'States.TaskFailed', 'States.Timeout'] as const;
const NAMES = [...ERRORS, 'States.ALL', 'Millrace.EngineError'] as const;

/** Mostly the usual value; otherwise one that is drawn. */
function rarely<T, U>(arbitrary: fc.Arbitrary<T>, usual: U, weight: number): fc.Arbitrary<T | U> {
  return fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary });
}

const kind = fc.oneof(
  { weight: 12, arbitrary: fc.constant('SUCCEEDED' as const) },
  { weight: 6, arbitrary: fc.constant('FAILED' as const) },
  { weight: 1, arbitrary: fc.constantFrom('TIMED_OUT', 'ABORTED', 'HANGS', 'REFUSED') },
);

const attempt: fc.Arbitrary<PlannedAttempt> = fc.record({
  kind,
  error: fc.constantFrom(...ERRORS),
  durationMs: fc.constantFrom(1_000, 0, 10, 1_500, 5_000),
});

const names = rarely(fc.uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 2 }), undefined, 2);

const retry: fc.Arbitrary<PlannedNode['retry']> = rarely(
  fc.record({
    maxAttempts: fc.integer({ min: 2, max: 4 }),
    intervalSeconds: fc.constantFrom(1, 0, 2, 40),
    jitter: fc.constantFrom('none', 'full'),
    on: names,
    notOn: names,
  }),
  undefined,
  1,
);

/** Upstreams of the node at a place, from a mask: about two of those shortly before it. */
function upstreamsOf(place: number, mask: number): number[] {
  const near: number[] = [];
  for (let back = 1; back <= place && near.length < 4; back++) if ((mask >> back) & 1) near.push(place - back);
  return near;
}

const map: fc.Arbitrary<PlannedNode['map']> = fc.record({
  items: fc.array(fc.array(attempt, { minLength: 1, maxLength: 2 }), { maxLength: 4 }),
  maxConcurrency: fc.constantFrom(100, 1, 2),
  tolerated: fc.constantFrom(0, 1, 2),
});

/** What a node chooses: some of its downstreams, by a mask over those that it has. */
const choice = fc.oneof(
  { weight: 8, arbitrary: fc.nat(15) },
  { weight: 1, arbitrary: fc.constantFrom('error' as const, 'stranger' as const) },
);

const node = fc.record({
  mask: fc.nat(2 ** (MOST_NODES + 1) - 1),
  trigger: fc.oneof(
    { weight: 1, arbitrary: fc.constant('all_success' as const) },
    { weight: 2, arbitrary: fc.constantFrom(...TRIGGER_RULES) },
  ),
  when: rarely(fc.constantFrom('true', 'false', 'error', 'odd'), undefined, 4),
  allowFailure: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  isReader: fc.boolean(),
  retry,
  timeoutSeconds: fc.constantFrom(...TIMEOUTS),
  attempts: fc.array(attempt, { minLength: 1, maxLength: 4 }),
  choice: rarely(choice, undefined, 5),
  map: rarely(map, undefined, 5),
});

function nodesUpTo(most: number): fc.Arbitrary<PlannedNode[]> {
  return fc.array(node, { minLength: 1, maxLength: most, size: 'max' }).map((drawn) => {
    const upstreams = drawn.map(({ mask }, place) => upstreamsOf(place, mask & (mask >> 1)));
    return drawn.map(({ mask: _mask, choice: chosen, ...rest }, place) => ({
      ...rest,
      timeoutSeconds: hangs(rest) ? Math.min(rest.timeoutSeconds, 90) : rest.timeoutSeconds,
      upstreams: upstreams[place] as number[],
      ...(!rest.map && { branch: choose(chosen, downstreamsOf(upstreams, place)) }),
    }));
  });
}

/** What never ends by itself would keep a world going for a day. */
function hangs({ attempts, map: items }: Pick<PlannedNode, 'attempts' | 'map'>): boolean {
  return [...attempts, ...(items?.items ?? []).flat()].some(({ kind: how }) => how === 'HANGS');
}

function downstreamsOf(upstreams: readonly (readonly number[])[], place: number): number[] {
  return upstreams.flatMap((above, below) => (above.includes(place) ? [below] : []));
}

/** A node without downstreams has nothing to choose from. */
function choose(chosen: number | 'error' | 'stranger' | undefined, downstreams: number[]): PlannedNode['branch'] {
  if (downstreams.length === 0) return undefined;
  if (typeof chosen !== 'number') return chosen;
  return downstreams.filter((_, at) => ((chosen >> at) & 1) === 1);
}

const when = fc.constantFrom('before', 'after');

const fault: fc.Arbitrary<OperationFault> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('kill' as const), when }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('fail' as const), when }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'doubt' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('freeze' as const),
      when,
      forMs: fc.constantFrom(2_000, 500, 10_000, 29_000, 31_000, 61_000, 100_000, 200_000),
    }),
  },
);

/** Faults fall mostly early, where every world still has operations. */
const place = fc.oneof({ weight: 3, arbitrary: fc.nat(40) }, { weight: 1, arbitrary: fc.nat(200) });

const order: fc.Arbitrary<Plan['order']> = fc.option(
  fc.record({
    seed: fc.nat(),
    loseOneIn: fc.constantFrom(undefined, 2, 5),
    copies: fc.constantFrom(1, 3),
    lateMs: fc.constantFrom(0, 200, 3_000, 90_000),
    skewMs: fc.constantFrom(0, 2_000),
    staleMs: fc.constantFrom(0, 1_000),
    isIndexStale: fc.boolean(),
    strangers: fc.boolean(),
  }),
  { nil: undefined, freq: 6 },
);

/** Random worlds that nobody stops: the reference says what they come to. */
const wholePlans: fc.Arbitrary<Plan> = fc.record({
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

/** Random worlds that end early: a user stops them, a failure does, or their own time is over; with refused starts. */
const endingPlans: fc.Arbitrary<Plan> = fc
  .record({
    plan: wholePlans,
    failFast: fc.boolean(),
    stopAtMs: fc.option(fc.constantFrom(0, 5, 1_000, 2_500, 10_000, 60_000, 130_000), { nil: undefined, freq: 3 }),
    timeoutSeconds: rarely(fc.constantFrom(1, 10, 70, 300), undefined, 3),
    refusals: fc.array(place, { maxLength: 1 }),
  })
  .map(({ plan, refusals, ...ending }) => ({
    ...plan,
    ...ending,
    faults: [...plan.faults, ...refusals.map((at) => [at, { kind: 'refuse' as const }] as const)],
  }));

/** One or two nodes, and much that goes wrong close together, where the fence and its neighbours are. */
const narrowPlans: fc.Arbitrary<Plan> = fc
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

const cache: fc.Arbitrary<PlannedNode['cache']> = fc.record({
  key: fc.constantFrom('a', 'a', 'b', 'item', 'error'),
  ttlSeconds: fc.constantFrom(3_600, 3_600, 1),
});

/** Nodes that wait: for an engine that does not come, for one that comes late, or for their turn. */
const wait: fc.Arbitrary<Pick<PlannedNode, 'engine' | 'queueTimeoutSeconds'>> = fc.oneof(
  fc.record({ engine: fc.constant('never' as const), queueTimeoutSeconds: fc.constantFrom(1, 30, 100) }),
  fc.record({ engine: fc.constant('late' as const), queueTimeoutSeconds: fc.constantFrom(undefined, 1, 30, 300) }),
  fc.record({ queueTimeoutSeconds: fc.constantFrom(1, 30) }),
);

/** What nodes of the richer kinds have beside the others. */
const extras = fc.record({
  child: rarely(fc.nat(1), undefined, 1),
  cache: rarely(cache, undefined, 2),
  isPlain: fc.boolean(),
  wait: rarely(wait, undefined, 5),
});

/** @param children how many pipelines there are behind this one, of which the first is at the place `from` */
function richPipeline(most: number, from: number, children: number): fc.Arbitrary<PlannedPipeline> {
  return fc
    .record({
      nodes: nodesUpTo(most),
      extras: fc.array(extras, { minLength: most, maxLength: most }),
      failFast: rarely(fc.constant(true), false, 7),
      timeoutSeconds: rarely(fc.constantFrom(10, 70), undefined, 9),
      output: rarely(fc.constantFrom('value', 'value', 'error'), undefined, 1),
    })
    .map(({ nodes, extras: all, ...rest }) => ({
      ...rest,
      nodes: nodes.map((one, place) => enrich(one, all[place] as Extras, from, children)),
    }));
}

type Extras = typeof extras extends fc.Arbitrary<infer T> ? T : never;

function enrich(
  one: PlannedNode,
  { child, cache: cached, wait: waits, isPlain }: Extras,
  from: number,
  children: number,
) {
  const isChosenWell = typeof one.branch !== 'string';
  // Too many conditions, and little is left to be run.
  const when = isPlain ? undefined : one.when;
  const known = { ...one, when, ...(cached && isChosenWell && { cache: cached }) };
  if (child === undefined || children === 0) return { ...known, ...waits };
  const { retry, map: items } = one;
  return {
    ...known,
    child: from + (child % children),
    ...(retry && { retry: { ...retry, maxAttempts: Math.min(retry.maxAttempts, 2) } }),
    // Runs within runs are many soon.
    map: from === 0 && items ? { ...items, items: items.items.slice(0, 2) } : undefined,
  };
}

/** A node that never ends, so that whoever started its run has to end it. */
const ENDLESS: PlannedNode = {
  upstreams: [],
  trigger: 'all_success',
  allowFailure: false,
  isReader: false,
  timeoutSeconds: 86_400,
  attempts: [{ kind: 'HANGS', error: 'Broken', durationMs: 0 }],
};

/** Children at most. */
const MOST_CHILDREN = 2;

const children: fc.Arbitrary<readonly PlannedPipeline[]> = fc
  .record({
    first: richPipeline(3, 1, 1),
    last: richPipeline(3, MOST_CHILDREN, 0),
    isEndless: rarely(fc.constant(true), false, 7),
  })
  .map(({ first, last, isEndless }) => [first, isEndless ? { ...last, nodes: [...last.nodes, ENDLESS] } : last]);

/** Whoever starts what may be endless gives it little time. */
function inTime(pipeline: PlannedPipeline, all: readonly PlannedPipeline[]): PlannedPipeline {
  const isEndless = (at: number | undefined) => at !== undefined && all[at]?.nodes.includes(ENDLESS) === true;
  const nodes = pipeline.nodes.map((one) => {
    return isEndless(one.child) ? { ...one, timeoutSeconds: Math.min(one.timeoutSeconds, 90) } : one;
  });
  return { ...pipeline, nodes };
}

const stops = rarely(
  fc.array(fc.record({ atMs: fc.constantFrom(0, 1_500, 5_000, 40_000, 130_000), run: fc.nat(5) }), {
    minLength: 1,
    maxLength: 2,
  }),
  undefined,
  2,
);

const pauses = fc.array(
  fc
    .record({
      fromMs: fc.constantFrom(500, 0, 2_000, 8_000, 61_000),
      forMs: fc.constantFrom(1_000, 10, 30_000, 200_000),
      run: rarely(fc.nat(4), 0, 1),
    })
    .map(({ fromMs, forMs, run }) => ({ fromMs, toMs: fromMs + forMs, run })),
  { minLength: 1, maxLength: 2 },
);

/** Worlds in which nothing goes wrong, for what can be asked of those alone; or worlds as the others. */
function calmOrNot(plans: fc.Arbitrary<Plan>): fc.Arbitrary<Plan> {
  return fc.record({ plan: plans, isCalm: fc.boolean() }).map(({ plan, isCalm }) => {
    return isCalm ? { ...plan, faults: [], order: undefined, outage: undefined, drop: false } : plan;
  });
}

/** Pipelines that start others, twice over. Any of the runs may be stopped. */
const familyPlans: fc.Arbitrary<Plan> = calmOrNot(
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

/** Several runs of one pipeline at once, which gets new revisions meanwhile. Any of the runs may be stopped. */
const crowdPlans: fc.Arbitrary<Plan> = calmOrNot(
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

/** One run that is paused and goes on, and may end early. */
const pausedPlans: fc.Arbitrary<Plan> = fc
  .record({ plan: fc.oneof(wholePlans, endingPlans), pauses })
  .map(({ plan, ...rest }) => ({ ...plan, ...rest }));

const longFreeze: fc.Arbitrary<OperationFault> = fc.record({
  kind: fc.constant('freeze'),
  when: fc.constant('before'),
  forMs: fc.constantFrom(100_000, 61_000, 200_000),
});

/** A run, a child or two of it, and much that goes wrong close together while the one starts or stops the other. */
const kinPlans: fc.Arbitrary<Plan> = fc
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

const limitExtras = fc.record({
  engine: fc.constantFrom(0, 0, 0, 1, 2, undefined),
  pool: fc.constantFrom(undefined, undefined, undefined, 0, 1),
  priority: fc.constantFrom(undefined, undefined, 5, -3),
  queueTimeoutSeconds: rarely(fc.constantFrom(1, 30, 300), undefined, 9),
  cleanup: rarely(fc.constant(true), undefined, 9),
  isPlain: rarely(fc.constant(false), true, 3),
  isChild: rarely(fc.constant(true), false, 7),
});

const concurrency: fc.Arbitrary<PlannedPipeline['concurrency']> = rarely(
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
const limitPlans: fc.Arbitrary<Plan> = calmOrNot(
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

/** The kinds of plans, by name. */
export const PLANS = {
  whole: wholePlans,
  ending: endingPlans,
  narrow: narrowPlans,
  family: familyPlans,
  kin: kinPlans,
  crowd: crowdPlans,
  paused: pausedPlans,
  limits: limitPlans,
} as const satisfies Record<string, fc.Arbitrary<Plan>>;
