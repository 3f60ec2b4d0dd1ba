import { attemptToken } from '#domain/attempt-token.ts';
import type { CompiledNode } from '#domain/graph.ts';
import { canonicalJson, type Json } from '#domain/json.ts';
import type { RunRecord } from '#domain/run.ts';

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
  return canonicalJson({
    millrace: {
      run: run.id,
      node: node.id,
      attempt,
      ...(item !== undefined && { item }),
      ...(node.engine === 'pipeline' && { depth: run.depth ?? 0 }),
      timeoutSeconds: node.timeoutMs / 1000,
      token: attemptToken(run, { node: node.index, item, attempt }),
    },
    params,
  });
}
