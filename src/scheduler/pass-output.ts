/**
 * The output of a `pass` node: what its parameters evaluate to. It is stored as the result of the attempt before the run
 * decides from it, and what is stored first stands, whichever pass it was that evaluated it.
 */
import type { Evaluation, Wanted } from '#domain/facts.ts';
import type { CompiledNode } from '#domain/graph.ts';
import { canonicalJson, isJsonObject, type Json } from '#domain/json.ts';
import { PAYLOAD_LIMITS, tooLarge } from '#domain/payload-ref.ts';
import type { EvaluationScope } from './bindings.ts';
import { checkResult } from './check-output.ts';
import type { PassDeps } from './deps.ts';

/** Stores the output that evaluated parameters give; default null. */
export async function storePassOutput(
  deps: Pick<PassDeps, 'runs' | 'clock'>,
  scope: EvaluationScope,
  { node: index, item, attempt }: Wanted,
  params: Json,
): Promise<Evaluation> {
  const node = scope.pipeline.nodes[index] as CompiledNode;
  const output = isJsonObject(params) && Object.hasOwn(params, 'output') ? (params['output'] as Json) : null;
  const text = canonicalJson(output);
  const bytes = Buffer.byteLength(text);
  if (bytes > PAYLOAD_LIMITS.direct) {
    return { ok: false, error: tooLarge(`the output of ${JSON.stringify(node.id)}`, bytes, PAYLOAD_LIMITS.direct) };
  }
  const now = deps.clock.now();
  const times = { startedAt: now, endedAt: now };
  const result = checkResult({ node: index, item, attempt, status: 'SUCCEEDED', output: text, ...times });
  if (result.error) return { ok: false, error: result.error };
  await deps.runs.putResult(scope.run, result);
  return { ok: true, value: params };
}
