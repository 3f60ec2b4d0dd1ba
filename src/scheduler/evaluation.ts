/** Evaluates what a step asked for: gathers what the expressions may see, and no more, and asks the evaluator. */
import { createHmac } from 'node:crypto';
import { expressionsIn, referencesOf } from '#domain/expression.ts';
import type { Evaluation, Wanted } from '#domain/facts.ts';
import type { CompiledCache, CompiledMap, CompiledNode, CompiledPipeline } from '#domain/graph.ts';
import { canonicalJson, type Json, type JsonObject } from '#domain/json.ts';
import type { RunRecord } from '#domain/run.ts';
import type { EvaluationRequest } from '#ports/index.ts';
import { type Binder, createBinder, type EvaluationScope, type Needs } from './bindings.ts';
import type { PassDeps } from './deps.ts';
import { lookUp } from './memo.ts';

/** Hard limit of an execution's input. https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html */
const MAX_INPUT_BYTES = 256 * 1024;

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
    if (item.what === 'params') answers.set(item.key, await completeParams(binder, scope, item, answer));
  }
  return answers;
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
  const asked: Wanted[] = [];
  for (const item of wanted) {
    const template = templateOf(scope.pipeline, item);
    const needs = needsOf(template);
    if (needs.expressions) {
      requests.push({ template, bindings: await binder.bind(item, needs) });
      asked.push(item);
    } else answers.set(item.key, { ok: true, value: template });
  }
  if (requests.length > 0) {
    const values = await deps.evaluator.evaluate(requests, budgetMs);
    asked.forEach((item, at) => {
      const value = values[at];
      if (value) answers.set(item.key, value);
    });
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

/** A Lambda node that names no payload gets the run's input, the outputs of its upstreams, and its item in a map. */
async function completeParams(
  binder: Binder,
  scope: EvaluationScope,
  wanted: Wanted,
  answer: Evaluation & { ok: true },
): Promise<Evaluation> {
  const node = scope.pipeline.nodes[wanted.node] as CompiledNode;
  let params = answer.value as JsonObject;
  if (node.engine === 'lambda' && !Object.hasOwn(params, 'payload')) {
    params = { ...params, payload: await defaultPayload(binder, node, wanted) };
  }
  const bytes = Buffer.byteLength(executionInput(scope, node, wanted, params));
  if (bytes <= MAX_INPUT_BYTES) return { ok: true, value: params };
  const message = `the input of ${JSON.stringify(node.id)} is ${bytes} bytes long; at most ${MAX_INPUT_BYTES} are possible`;
  return { ok: false, error: { name: 'Millrace.PayloadTooLarge', message } };
}

async function defaultPayload(binder: Binder, node: CompiledNode, wanted: Wanted): Promise<Json> {
  const input = await binder.input();
  const item = await binder.item(wanted);
  const outputs: [string, Json][] = [];
  for (const upstream of node.upstreams) {
    const { id, output } = await binder.node(upstream);
    if (output !== undefined) outputs.push([id, JSON.parse(output) as Json]);
  }
  return {
    input: input === undefined ? {} : (JSON.parse(input) as Json),
    upstream: Object.fromEntries(outputs),
    ...(item !== undefined && { item, index: wanted.item as number }),
  };
}

/**
 * The input of an attempt's execution: the same text however often it is made, since a repeated StartExecution
 * must send the very same.
 */
export function executionInput(
  { run }: { readonly run: RunRecord },
  node: CompiledNode,
  { item, attempt }: { readonly item?: number | undefined; readonly attempt: number },
  params: Json,
): string {
  const place = item === undefined ? `${node.index}` : `${node.index}_${item}`;
  const token = createHmac('sha256', run.secret).update(`${place}.${attempt}`).digest('base64url');
  return canonicalJson({
    millrace: {
      run: run.id,
      node: node.id,
      attempt,
      ...(item !== undefined && { item }),
      ...(node.engine === 'pipeline' && { depth: run.depth ?? 0 }),
      timeoutSeconds: node.timeoutMs / 1000,
      token,
    },
    params,
  });
}
