/**
 * What Step Functions alone would bill for the same DAG: one Standard execution a run, one Task state a node.
 *
 * A workflow there is a line of states, so a DAG becomes its layers, one after the other: a layer of one node is its
 * Task, a layer of more is a Parallel state with a Task for each. A map is a Map state, and a Task for each item.
 * What is counted is states entered, as the host counts those of Millrace's own executions; whether an execution
 * itself is one more is not documented, and would add one a run here but one a node to Millrace.
 * It is the bill of something that could not always be run: the history of an execution ends at 25,000 events,
 * some five for each Task.
 */
import type { Scenario, ScenarioNode } from './scenario.ts';

/** State transitions of all runs of a scenario. */
export function bareTransitions({ nodes, runs }: Scenario): number {
  const layers = Map.groupBy(nodes, layerIn(nodes));
  let transitions = 0;
  for (const layer of layers.values()) {
    const tasks = layer.reduce((sum, node) => sum + 1 + (node.items ?? 0), 0);
    transitions += tasks + (layer.length > 1 ? 1 : 0);
  }
  return transitions * runs;
}

/** A node's distance from the first layer by its longest way. The nodes are given upstreams first or not. */
function layerIn(nodes: readonly ScenarioNode[]): (node: ScenarioNode) => number {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const known = new Map<string, number>();
  const todo = nodes.map(({ id }) => id);
  while (todo.length > 0) {
    const id = todo.at(-1) as string;
    const upstreams = byId.get(id)?.dependsOn ?? [];
    const open = upstreams.filter((upstream) => !known.has(upstream));
    if (open.length > 0) {
      todo.push(...open);
      continue;
    }
    todo.pop();
    known.set(id, Math.max(-1, ...upstreams.map((upstream) => known.get(upstream) ?? 0)) + 1);
  }
  return ({ id }) => known.get(id) ?? 0;
}
