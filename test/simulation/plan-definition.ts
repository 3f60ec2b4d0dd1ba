/** The definitions of the pipelines of a plan, and what their expressions give. */
import type { MapDefinition, NodeDefinition, PipelineDefinition } from '#domain/definition.ts';
import type { Evaluation } from '#domain/facts.ts';
import { isJsonObject, type Json } from '#domain/json.ts';
import type { EvaluationRequest, Evaluator } from '#ports/index.ts';
import type { Plan, PlannedMap, PlannedNode, PlannedPipeline } from './plan.ts';

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
    ...toWork(node, toSeen(node, upstreams)),
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

/** An expression over what a node can see; one that only names a value may be of any size, and is not evaluated. */
function toSeen({ bulk }: PlannedNode, upstreams: readonly string[]): string {
  if (bulk && upstreams.length === 1) return `{% $nodes.${upstreams[0]}.output %}`;
  return `{% [${upstreams.map((upstream) => `$nodes.${upstream}`).join(', ')}] %}`;
}

/** Engine and parameters of a node, which see what it can see if it is a reader. */
function toWork(
  { child, engine, isReader, approval, bulk }: PlannedNode,
  seen: string,
): Pick<NodeDefinition, 'engine' | 'params'> {
  if (approval) return { engine: 'approval', params: { prompt: 'Go on?' } };
  if (child === undefined) {
    const params = { function: 'f', ...(bulk && { byReference: true }), ...(isReader && { payload: seen }) };
    return { ...(engine && { engine }), params };
  }
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

/** Expressions of plans: conditions by their text, and parameters that show whatever they can see. */
export const EVALUATOR: Evaluator = {
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
