/** A plan: everything about a random world as plain data, so that it can be drawn, shrunk, printed and played again. */
import type { MapDefinition, NodeDefinition, PipelineDefinition, TriggerRule } from '#domain/definition.ts';
import type { Evaluation } from '#domain/facts.ts';
import type { Json } from '#domain/json.ts';
import type { EvaluationRequest, Evaluator } from '#ports/index.ts';
import { chooser } from './chooser.ts';
import type { Faults, OperationFault } from './faults.ts';
import type { Scenario, Script } from './world.ts';

/** How an attempt goes. `HANGS`: it never ends by itself. `REFUSED`: Step Functions does not let it start. */
export interface PlannedAttempt {
  readonly kind: 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED' | 'HANGS' | 'REFUSED';
  /** Name of the error, for FAILED. */
  readonly error: string;
  readonly durationMs: number;
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
}

/** The map of a node. */
export interface PlannedMap {
  /** How the attempts of each item go. */
  readonly items: readonly (readonly PlannedAttempt[])[];
  readonly maxConcurrency: number;
  /** Items that may fail. */
  readonly tolerated: number;
}

/** A random world. */
export interface Plan {
  readonly nodes: readonly PlannedNode[];
  readonly failFast: boolean;
  readonly stopAtMs?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly events: 'run' | 'nodes';
  readonly engineAtMs: number;
  readonly engineGone?: { readonly fromMs: number; readonly toMs: number } | undefined;
  /** What the run's output expression gives; absent where it has none. */
  readonly output?: 'value' | 'error' | undefined;
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
      }
    | undefined;
  readonly drop: boolean;
  readonly outage?: { readonly fromMs: number; readonly toMs: number } | undefined;
  readonly startsPerSecond?: number | undefined;
}

const REQUESTS = { true: '{% true %}', false: '{% false %}', error: '{% $error("no") %}', odd: '{% 1 %}' } as const;

/** The definition of a plan. */
export function toDefinition(plan: Plan, idOf: (place: number) => string = (place) => `n${place}`): PipelineDefinition {
  return {
    name: 'random',
    failFast: plan.failFast,
    events: plan.events,
    ...(plan.timeoutSeconds !== undefined && { timeoutSeconds: plan.timeoutSeconds }),
    ...(plan.output && { output: plan.output === 'value' ? '{% $nodes.n0 %}' : REQUESTS.error }),
    nodes: plan.nodes.map((node, place) => toNode(node, idOf, place)),
  };
}

function toNode(node: PlannedNode, idOf: (place: number) => string, place: number): NodeDefinition {
  const upstreams = node.upstreams.map(idOf);
  const reads = upstreams.map((upstream) => `$nodes.${upstream}`).join(', ');
  return {
    id: idOf(place),
    dependsOn: upstreams,
    trigger: node.trigger,
    params: { function: 'f', ...(node.isReader && { payload: `{% [${reads}] %}` }) },
    ...(node.when && { when: REQUESTS[node.when] }),
    allowFailure: node.allowFailure,
    timeoutSeconds: node.timeoutSeconds,
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
    script: (id, attempt, item) => toScript(plan.nodes[Number(id.slice(1))] as PlannedNode, attempt, item),
    ...(plan.stopAtMs !== undefined && { stopAtMs: plan.stopAtMs }),
    engineAtMs: plan.engineAtMs,
    ...(plan.engineGone && { engineGone: plan.engineGone }),
    options: { maxDecisions: plan.maxDecisions, maxFlights: plan.maxFlights },
    evaluator: EVALUATOR,
  };
}

/** How an attempt of a node, or of an item of it, goes. */
export function attemptOf(node: PlannedNode, attempt: number, item?: number): PlannedAttempt {
  const attempts = item === undefined ? node.attempts : (node.map?.items[item] as readonly PlannedAttempt[]);
  return attempts[Math.min(attempt, attempts.length) - 1] as PlannedAttempt;
}

const NEVER_MS = 10 ** 9;

function toScript(node: PlannedNode, attempt: number, item?: number): Script {
  const { kind, error, durationMs } = attemptOf(node, attempt, item);
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
  const text = typeof template === 'string' ? /^\{% (\[.*\]) %\}$/.exec(template)?.[1] : undefined;
  if (text !== undefined) return { ok: true, value: JSON.parse(text) as Json };
  if (Array.isArray(template)) return { ok: true, value: template };
  return { ok: true, value: { function: 'f', payload: JSON.parse(JSON.stringify(bindings)) as Json } };
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
    }),
  };
}
