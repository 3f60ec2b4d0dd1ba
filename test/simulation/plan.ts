/** A plan: everything about a random world as plain data, so that it can be drawn, shrunk, printed and played again. */
import type { MapDefinition, NodeDefinition, PipelineDefinition, TriggerRule } from '#domain/definition.ts';
import type { Evaluation } from '#domain/facts.ts';
import { isJsonObject, type Json } from '#domain/json.ts';
import type { RunRecord } from '#domain/run.ts';
import type { EvaluationRequest, Evaluator } from '#ports/index.ts';
import { chooser } from '#testing/chooser.ts';
import type { Faults, OperationFault } from '#testing/faults.ts';
import {
  actsOfAsks,
  actsOfOrders,
  actsOfRequests,
  type PlannedAsk,
  type PlannedOrder,
  type PlannedRequest,
} from './plan-asks.ts';
import type { UserAct } from './users.ts';
import type { Scenario, Script } from './world.ts';

/** How an attempt goes. `HANGS`: it never ends by itself. `REFUSED`: Step Functions does not let it start. */
export interface PlannedAttempt {
  readonly kind: 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED' | 'HANGS' | 'REFUSED';
  /** Name of the error, for FAILED. */
  readonly error: string;
  readonly durationMs: number;
  /** Its code reports so often, and for so long (ms). */
  readonly reports?: { readonly everyMs: number; readonly forMs: number } | undefined;
}

/** A node of a plan; its id is `n` and its place in the plan. */
export interface PlannedNode {
  /** Places of its direct upstreams, all smaller than its own. */
  readonly upstreams: readonly number[];
  readonly trigger: TriggerRule;
  /** What its condition gives; `odd` is neither true nor false, and an error like `error`. */
  readonly when?: 'true' | 'false' | 'error' | 'odd' | undefined;
  readonly allowFailure: boolean;
  /** Whether its parameters are expressions. */
  readonly isReader: boolean;
  readonly retry?:
    | {
        readonly maxAttempts: number;
        readonly intervalSeconds: number;
        readonly jitter: 'full' | 'none';
        readonly on?: readonly string[] | undefined;
        readonly notOn?: readonly string[] | undefined;
      }
    | undefined;
  readonly timeoutSeconds: number;
  /** The last one stands for all that follow. Of a map, those of its first item. */
  readonly attempts: readonly PlannedAttempt[];
  /** Places of the direct downstreams that it chooses; `error` and `stranger` make it fail. */
  readonly branch?: readonly number[] | 'error' | 'stranger' | undefined;
  readonly map?: PlannedMap | undefined;
  /** Place, among the plan's children, of the pipeline that it starts: that pipeline decides how its attempts go. */
  readonly child?: number | undefined;
  readonly cache?: PlannedCache | undefined;
  /** The engine that takes it, where it is not `lambda`: `late` comes at some time, `never` does not. */
  readonly engine?: 'late' | 'never' | PlannedLimit['name'] | undefined;
  readonly queueTimeoutSeconds?: number | undefined;
  readonly pool?: PlannedLimit['name'] | undefined;
  readonly priority?: number | undefined;
  readonly cleanup?: boolean | undefined;
  /** It waits for an answer; who gives it decides how its attempts go. */
  readonly approval?: boolean | undefined;
  readonly heartbeatSeconds?: number | undefined;
}

/** An engine or a pool that runs share, and what is done to it: at the end it is there, with a slot or more. */
export interface PlannedLimit {
  readonly name: 'e0' | 'e1' | 'e2' | 'p0' | 'p1';
  readonly changes: readonly PlannedChange[];
}

/** A change of a limit: its number of slots, or none that counts; an engine may be drained or taken away too. */
export interface PlannedChange {
  readonly atMs: number;
  /** `beat`: its owner reports. */
  readonly to: number | 'unlimited' | 'drained' | 'gone' | 'beat';
  /** How long the owner of an engine that it registers may be silent (s). */
  readonly heartbeatSeconds?: number | undefined;
}

/** Under which key the outputs of a node are remembered; `item` tells the items of a map apart, `error` makes it fail. */
export interface PlannedCache {
  readonly key: 'a' | 'b' | 'item' | 'error';
  readonly ttlSeconds: number;
}

/** The map of a node. */
export interface PlannedMap {
  /** How the attempts of each item go. */
  readonly items: readonly (readonly PlannedAttempt[])[];
  readonly maxConcurrency: number;
  /** Items that may fail. */
  readonly tolerated: number;
}

/** A pipeline of a plan. */
export interface PlannedPipeline {
  readonly nodes: readonly PlannedNode[];
  readonly failFast: boolean;
  readonly timeoutSeconds?: number | undefined;
  /** What its output expression gives; absent where it has none. */
  readonly output?: 'value' | 'error' | undefined;
  readonly concurrency?: PipelineDefinition['concurrency'];
  readonly schedule?: PipelineDefinition['schedule'];
}

/** A random world: the pipeline that is run, and whatever else there is. */
export interface Plan extends PlannedPipeline {
  /** Pipelines that nodes start. A pipeline starts only those behind it. */
  readonly children?: readonly PlannedPipeline[] | undefined;
  /** New revisions of the pipeline, or of the child at a place, in the order in which they are put. */
  readonly revisions?: readonly PlannedRevision[] | undefined;
  /** When further runs of the pipeline are started (ms). The later one is, the later in their lists its attempts begin. */
  readonly runsAtMs?: readonly number[] | undefined;
  readonly stopAtMs?: number | undefined;
  /** Other runs that are stopped: the `run`-th of those that there are by then. */
  readonly stops?: readonly { readonly atMs: number; readonly run: number }[] | undefined;
  /** When a run is paused, and when it goes on. */
  readonly pauses?: readonly PlannedPause[] | undefined;
  readonly limits?: readonly PlannedLimit[] | undefined;
  readonly asks?: readonly PlannedAsk[] | undefined;
  readonly orders?: readonly PlannedOrder[] | undefined;
  readonly requests?: readonly PlannedRequest[] | undefined;
  /** When the engine `late` comes. */
  readonly lateEngineAtMs?: number | undefined;
  readonly events: 'run' | 'nodes';
  readonly engineAtMs: number;
  readonly engineGone?: { readonly fromMs: number; readonly toMs: number } | undefined;
  readonly maxDecisions: number;
  readonly maxFlights: number;
  readonly tickMs: number;
  /** By number of the operation. */
  readonly faults: readonly (readonly [number, OperationFault])[];
  /** Decides the order of everything; absent: one thing after the other, and nothing of the following. */
  readonly order?:
    | {
        readonly seed: number;
        readonly loseOneIn?: number | undefined;
        readonly copies: number;
        readonly lateMs: number;
        readonly skewMs: number;
        readonly staleMs: number;
        readonly isIndexStale: boolean;
        readonly strangers: boolean;
        readonly doublesOneIn?: number | undefined;
        readonly skipsOneIn?: number | undefined;
      }
    | undefined;
  readonly drop: boolean;
  readonly outage?: { readonly fromMs: number; readonly toMs: number } | undefined;
  readonly startsPerSecond?: number | undefined;
}

/** A new revision. */
export interface PlannedRevision {
  readonly atMs: number;
  readonly child?: number | undefined;
  readonly to: PlannedPipeline;
}

/** A pause of the `run`-th of the runs that there are by then. */
export interface PlannedPause {
  readonly fromMs: number;
  readonly toMs: number;
  readonly run: number;
}

const REQUESTS = { true: '{% true %}', false: '{% false %}', error: '{% $error("no") %}', odd: '{% 1 %}' } as const;
const KEYS = { a: 'a', b: 'b', item: '{% $item %}', error: REQUESTS.error } as const;

/** The definition of the pipeline of a plan. */
export function toDefinition(
  plan: PlannedPipeline & Pick<Plan, 'events'>,
  idOf: (place: number) => string = (place) => `n${place}`,
  child?: number,
): PipelineDefinition {
  return {
    name: pipelineName(child),
    failFast: plan.failFast,
    events: plan.events,
    ...(plan.timeoutSeconds !== undefined && { timeoutSeconds: plan.timeoutSeconds }),
    ...(plan.concurrency && { concurrency: plan.concurrency }),
    ...(plan.schedule && { schedule: plan.schedule }),
    ...(plan.output && { output: plan.output === 'value' ? '{% $nodes.n0 %}' : REQUESTS.error }),
    nodes: plan.nodes.map((node, place) => toNode(node, idOf, place)),
  };
}

/** The name of the child at a place, or of the pipeline that is run. */
export function pipelineName(child: number | undefined): string {
  return child === undefined ? 'random' : `child${child}`;
}

function toNode(node: PlannedNode, idOf: (place: number) => string, place: number): NodeDefinition {
  const upstreams = node.upstreams.map(idOf);
  return {
    id: idOf(place),
    dependsOn: upstreams,
    trigger: node.trigger,
    ...toWork(node, `{% [${upstreams.map((upstream) => `$nodes.${upstream}`).join(', ')}] %}`),
    ...(node.when && { when: REQUESTS[node.when] }),
    allowFailure: node.allowFailure,
    timeoutSeconds: node.timeoutSeconds,
    ...(node.queueTimeoutSeconds !== undefined && { queueTimeoutSeconds: node.queueTimeoutSeconds }),
    ...(node.pool && { pool: node.pool }),
    ...(node.priority !== undefined && { priority: node.priority }),
    ...(node.cleanup && { cleanup: true }),
    ...(node.heartbeatSeconds !== undefined && { heartbeatSeconds: node.heartbeatSeconds }),
    ...(node.cache && { cache: { ...node.cache, key: KEYS[node.cache.key] } }),
    ...(node.branch && { branch: toBranch(node.branch, idOf) }),
    ...(node.map && { map: toMap(node.map, node.isReader) }),
    ...(node.retry && {
      retry: {
        maxAttempts: node.retry.maxAttempts,
        intervalSeconds: node.retry.intervalSeconds,
        jitter: node.retry.jitter,
        ...(node.retry.on && { on: node.retry.on }),
        ...(node.retry.notOn && { notOn: node.retry.notOn }),
      },
    }),
  };
}

/** Engine and parameters of a node, which see what it can see if it is a reader. */
function toWork(
  { child, engine, isReader, approval }: PlannedNode,
  seen: string,
): Pick<NodeDefinition, 'engine' | 'params'> {
  if (approval) return { engine: 'approval', params: { prompt: 'Go on?' } };
  if (child === undefined)
    return { ...(engine && { engine }), params: { function: 'f', ...(isReader && { payload: seen }) } };
  return { engine: 'pipeline', params: { pipeline: pipelineName(child), ...(isReader && { input: seen }) } };
}

function toBranch(branch: NonNullable<PlannedNode['branch']>, idOf: (place: number) => string): string {
  if (branch === 'error') return REQUESTS.error;
  return literal(branch === 'stranger' ? ['a stranger'] : branch.map(idOf));
}

function toMap({ items, maxConcurrency, tolerated }: PlannedMap, isExpression: boolean): MapDefinition {
  const list = items.map((_, item) => item);
  return { items: isExpression ? literal(list) : list, maxConcurrency, toleratedFailureCount: tolerated };
}

/** An expression that gives a value. */
function literal(value: Json): string {
  return `{% ${JSON.stringify(value)} %}`;
}

/** The scenario of a plan. */
export function toScenario(plan: Plan): Scenario {
  return {
    name: 'random',
    definition: toDefinition(plan),
    children: (plan.children ?? []).map((child, place) =>
      toDefinition({ ...child, events: plan.events }, undefined, place),
    ),
    script: (id, attempt, item, _payload, run) => {
      if (!run) throw new Error('an execution of no run');
      const { nodes, shift } = playedBy(plan, run);
      const script = toScript(nodes[Number(id.slice(1))] as PlannedNode, attempt + shift, item);
      return script.end.status === 'SUCCEEDED' ? { ...script, end: succeeds(`${run.id}/${id}/${item ?? ''}`) } : script;
    },
    ...(plan.stopAtMs !== undefined && { stopAtMs: plan.stopAtMs }),
    users: usersOf(plan),
    engineAtMs: plan.engineAtMs,
    ...(plan.lateEngineAtMs !== undefined && { otherEngines: [['late', plan.lateEngineAtMs]] }),
    ...(plan.engineGone && { engineGone: plan.engineGone }),
    options: { maxDecisions: plan.maxDecisions, maxFlights: plan.maxFlights },
    evaluator: EVALUATOR,
    watchesPipelines: plan.orders !== undefined || plan.requests !== undefined,
  };
}

/** An output that tells whose it is, so that one which was remembered can be told from others. */
function succeeds(by: string): Script['end'] {
  return { status: 'SUCCEEDED', output: JSON.stringify({ by }) };
}

function usersOf(plan: Plan): UserAct[][] {
  const { runsAtMs = [], stops = [], pauses = [], revisions = [], limits = [], events } = plan;
  const { asks = [], orders = [], requests = [] } = plan;
  const name = pipelineName(undefined);
  return [
    ...actsOfAsks(asks),
    actsOfOrders(orders, name),
    ...actsOfRequests(requests, name),
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

/** Expressions of plans: conditions by their text, and parameters that show whatever they can see. */
const EVALUATOR: Evaluator = {
  evaluate: async (requests) => requests.map(evaluate),
};

/** Evaluates what a plan's definition may ask for. */
export function evaluate({ template, bindings }: EvaluationRequest): Evaluation {
  if (template === REQUESTS.true) return { ok: true, value: true };
  if (template === REQUESTS.false) return { ok: true, value: false };
  if (template === REQUESTS.odd) return { ok: true, value: 1 };
  if (template === REQUESTS.error) {
    return { ok: false, error: { name: 'Millrace.ExpressionError', message: 'no' } };
  }
  if (template === KEYS.item)
    return { ok: true, value: bindings.item === undefined ? null : (JSON.parse(bindings.item) as Json) };
  const text = typeof template === 'string' ? /^\{% (\[.*\]) %\}$/.exec(template)?.[1] : undefined;
  if (text !== undefined) return { ok: true, value: JSON.parse(text) as Json };
  if (Array.isArray(template)) return { ok: true, value: template };
  const seen = JSON.parse(JSON.stringify(bindings)) as Json;
  if (isJsonObject(template) && template['pipeline'] !== undefined)
    return { ok: true, value: { ...template, input: seen } };
  return { ok: true, value: { function: 'f', payload: seen } };
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
