/** Evaluates what a step asked for: gathers what the expressions may see, and no more, and asks the evaluator. */
import { expressionsIn, referencesOf } from '#domain/expression.ts';
import type { Evaluation, Wanted } from '#domain/facts.ts';
import type { CompiledCache, CompiledMap, CompiledNode, CompiledPipeline } from '#domain/graph.ts';
import type { Json } from '#domain/json.ts';
import type { Bindings, EvaluationRequest } from '#ports/index.ts';
import { type Binder, createBinder, type EvaluationScope, type Needs } from './bindings.ts';
import type { PassDeps } from './deps.ts';
import { lookUp } from './memo.ts';
import { storePassOutput } from './pass-output.ts';
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
  const templates = await evaluateAll(deps, scope, wanted, budgetMs, binder);
  const answers = new Map<string, Evaluation>();
  // One after the other: large parameters are put aside before the next ones are put together.
  for (const item of wanted) {
    const template = templates.get(item.key);
    const answer = template && (await orUnavailable(() => complete(deps, scope, binder, item, template)));
    if (answer) answers.set(item.key, answer);
  }
  return answers;
}

async function complete(
  deps: PassDeps,
  scope: EvaluationScope,
  binder: Binder,
  item: Wanted,
  { evaluation, placed }: EvaluatedTemplate,
): Promise<Evaluation> {
  if (!evaluation.ok) return evaluation;
  const value = putPlaced(evaluation.value, placed);
  if (item.what === 'cache') return lookUp(deps, scope, item, value);
  const isPass = item.what === 'params' && scope.pipeline.nodes[item.node]?.engine === 'pass';
  if (isPass) return storePassOutput(deps, scope, item, value);
  if (item.what === 'params') return completeParams(deps, binder, scope, item, { ok: true, value });
  return { ok: true, value };
}

/** Evaluates the templates of what is wanted, and no more. */
export async function evaluateTemplates(
  deps: PassDeps,
  scope: EvaluationScope,
  wanted: readonly Wanted[],
  budgetMs: number,
): Promise<Map<string, Evaluation>> {
  const templates = await evaluateAll(deps, scope, wanted, budgetMs, createBinder(deps, scope));
  return new Map([...templates].map(([key, { evaluation }]) => [key, evaluation]));
}

/** What a template came to, and what belongs into its gaps. */
interface EvaluatedTemplate {
  readonly evaluation: Evaluation;
  readonly placed: Placed;
}

const NOTHING_PLACED: Placed = { template: null, places: [] };

async function evaluateAll(
  deps: PassDeps,
  scope: EvaluationScope,
  wanted: readonly Wanted[],
  budgetMs: number,
  binder: Binder,
): Promise<Map<string, EvaluatedTemplate>> {
  const answers = new Map<string, EvaluatedTemplate>();
  const requests: EvaluationRequest[] = [];
  const asked: { readonly key: string; readonly placed: Placed }[] = [];
  for (const item of wanted) {
    const { key } = item;
    const prepared = await orUnavailable(() => prepare(scope, binder, item));
    if (!prepared) continue;
    if ('error' in prepared) answers.set(key, { evaluation: prepared, placed: NOTHING_PLACED });
    else if (prepared.bindings) {
      requests.push({ template: prepared.placed.template, bindings: prepared.bindings });
      asked.push({ key, placed: prepared.placed });
    } else answers.set(key, { evaluation: { ok: true, value: prepared.placed.template }, placed: prepared.placed });
  }
  const values = requests.length === 0 ? [] : await deps.evaluator.evaluate(requests, budgetMs);
  for (const [at, { key, placed }] of asked.entries()) {
    const evaluation = values[at];
    if (evaluation) answers.set(key, { evaluation, placed });
  }
  return answers;
}

/** A template, and what its expressions see, where it has any. */
async function prepare(
  scope: EvaluationScope,
  binder: Binder,
  item: Wanted,
): Promise<{ readonly placed: Placed; readonly bindings?: Bindings }> {
  const placed = await placeReferences(binder, scope.pipeline, item, templateOf(scope.pipeline, item));
  const needs = needsOf(placed.template);
  return needs.expressions ? { placed, bindings: await binder.bind(item, needs) } : { placed };
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
