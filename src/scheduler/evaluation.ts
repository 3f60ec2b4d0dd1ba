/** Evaluates what a step asked for: gathers what the expressions may see, and no more, and asks the evaluator. */
import { expressionsIn, referencesOf } from '#domain/expression.ts';
import type { Evaluation, Wanted } from '#domain/facts.ts';
import type { CompiledCache, CompiledMap, CompiledNode, CompiledPipeline } from '#domain/graph.ts';
import type { Json } from '#domain/json.ts';
import type { EvaluationRequest } from '#ports/index.ts';
import { type Binder, createBinder, type EvaluationScope, type Needs } from './bindings.ts';
import type { PassDeps } from './deps.ts';
import { lookUp } from './memo.ts';
import { OutputUnavailable } from './payloads.ts';
import { type Placed, placeReferences, putPlaced } from './placed-references.ts';
import { completeParams } from './start-params.ts';

interface TemplateNeeds extends Needs {
  readonly expressions: boolean;
}

const needsByTemplate = new WeakMap<object, TemplateNeeds>();

/**
 * Evaluates what is wanted, and makes of it what a step needs: for a cache, whether its key is known; for parameters,
 * the whole of them. What the evaluator did not reach within the budget is missing from the answer.
 */
export async function evaluateWanted(
  deps: PassDeps,
  scope: EvaluationScope,
  wanted: readonly Wanted[],
  budgetMs: number,
): Promise<Map<string, Evaluation>> {
  const binder = createBinder(deps, scope);
  const answers = await evaluateTemplates(deps, scope, wanted, budgetMs, binder);
  for (const item of wanted) {
    const answer = answers.get(item.key);
    if (!answer?.ok) continue;
    if (item.what === 'cache') answers.set(item.key, await lookUp(deps, scope, item, answer.value));
    if (item.what === 'params') {
      const params = await orUnavailable(() => completeParams(deps, binder, scope, item, answer));
      if (params) answers.set(item.key, params);
      else answers.delete(item.key);
    }
  }
  return answers;
}

/** The error of an output that cannot be had; nothing where it can be had in another pass. */
async function orUnavailable<T>(work: () => Promise<T>): Promise<T | (Evaluation & { ok: false }) | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OutputUnavailable)) throw error;
    return error.error && { ok: false, error: error.error };
  }
}

/** Evaluates the templates of what is wanted, and no more. */
export async function evaluateTemplates(
  deps: PassDeps,
  scope: EvaluationScope,
  wanted: readonly Wanted[],
  budgetMs: number,
  binder: Binder = createBinder(deps, scope),
): Promise<Map<string, Evaluation>> {
  const answers = new Map<string, Evaluation>();
  const requests: EvaluationRequest[] = [];
  const asked: { readonly item: Wanted; readonly placed: Placed }[] = [];
  for (const item of wanted) {
    const placed = await placeReferences(binder, scope.pipeline, item, templateOf(scope.pipeline, item));
    const { template } = placed;
    const needs = needsOf(template);
    if (!needs.expressions) {
      answers.set(item.key, { ok: true, value: putPlaced(template, placed) });
      continue;
    }
    const bound = await orUnavailable(async () => ({ ok: true as const, bindings: await binder.bind(item, needs) }));
    if (bound?.ok) {
      requests.push({ template, bindings: bound.bindings });
      asked.push({ item, placed });
    } else if (bound) answers.set(item.key, bound);
  }
  if (requests.length > 0) {
    const values = await deps.evaluator.evaluate(requests, budgetMs);
    for (const [at, { item, placed }] of asked.entries()) {
      const value = values[at];
      if (value) answers.set(item.key, value.ok ? { ok: true, value: putPlaced(value.value, placed) } : value);
    }
  }
  return answers;
}

function templateOf(pipeline: CompiledPipeline, wanted: Wanted): Json {
  if (wanted.what === 'output') return pipeline.output as Json;
  const node = pipeline.nodes[wanted.node] as CompiledNode;
  switch (wanted.what) {
    case 'when':
      return node.when as string;
    case 'items':
      return (node.map as CompiledMap).items;
    case 'cache':
      return (node.cache as CompiledCache).key;
    case 'branch':
      return node.branch as string;
    case 'params':
      return node.params;
  }
}

function needsOf(template: Json): TemplateNeeds {
  const key = typeof template === 'object' && template !== null ? template : undefined;
  const known = key && needsByTemplate.get(key);
  if (known) return known;
  let input = false;
  let nodes: Set<string> | 'all' = new Set();
  const expressions = expressionsIn(template);
  for (const { text } of expressions) {
    const references = referencesOf(text);
    input ||= references.input;
    if (references.nodes === 'all') nodes = 'all';
    else if (nodes !== 'all') for (const id of references.nodes) nodes.add(id);
  }
  const needs = { input, nodes, expressions: expressions.length > 0 };
  if (key) needsByTemplate.set(key, needs);
  return needs;
}
