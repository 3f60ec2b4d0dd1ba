/** Pipelines whose nodes start others, remember their outputs, or wait for an engine. */
import fc from 'fast-check';
import type { PlannedNode, PlannedPipeline } from '../plan.ts';
import { nodesUpTo } from './nodes.ts';
import { rarely } from './rarely.ts';

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
export function richPipeline(most: number, from: number, children: number): fc.Arbitrary<PlannedPipeline> {
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
export const ENDLESS: PlannedNode = {
  upstreams: [],
  trigger: 'all_success',
  allowFailure: false,
  isReader: false,
  timeoutSeconds: 86_400,
  attempts: [{ kind: 'HANGS', error: 'Broken', durationMs: 0 }],
};

/** Whoever starts what may be endless gives it little time. */
export function inTime(pipeline: PlannedPipeline, all: readonly PlannedPipeline[]): PlannedPipeline {
  const isEndless = (at: number | undefined) => at !== undefined && all[at]?.nodes.includes(ENDLESS) === true;
  const nodes = pipeline.nodes.map((one) => {
    return isEndless(one.child) ? { ...one, timeoutSeconds: Math.min(one.timeoutSeconds, 90) } : one;
  });
  return { ...pipeline, nodes };
}
