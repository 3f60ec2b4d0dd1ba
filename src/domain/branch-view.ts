/** What branches chose, in words and as the API shows it. */
import type { CompiledNode } from './graph.ts';
import { inQuotes, listInWords } from './names-in-words.ts';
import { statusOf } from './node-status.ts';
import { indexRun } from './run-index.ts';
import type { RunScope } from './run-scope.ts';
import type { UpstreamCounts } from './trigger.ts';

/** The choice of a branch node. */
export interface BranchView {
  /** Ids of the direct downstreams that it chose, as its expression gave them. */
  readonly chosen: readonly string[];
}

/** What a node chose; nothing where it is no branch, or has not chosen. */
export function viewBranch(scope: RunScope, node: CompiledNode): BranchView | undefined {
  const chosen = indexRun(scope.run).branches.get(node.index);
  return chosen && { chosen: [...chosen].map((index) => (scope.pipeline.nodes[index] as CompiledNode).id) };
}

/** What a branch node chose, as a clause: `chose "a" and "b"`. */
export function choiceInWords({ chosen }: BranchView): string {
  return chosen.length === 0 ? 'chose none of its downstreams' : `chose ${listInWords(chosen)}`;
}

/** The branches above a node that did not choose it. */
function turnedAwayBy(scope: RunScope, node: CompiledNode): CompiledNode[] {
  const { branches } = indexRun(scope.run);
  return node.upstreams
    .filter((upstream) => branches.get(upstream)?.has(node.index) === false)
    .map((upstream) => scope.pipeline.nodes[upstream] as CompiledNode);
}

/** Why a node was skipped that a branch did not choose: it names the branch and what that chose. */
export function notChosenInWords(scope: RunScope, node: CompiledNode): string {
  const branches = turnedAwayBy(scope, node);
  const [first] = branches;
  if (!first) return 'Skipped: a branch above it chose other ways.';
  if (branches.length > 1)
    return `Skipped: the branches ${listInWords(branches.map(({ id }) => id))} did not choose it.`;
  const choice = viewBranch(scope, first) as BranchView;
  return `Skipped: branch ${inQuotes(first.id)} ${choiceInWords(choice)}.`;
}

/** How the direct upstreams of a node stand to its trigger rule: an edge that was not chosen counts as skipped. */
export function countUpstreams(scope: RunScope, node: CompiledNode): UpstreamCounts {
  const { branches } = indexRun(scope.run);
  const counts = { total: node.upstreams.length, success: 0, skipped: 0, bad: 0, stopped: 0 };
  for (const upstream of node.upstreams) {
    const { standing } = statusOf(scope.run.nodes.charCodeAt(upstream));
    if (standing === 'open') continue;
    const isUnchosen = branches.get(upstream)?.has(node.index) === false;
    counts[standing === 'success' && isUnchosen ? 'skipped' : standing] += 1;
  }
  return counts;
}
