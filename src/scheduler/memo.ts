/**
 * Memoisation: a node with a `cache` takes the output of an earlier success of the same pipeline, node, engine and key.
 * The output that is found is stored as the result of attempt 0 before the run decides from it, so the node has one
 * output whatever the memo says later. A success is remembered after the commit that decided it: a crash in between costs
 * a later run an execution, and nothing else.
 */
import { createHash } from 'node:crypto';
import pMap from 'p-map';
import { type Evaluation, evaluationKey, type Wanted } from '#domain/facts.ts';
import type { CompiledCache, CompiledNode } from '#domain/graph.ts';
import { canonicalJson, type Json } from '#domain/json.ts';
import type { Decision, RunRecord } from '#domain/run.ts';
import type { EvaluationScope } from './bindings.ts';
import type { PassDeps } from './deps.ts';

const PARALLEL = 10;

/** The key of a node's output in the memo. */
function memoKey(scope: EvaluationScope, node: CompiledNode, key: Json): string {
  const text = canonicalJson([scope.pipeline.name, node.id, node.engine, key]);
  return createHash('sha256').update(text).digest('base64url');
}

/** Looks a key up. Gives true where the output is known, and then stored as the result of attempt 0; else false. */
export async function lookUp(deps: PassDeps, scope: EvaluationScope, wanted: Wanted, key: Json): Promise<Evaluation> {
  const node = scope.pipeline.nodes[wanted.node] as CompiledNode;
  const now = deps.clock.now();
  const output = await deps.memo.read(memoKey(scope, node, key), now);
  if (output === undefined) return { ok: true, value: false };
  const { item } = wanted;
  const times = { startedAt: now, endedAt: now };
  await deps.runs.putResult(scope.run, { node: node.index, item, attempt: 0, status: 'SUCCEEDED', output, ...times });
  return { ok: true, value: true };
}

/** An attempt that succeeded in the commit just made. */
interface Success {
  readonly node: CompiledNode & { readonly cache: CompiledCache };
  readonly item: number | undefined;
  readonly attempt: number;
}

/** Remembers the outputs of the nodes and items that this commit found to have succeeded. */
export async function rememberSuccesses(
  deps: PassDeps,
  scope: EvaluationScope,
  evaluateKeys: (wanted: readonly Wanted[]) => Promise<ReadonlyMap<string, Evaluation>>,
): Promise<void> {
  const successes = successesOf(scope);
  if (successes.length === 0) return;
  const wanted = successes.map((success) => toWanted(success, deps.clock.now()));
  const keys = await evaluateKeys(wanted);
  await pMap(
    successes,
    async ({ node, item, attempt }, at) => {
      const key = keys.get((wanted[at] as Wanted).key);
      const result = await deps.runs.readResult(scope.run, node.index, attempt, item);
      if (!key?.ok || result?.output === undefined) return;
      const until = deps.clock.now() + node.cache.ttlMs;
      await deps.memo.write(memoKey(scope, node, key.value), result.output, until);
    },
    { concurrency: PARALLEL },
  );
}

function toWanted({ node, item }: Success, at: number): Wanted {
  const key = evaluationKey('cache', node.index, 1, item);
  return { key, what: 'cache', node: node.index, item, attempt: 1, at };
}

function successesOf({ pipeline, run }: EvaluationScope): Success[] {
  return run.decisions
    .filter((decision) => isSuccess(run, decision))
    .flatMap(({ nodes, items, attempt }) =>
      nodes.flatMap((index) => {
        const node = pipeline.nodes[index] as CompiledNode;
        const { cache } = node;
        if (!cache) return [];
        return (items ?? [undefined]).map((item) => ({ node: { ...node, cache }, item, attempt }));
      }),
    );
}

function isSuccess(run: RunRecord, { rev, to, attempt }: Decision): boolean {
  return rev === run.rev && to === 'S' && attempt > 0;
}
