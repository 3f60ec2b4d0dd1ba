/** Evaluates what a step asked for: gathers what the expressions may see, and no more, and asks the evaluator. */
import { createHmac } from 'node:crypto';
import { expressionsIn, referencesOf } from '#domain/expression.ts';
import { type AttemptResult, type Evaluation, evaluationKey, type Wanted } from '#domain/facts.ts';
import type { CompiledNode, CompiledPipeline } from '#domain/graph.ts';
import { canonicalJson, type Json, type JsonObject } from '#domain/json.ts';
import { statusOf } from '#domain/node-status.ts';
import type { RunRecord } from '#domain/run.ts';
import type { Bindings, EvaluationRequest } from '#ports/index.ts';
import type { PassDeps } from './deps.ts';
import { readInput } from './run-input.ts';

/** Hard limit of an execution's input. https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html */
const MAX_INPUT_BYTES = 256 * 1024;

/** A run as expressions see it: the state that the step reached, and the results that this pass has at hand. */
export interface EvaluationScope {
  readonly pipeline: CompiledPipeline;
  readonly run: RunRecord;
  /** Results that events or polls just brought, which need not be read again. */
  readonly results: readonly AttemptResult[];
}

/** What an expression may read, found out once per template. */
interface Needs {
  readonly input: boolean;
  readonly nodes: ReadonlySet<string> | 'all';
  readonly expressions: boolean;
}

const needsByTemplate = new WeakMap<object, Needs>();

/** Evaluates what is wanted; what the evaluator did not reach within the budget is missing from the answer. */
export async function evaluateWanted(
  deps: PassDeps,
  scope: EvaluationScope,
  wanted: readonly Wanted[],
  budgetMs: number,
): Promise<Map<string, Evaluation>> {
  const reader = createReader(deps, scope);
  const answers = new Map<string, Evaluation>();
  const requests: EvaluationRequest[] = [];
  const asked: Wanted[] = [];
  for (const item of wanted) {
    const template = templateOf(scope.pipeline, item);
    const needs = needsOf(template);
    if (needs.expressions) {
      requests.push({ template, bindings: await bind(reader, scope, item, needs) });
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
  for (const item of wanted) {
    const answer = answers.get(item.key);
    if (item.what === 'params' && answer?.ok) answers.set(item.key, await completeParams(reader, scope, item, answer));
  }
  return answers;
}

function templateOf(pipeline: CompiledPipeline, wanted: Wanted): Json {
  if (wanted.what === 'output') return pipeline.output as Json;
  const node = pipeline.nodes[wanted.node] as CompiledNode;
  return wanted.what === 'when' ? (node.when as string) : node.params;
}

function needsOf(template: Json): Needs {
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

/** Reads a run's input and results at most once for all expressions of a pass. */
function createReader(deps: PassDeps, scope: EvaluationScope) {
  const byNode = new Map<number, Promise<AttemptResult | undefined>>();
  let input: Promise<string | undefined> | undefined;
  return {
    input() {
      input ??= readInput(deps.runs, scope.run);
      return input;
    },
    /** The result of a node's last attempt: the one that decided it. */
    result(node: number) {
      let result = byNode.get(node);
      if (!result) {
        result = lastResult(deps, scope, node);
        byNode.set(node, result);
      }
      return result;
    },
  };
}

type Reader = ReturnType<typeof createReader>;

async function lastResult(deps: PassDeps, scope: EvaluationScope, node: number): Promise<AttemptResult | undefined> {
  const atHand = scope.results.filter((result) => result.node === node && result.status === 'SUCCEEDED').at(-1);
  return atHand ?? (await deps.runs.listResults(scope.run, node)).at(-1);
}

async function bind(reader: Reader, scope: EvaluationScope, wanted: Wanted, needs: Needs): Promise<Bindings> {
  const ids = needs.nodes === 'all' ? visibleIds(scope.pipeline, wanted.node) : needs.nodes;
  const input = needs.input ? await reader.input() : undefined;
  const nodes: Bindings['nodes'][number][] = [];
  for (const id of ids) {
    const index = scope.pipeline.indexOf.get(id);
    if (index !== undefined) nodes.push(await bindNode(reader, scope, id, index));
  }
  return {
    run: { id: scope.run.id, ...(input !== undefined && { input }) },
    nodes,
    attempt: wanted.attempt,
    now: wanted.at,
    seed: `${scope.run.nonce}/${evaluationKey(wanted.what, wanted.node, wanted.attempt)}`,
  };
}

async function bindNode(reader: Reader, scope: EvaluationScope, id: string, index: number) {
  const { state, standing } = statusOf(scope.run.nodes.charCodeAt(index));
  if (standing !== 'success' && standing !== 'bad') return { id, state };
  const result = await reader.result(index);
  const output = standing === 'success' ? result?.output : undefined;
  const error = standing === 'bad' ? result?.error : undefined;
  return { id, state, ...(output !== undefined && { output }), ...(error && { error }) };
}

/** Every node above one, or all nodes for the run's own output: what a dynamic `$nodes` may read. */
function visibleIds(pipeline: CompiledPipeline, node: number): string[] {
  if (node < 0) return pipeline.nodes.map(({ id }) => id);
  const seen = new Set<number>();
  const open = [...(pipeline.nodes[node] as CompiledNode).upstreams];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...(pipeline.nodes[next] as CompiledNode).upstreams);
  }
  return [...seen].map((index) => (pipeline.nodes[index] as CompiledNode).id);
}

/** A Lambda node that names no payload gets the run's input and the outputs of its upstreams. */
async function completeParams(
  reader: Reader,
  scope: EvaluationScope,
  wanted: Wanted,
  answer: Evaluation & { ok: true },
) {
  const node = scope.pipeline.nodes[wanted.node] as CompiledNode;
  let params = answer.value as JsonObject;
  if (node.engine === 'lambda' && !Object.hasOwn(params, 'payload')) {
    params = { ...params, payload: await defaultPayload(reader, scope, node) };
  }
  const bytes = Buffer.byteLength(executionInput(scope, node, wanted.attempt, params));
  if (bytes <= MAX_INPUT_BYTES) return { ok: true as const, value: params };
  const message = `the input of ${JSON.stringify(node.id)} is ${bytes} bytes long; at most ${MAX_INPUT_BYTES} are possible`;
  return { ok: false as const, error: { name: 'Millrace.PayloadTooLarge', message } };
}

async function defaultPayload(reader: Reader, scope: EvaluationScope, node: CompiledNode): Promise<Json> {
  const input = await reader.input();
  const outputs: [string, Json][] = [];
  for (const upstream of node.upstreams) {
    const { id } = scope.pipeline.nodes[upstream] as CompiledNode;
    const { output } = await bindNode(reader, scope, id, upstream);
    if (output !== undefined) outputs.push([id, JSON.parse(output) as Json]);
  }
  return { input: input === undefined ? {} : (JSON.parse(input) as Json), upstream: Object.fromEntries(outputs) };
}

/**
 * The input of an attempt's execution: the same text however often it is made, since a repeated StartExecution
 * must send the very same.
 */
export function executionInput(
  scope: Pick<EvaluationScope, 'run'>,
  node: CompiledNode,
  attempt: number,
  params: Json,
): string {
  const token = createHmac('sha256', scope.run.secret).update(`${node.index}.${attempt}`).digest('base64url');
  return canonicalJson({
    millrace: { run: scope.run.id, node: node.id, attempt, timeoutSeconds: node.timeoutMs / 1000, token },
    params,
  });
}
