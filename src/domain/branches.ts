/** Branches: a node that chooses, by its output, for which of its direct downstreams it counts as a success (D13). */
import type { Draft } from './draft.ts';
import type { Evaluation } from './facts.ts';
import type { CompiledNode } from './graph.ts';
import type { Json } from './json.ts';
import type { ErrorInfo } from './run.ts';

/** Takes what a branch expression gave: keeps the choice, or tells what is wrong with it. */
export function applyChoice(draft: Draft, node: CompiledNode, choice: Evaluation): ErrorInfo | undefined {
  if (!choice.ok) return choice.error;
  const ids: readonly Json[] = Array.isArray(choice.value) ? choice.value : [choice.value];
  const chosen = new Set<number>();
  for (const id of ids) {
    const index = typeof id === 'string' ? draft.pipeline.indexOf.get(id) : undefined;
    if (index === undefined || !node.downstreams.includes(index)) return notDownstream(draft, node, id);
    chosen.add(index);
  }
  draft.branches.set(node.index, chosen);
  return undefined;
}

function notDownstream(draft: Draft, node: CompiledNode, id: Json): ErrorInfo {
  const ids = node.downstreams.slice(0, 10).map((index) => JSON.stringify(draft.pipeline.nodes[index]?.id));
  const shown = JSON.stringify(id).slice(0, 100);
  const message = `branch ${node.branch} gave ${shown}, which is no direct downstream; these are: ${ids.join(', ')}`;
  return { name: 'Millrace.ExpressionError', message };
}

/** Whether an upstream is a branch that chose other ways than to this node. */
export function isUnchosen(draft: Draft, upstream: number, node: number): boolean {
  return draft.branches.get(upstream)?.has(node) === false;
}
