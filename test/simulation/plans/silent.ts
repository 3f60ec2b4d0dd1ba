/** What has to report, and falls silent: the code of attempts, and the owners of engines. */
import fc from 'fast-check';
import type { Plan, PlannedAttempt, PlannedChange, PlannedNode } from '../plan.ts';
import { stops } from './commands.ts';
import { nodesUpTo } from './nodes.ts';
import { rarely } from './rarely.ts';
import { calmOrNot, harshOrder } from './trouble.ts';
import { wholePlans } from './whole.ts';

/** How long the code of a node may be silent (s): far from how often it reports, and from how short attempts are. */
const HEARTBEAT_SECONDS = 120;
const EVERY_MS = 20_000;

/** An attempt that reports: to its end, or until its code hangs. */
const reporting: fc.Arbitrary<Pick<PlannedAttempt, 'kind' | 'durationMs' | 'reports'>> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('SUCCEEDED', 'SUCCEEDED', 'FAILED'),
    durationMs: fc.constantFrom(170_000, 250_000),
    reports: fc.constant({ everyMs: EVERY_MS, forMs: 260_000 }),
  }),
  fc.record({
    kind: fc.constant('HANGS' as const),
    durationMs: fc.constant(0),
    reports: fc.constantFrom(undefined, { everyMs: EVERY_MS, forMs: 60_000 }, { everyMs: 5_000, forMs: 15_000 }),
  }),
);

const MOST_NODES = 4;

const extras = fc.array(
  fc.record({
    first: rarely(reporting, undefined, 1),
    onSilence: fc.boolean(),
    isOfOwner: fc.boolean(),
  }),
  { minLength: MOST_NODES, maxLength: MOST_NODES },
);

type Extra = typeof extras extends fc.Arbitrary<(infer T)[]> ? T : never;

function toSilent(node: PlannedNode, { first, onSilence, isOfOwner }: Extra): PlannedNode {
  const { map: _map, ...rest } = node;
  const engine = isOfOwner && { engine: 'e0' as const };
  if (!first) return { ...rest, ...engine };
  const [known, ...others] = node.attempts as [PlannedAttempt, ...PlannedAttempt[]];
  const retry = node.retry && { ...node.retry, on: onSilence ? ['Millrace.HeartbeatTimeout', 'Flaky'] : node.retry.on };
  return {
    ...rest,
    ...engine,
    ...(retry && { retry }),
    heartbeatSeconds: HEARTBEAT_SECONDS,
    timeoutSeconds: 86_400,
    attempts: [
      { ...known, ...first },
      ...others.map((one) => (one.kind === 'HANGS' ? { ...one, kind: 'FAILED' as const } : one)),
    ],
  };
}

/** An owner that registers its engine, reports for a while, falls silent, comes back, and in the end need not report. */
const owner: fc.Arbitrary<PlannedChange[]> = fc
  .record({
    slots: fc.constantFrom<(number | 'unlimited')[]>(1, 2, 'unlimited'),
    heartbeatSeconds: fc.constantFrom(10, 30, 60),
    beats: fc.uniqueArray(fc.constantFrom(5_000, 9_000, 25_000, 45_000, 100_000, 160_000), { maxLength: 4 }),
    endsAtMs: fc.constantFrom(200_000, 90_000, 300_000),
  })
  .map(({ slots, heartbeatSeconds, beats, endsAtMs }) => [
    { atMs: 0, to: slots, heartbeatSeconds },
    ...beats
      .filter((at) => at < endsAtMs)
      .sort((a, b) => a - b)
      .map((atMs) => ({ atMs, to: 'beat' as const })),
    { atMs: endsAtMs, to: slots },
  ]);

/** An engine that nothing asks for, whose owner falls silent for good. */
const forsaken: fc.Arbitrary<readonly PlannedChange[]> = fc.constantFrom<readonly PlannedChange[]>(
  [{ atMs: 0, to: 1, heartbeatSeconds: 10 }],
  [
    { atMs: 0, to: 1, heartbeatSeconds: 30 },
    { atMs: 25_000, to: 'beat' },
  ],
);

/** Attempts that have to report, on engines whose owners have to. */
export const silentPlans: fc.Arbitrary<Plan> = calmOrNot(
  fc
    .record({
      plan: wholePlans,
      nodes: nodesUpTo(MOST_NODES),
      extras,
      owner,
      forsaken: rarely(forsaken, undefined, 2),
      runsAtMs: rarely(fc.constantFrom([10], [40_000, 65_000]), undefined, 1),
      stops,
      order: harshOrder,
    })
    .map(({ plan, nodes, extras: all, owner: changes, forsaken: other, ...rest }) => ({
      ...plan,
      ...rest,
      nodes: nodes.map((node, place) => toSilent(node, all[place] as Extra)),
      limits: [{ name: 'e0' as const, changes }, ...(other ? [{ name: 'e1' as const, changes: other }] : [])],
    })),
);
