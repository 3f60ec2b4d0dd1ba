/** Evaluates what a step asked for: gathers what the expressions may see, and no more, and asks the evaluator. */
import { createHmac } from 'node:crypto';
import pMap from 'p-map';
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

/** Results read at the same time. */
const PARALLEL_READS = 20;
/**
 * From how many results on, if they are at least half of a run's, all of the run are read together: small ones share a
 * read unit then, and a join over hundreds of nodes takes one call.
 */
const MANY_RESULTS = 4;

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
  for (const result of scope.results) {
    if (result.status === 'SUCCEEDED') byNode.set(result.node, Promise.resolve(result));
  }
  return {
    input() {
      input ??= readInput(deps.runs, scope.run);
      return input;
    },
    /** Says which results will be asked for, so that those of most of a run are read together. */
    async expect(nodes: readonly number[]) {
      const missing = nodes.filter((node) => !byNode.has(node));
      if (missing.length < MANY_RESULTS || missing.length < scope.pipeline.nodes.length / 2) return;
      const all = await deps.runs.listResults(scope.run);
      const last = new Map(all.map((result) => [result.node, result]));
      for (const node of missing) byNode.set(node, Promise.resolve(last.get(node)));
    },
    /** The result of a node's last attempt: the one that decided it. */
    result(node: number) {
      const known = byNode.get(node);
      if (known !== undefined) return known;
      const result = deps.runs.listResults(scope.run, node).then((results) => results.at(-1));
      byNode.set(node, result);
      return result;
    },
  };
}

type Reader = ReturnType<typeof createReader>;

async function bind(reader: Reader, scope: EvaluationScope, wanted: Wanted, needs: Needs): Promise<Bindings> {
  const ids = needs.nodes === 'all' ? visibleIds(scope.pipeline, wanted.node) : needs.nodes;
  const input = needs.input ? await reader.input() : undefined;
  const indices = [...ids].flatMap((id) => scope.pipeline.indexOf.get(id) ?? []);
  const nodes = await bindNodes(reader, scope, indices);
  return {
    run: { id: scope.run.id, ...(input !== undefined && { input }) },
    nodes,
    attempt: wanted.attempt,
    now: wanted.at,
    seed: `${scope.run.nonce}/${evaluationKey(wanted.what, wanted.node, wanted.attempt)}`,
  };
}

async function bindNodes(reader: Reader, scope: EvaluationScope, indices: readonly number[]) {
  await reader.expect(indices.filter((index) => isDecided(scope, index)));
  return pMap(indices, (index) => bindNode(reader, scope, index), { concurrency: PARALLEL_READS });
}

function isDecided(scope: EvaluationScope, index: number): boolean {
  const { standing } = statusOf(scope.run.nodes.charCodeAt(index));
  return standing === 'success' || standing === 'bad';
}

async function bindNode(reader: Reader, scope: EvaluationScope, index: number) {
  const { id } = scope.pipeline.nodes[index] as CompiledNode;
  const { state, standing } = statusOf(scope.run.nodes.charCodeAt(index));
  if (!isDecided(scope, index)) return { id, state };
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
  const upstreams = await bindNodes(reader, scope, node.upstreams);
  const outputs = upstreams.flatMap(({ id, output }): [string, Json][] =>
    output === undefined ? [] : [[id, JSON.parse(output) as Json]],
  );
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
