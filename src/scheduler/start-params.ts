/** The parameters of a start: as its engine takes them, with the payload that a Lambda node gets where it names none, and within the limits. */
import type { Evaluation, Wanted } from '#domain/facts.ts';
import type { CompiledNode } from '#domain/graph.ts';
import { canonicalJson, type Json, type JsonObject } from '#domain/json.ts';
import { PAYLOAD_LIMITS, toEnvelope, tooLarge } from '#domain/payload-ref.ts';
import type { Binder, EvaluationScope } from './bindings.ts';
import type { PassDeps } from './deps.ts';
import { checkStart } from './engine-params.ts';
import { executionInput } from './execution-input.ts';
import { OutputUnavailable, refsOf } from './payloads.ts';
import { takesReferences } from './placed-references.ts';

const ADVICE = 'a function that is wrapped by millrace/function takes more with "byReference: true" in the params';

/**
 * Completes evaluated parameters, and puts a payload that is too large for an execution aside, for functions that take it
 * by reference.
 * @throws OutputUnavailable
 */
export async function completeParams(
  deps: Pick<PassDeps, 'payloads'>,
  binder: Binder,
  scope: EvaluationScope,
  wanted: Wanted,
  answer: Evaluation & { ok: true },
): Promise<Evaluation> {
  const node = scope.pipeline.nodes[wanted.node] as CompiledNode;
  const misfit = checkStart(scope, wanted, answer.value);
  if (misfit) return { ok: false, error: misfit };
  const params = await withPayload(binder, node, wanted, answer.value as JsonObject);
  const bytesOf = (value: Json) => Buffer.byteLength(executionInput(scope, node, wanted, value));
  const what = `the input of ${JSON.stringify(node.id)}`;
  const bytes = bytesOf(params);
  if (bytes <= PAYLOAD_LIMITS.direct) return { ok: true, value: params };
  if (!takesReferences(node)) {
    const advice = node.engine === 'lambda' ? ADVICE : '';
    return { ok: false, error: tooLarge(what, bytes, PAYLOAD_LIMITS.direct, advice) };
  }
  const text = canonicalJson(params['payload'] as Json);
  const byReference = { ...params, payload: toEnvelope(await deps.payloads.put(text)) };
  const left = bytesOf(byReference);
  if (left > PAYLOAD_LIMITS.direct) return { ok: false, error: tooLarge(what, left, PAYLOAD_LIMITS.direct) };
  return { ok: true, value: byReference };
}

/** A Lambda node that names no payload gets the run's input, the outputs of its upstreams, and its item in a map. */
async function withPayload(
  binder: Binder,
  node: CompiledNode,
  wanted: Wanted,
  params: JsonObject,
): Promise<JsonObject> {
  if (node.engine !== 'lambda' || Object.hasOwn(params, 'payload')) return params;
  const input = await binder.input();
  const item = await binder.item(wanted);
  const outputs = await upstreamOutputs(binder, node);
  const payload: JsonObject = {
    input: input === undefined ? {} : (JSON.parse(input) as Json),
    upstream: Object.fromEntries(outputs),
    ...(item !== undefined && { item, index: wanted.item as number }),
  };
  return { ...params, payload };
}

async function upstreamOutputs(binder: Binder, node: CompiledNode): Promise<[string, Json][]> {
  const stored = await binder.nodes(node.upstreams);
  const isOpened = !takesReferences(node);
  if (isOpened) refuseLarge(node, stored);
  const outputs = isOpened ? await binder.open(stored) : stored;
  return outputs.flatMap(({ id, output }) => (output === undefined ? [] : [[id, JSON.parse(output) as Json] as const]));
}

/** Told before anything is read, since it would be in vain. */
function refuseLarge(node: CompiledNode, stored: readonly { readonly output?: string }[]): void {
  const bytes = stored
    .flatMap(({ output }) => (output === undefined ? [] : refsOf(output)))
    .reduce((sum, ref) => sum + ref.bytes, 0);
  if (bytes <= PAYLOAD_LIMITS.direct) return;
  const what = `what ${JSON.stringify(node.id)} would get from its upstreams`;
  throw new OutputUnavailable(tooLarge(what, bytes, PAYLOAD_LIMITS.direct, ADVICE));
}
