/** Draws the nodes of a random graph, and how their attempts go. */
import fc from 'fast-check';
import { TRIGGER_RULES } from '#domain/definition.ts';
import type { PlannedAttempt, PlannedNode } from '../plan.ts';
import { rarely } from './rarely.ts';

export const MOST_NODES = 12;
/** Time limits of attempts (s): short ones stand far enough from the longest duration for every delay in between. */
const TIMEOUTS = [30, 90, 86_400] as const;
const ERRORS = ['Flaky', 'Broken', 'BadInput', 'States.TaskFailed', 'States.Timeout'] as const;
const NAMES = [...ERRORS, 'States.ALL', 'Millrace.EngineError'] as const;

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

export function nodesUpTo(most: number): fc.Arbitrary<PlannedNode[]> {
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
