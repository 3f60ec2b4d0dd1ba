/** Which Lambda function an attempt invoked: what `params.function` gave for it. */
import { type Evaluation, evaluationKey } from '#domain/facts.ts';
import type { CompiledNode } from '#domain/graph.ts';
import { isJsonObject } from '#domain/json.ts';
import type { RunScope } from '#domain/run-scope.ts';
import { evaluateWanted } from '#scheduler/evaluation.ts';
import type { ApiDeps } from './route.ts';

/** Time for the expressions of the parameters (ms). */
const BUDGET_MS = 5_000;

/**
 * The name of the function, without account and version; nothing where there is none or it cannot be told.
 * @param at when the attempt began (ms since the epoch), which its expressions may ask for
 */
export async function functionOfAttempt(
  deps: ApiDeps,
  { pipeline, run }: RunScope,
  node: CompiledNode,
  of: { readonly item?: number | undefined; readonly attempt: number; readonly at: number },
): Promise<string | undefined> {
  if (node.engine !== 'lambda') return undefined;
  const literal = node.params['function'];
  if (typeof literal === 'string' && !literal.startsWith('{%')) return bareName(literal);
  const { item, attempt, at } = of;
  const key = evaluationKey('params', node.index, attempt, item);
  const wanted = { key, what: 'params' as const, node: node.index, item, attempt, at };
  const known: Evaluation | undefined = (
    await evaluateWanted(deps, { pipeline, run, results: [] }, [wanted], BUDGET_MS)
  ).get(key);
  const name = known?.ok && isJsonObject(known.value) ? known.value['function'] : undefined;
  return typeof name === 'string' ? bareName(name) : undefined;
}

function bareName(nameOrArn: string): string | undefined {
  return (nameOrArn.split(':function:')[1] ?? nameOrArn).split(':')[0];
}
