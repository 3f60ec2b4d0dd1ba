/** The scenario of a plan: its definitions, how attempts go, what users do, and what goes wrong. */
import { createHash } from 'node:crypto';
import { createMemoryPayloads, type MemoryPayloads } from '#adapters/memory/memory-payloads.ts';
import { type PayloadRef, payloadKey, toEnvelope } from '#domain/payload-ref.ts';
import type { RunRecord } from '#domain/run.ts';
import { chooser } from '#testing/chooser.ts';
import type { Faults } from '#testing/faults.ts';
import type { Plan, PlannedAttempt, PlannedChange, PlannedLimit, PlannedNode, PlannedPipeline } from './plan.ts';
import { actsOfAsks, actsOfBackfills, actsOfOrders, actsOfRequests } from './plan-asks.ts';
import { EVALUATOR, pipelineName, toDefinition } from './plan-definition.ts';
import type { Scenario, Script } from './scenario.ts';
import type { UserAct } from './users.ts';

/** The scenario of a plan. */
export function toScenario(plan: Plan): Scenario {
  const payloads = createMemoryPayloads();
  return {
    name: 'random',
    definition: toDefinition(plan),
    children: (plan.children ?? []).map((child, place) =>
      toDefinition({ ...child, events: plan.events }, undefined, place),
    ),
    script: (id, attempt, item, _payload, run) => {
      if (!run) throw new Error('an execution of no run');
      const { nodes, shift } = playedBy(plan, run);
      const node = nodes[Number(id.slice(1))] as PlannedNode;
      const script = toScript(node, attempt + shift, item);
      if (script.end.status !== 'SUCCEEDED') return script;
      return {
        ...script,
        end: { status: 'SUCCEEDED', output: outputOf(node, `${run.id}/${id}/${item ?? ''}/${attempt}`, payloads) },
      };
    },
    ...(plan.stopAtMs !== undefined && { stopAtMs: plan.stopAtMs }),
    users: usersOf(plan),
    engineAtMs: plan.engineAtMs,
    ...(plan.lateEngineAtMs !== undefined && { otherEngines: [['late', plan.lateEngineAtMs]] }),
    ...(plan.engineGone && { engineGone: plan.engineGone }),
    options: { maxDecisions: plan.maxDecisions, maxFlights: plan.maxFlights },
    evaluator: EVALUATOR,
    payloads,
    watchesPipelines: plan.orders !== undefined || plan.requests !== undefined,
  };
}

/** Length of a large output: two of them do not go into one input. */
const LARGE = 140_000;

/** An output that tells whose it is, so that one which was remembered can be told from others. */
function outputOf({ bulk = 'none' }: PlannedNode, by: string, payloads: MemoryPayloads): string {
  if (bulk === 'none') return JSON.stringify({ by });
  const text = JSON.stringify({ by, fill: 'x'.repeat(LARGE) });
  return bulk === 'direct' ? text : JSON.stringify(toEnvelope(keep(text, payloads)));
}

/** Keeps a text as a function does that returns it by reference. */
function keep(text: string, { stored }: MemoryPayloads): PayloadRef {
  const sha256 = createHash('sha256').update(text).digest('hex');
  const key = payloadKey('outputs', sha256);
  stored.set(key, text);
  return { bucket: 'memory', key, bytes: Buffer.byteLength(text), sha256 };
}

function usersOf(plan: Plan): UserAct[][] {
  const { runsAtMs = [], stops = [], pauses = [], revisions = [], limits = [], events } = plan;
  const { asks = [], orders = [], requests = [], backfills = [] } = plan;
  const name = pipelineName(undefined);
  return [
    ...actsOfAsks(asks),
    actsOfOrders(orders, name),
    ...actsOfRequests(requests, name),
    ...actsOfBackfills(backfills, name),
    ...limits.map(({ name, changes }) => changes.map((change) => toChange(name, change))),
    ...runsAtMs.map((atMs, at): UserAct[] => [
      { atMs, kind: 'start', pipeline: pipelineName(undefined), key: `${at + 1}` },
    ]),
    ...stops.map(({ atMs, run }): UserAct[] => [{ atMs, kind: 'stop', run }]),
    ...pauses.map(({ fromMs, toMs, run }): UserAct[] => [
      { atMs: fromMs, kind: 'pause', run },
      { atMs: toMs, kind: 'resume', run },
    ]),
    revisions.map(({ atMs, child, to }, at): UserAct => {
      const definition = toDefinition({ ...to, events }, undefined, child);
      return { atMs, kind: 'put', definition, revision: `rev${at + 2}` };
    }),
  ];
}

function toChange(name: PlannedLimit['name'], { atMs, to, heartbeatSeconds }: PlannedChange): UserAct {
  if (to === 'beat') return { atMs, kind: 'beat', name };
  if (name.startsWith('p')) return { atMs, kind: 'pool', name, slots: typeof to === 'number' ? to : 0 };
  const beats = heartbeatSeconds !== undefined && { heartbeatSeconds };
  if (typeof to === 'number') return { atMs, kind: 'engine', name, slots: to, ...beats };
  return {
    atMs,
    kind: 'engine',
    name,
    ...beats,
    ...(to === 'gone' && { isGone: true }),
    ...(to === 'drained' && { isDrained: true }),
  };
}

/** What a run plays: its revision of its pipeline, and how many attempts at the beginning of each list it leaves out. */
export function playedBy(
  plan: Plan,
  { pipeline, revision, tags, trigger }: Pick<RunRecord, 'pipeline' | 'revision' | 'tags' | 'trigger'>,
): PlannedPipeline & { readonly shift: number } {
  const number = Number(revision.slice('rev'.length));
  const first = pipeline === pipelineName(undefined) ? plan : plan.children?.[Number(pipeline.slice('child'.length))];
  const played = number === 1 ? first : plan.revisions?.[number - 2]?.to;
  if (!played) throw new Error(`no ${revision} of ${pipeline} in the plan`);
  const isAgain = trigger.type === 'rerun' && (plan.asks?.length ?? 0) > 0;
  return { ...played, shift: Number(tags.find(([name]) => name === 'key')?.[1] ?? 0) + (isAgain ? 1 : 0) };
}

/** How an attempt of a node, or of an item of it, goes. */
export function attemptOf(node: PlannedNode, attempt: number, item?: number): PlannedAttempt {
  const attempts = item === undefined ? node.attempts : (node.map?.items[item] as readonly PlannedAttempt[]);
  return attempts[Math.min(attempt, attempts.length) - 1] as PlannedAttempt;
}

const NEVER_MS = 10 ** 9;

function toScript(node: PlannedNode, attempt: number, item?: number): Script {
  const { kind, error, durationMs, reports } = attemptOf(node, attempt, item);
  const script = scriptOf(kind, error, durationMs);
  return reports ? { ...script, reportsAtMs: timesOf(reports) } : script;
}

function timesOf({ everyMs, forMs }: NonNullable<PlannedAttempt['reports']>): number[] {
  return Array.from({ length: Math.floor(forMs / everyMs) }, (_, at) => (at + 1) * everyMs);
}

function scriptOf(kind: PlannedAttempt['kind'], error: string, durationMs: number): Script {
  switch (kind) {
    case 'HANGS':
      return { durationMs: NEVER_MS, end: { status: 'SUCCEEDED', output: '{}' } };
    case 'REFUSED':
      return { durationMs: 0, end: { status: 'SUCCEEDED' }, isRefused: true };
    case 'SUCCEEDED':
      return { durationMs, end: { status: kind, output: '{}' } };
    case 'FAILED':
      return { durationMs, end: { status: kind, error: { name: error, message: 'told so' } } };
    default:
      // The event of such an end does not bring the error, a look does: which of the two is stored first stands.
      return { durationMs, end: { status: kind, error: { name: 'States.Timeout', message: 'told so' } } };
  }
}

/** What goes wrong in a plan. */
export function toFaults(plan: Plan): Faults {
  const { order, drop, tickMs, outage, startsPerSecond } = plan;
  return {
    at: new Map(plan.faults),
    tickMs,
    drop,
    ...(outage && { outage }),
    ...(startsPerSecond !== undefined && { startsPerSecond }),
    ...(order && {
      choose: chooser(order.seed),
      copies: order.copies,
      lateMs: order.lateMs,
      skewMs: order.skewMs,
      staleMs: order.staleMs,
      isIndexStale: order.isIndexStale,
      strangers: order.strangers,
      ...(order.loseOneIn !== undefined && { loseOneIn: order.loseOneIn }),
      ...(order.doublesOneIn !== undefined && { doublesOneIn: order.doublesOneIn }),
      ...(order.skipsOneIn !== undefined && { skipsOneIn: order.skipsOneIn }),
    }),
  };
}
