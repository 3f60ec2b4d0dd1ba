/**
 * Which nodes of two revisions of a pipeline do the same work, so that a result of the one stands for the other. Nodes
 * are matched by id. What only says when and how often work is tried (retries, time limits, priority, pool, caching)
 * changes no result, and so no node.
 */
import type { CompiledNode, CompiledPipeline } from './graph.ts';
import { canonicalJson, type Json } from './json.ts';

/**
 * For each node of the second revision, the index in the first one of the node that did the same work, from the same
 * upstreams; -1 where there is none.
 */
export function matchWork(before: CompiledPipeline, after: CompiledPipeline): Int32Array {
  const matches = new Int32Array(after.nodes.length);
  const isSame = before.revision === after.revision;
  for (const node of after.nodes) {
    matches[node.index] = isSame ? node.index : matchOf(before, after, node, matches);
  }
  return matches;
}

function matchOf(before: CompiledPipeline, after: CompiledPipeline, node: CompiledNode, matches: Int32Array): number {
  const index = before.indexOf.get(node.id);
  if (index === undefined || node.upstreams.some((upstream) => matches[upstream] === -1)) return -1;
  return workOf(before, before.nodes[index] as CompiledNode) === workOf(after, node) ? index : -1;
}

function workOf(pipeline: CompiledPipeline, node: CompiledNode): string {
  const idsOf = (indices: readonly number[]) => indices.map((at) => (pipeline.nodes[at] as CompiledNode).id).sort();
  const { engine, params, trigger, when, map, branch } = node;
  const { items, toleratedFailureCount, toleratedFailurePercentage } = map ?? {};
  return canonicalJson([
    engine,
    params,
    trigger,
    when ?? null,
    map ? [items, toleratedFailureCount, toleratedFailurePercentage] : null,
    // A branch may choose among its direct downstreams alone.
    branch === undefined ? null : [branch, idsOf(node.downstreams)],
    idsOf(node.upstreams),
  ] as Json);
}
