/** The DAGs that every peer runs; nodes do nothing. */

/** Nodes in a line, or one node, then many at once, then one again. */
export type Dag =
  | { readonly kind: 'chain'; readonly length: number }
  | { readonly kind: 'fan'; readonly width: number };

/** A DAG, and how many runs of it are started at once. */
export interface Shape {
  /** The name of the same bench of Millrace. */
  readonly name: 'chain-50' | 'fan-200' | 'burst';
  readonly title: string;
  readonly dag: Dag;
  readonly runs: number;
}

/** All shapes, in the order in which they are measured. */
export const shapes: readonly Shape[] = [
  { name: 'chain-50', title: '50 nodes in a line', dag: { kind: 'chain', length: 50 }, runs: 1 },
  { name: 'fan-200', title: '1 → 200 → 1', dag: { kind: 'fan', width: 200 }, runs: 1 },
  { name: 'burst', title: '20 runs of 10 nodes in a line at once', dag: { kind: 'chain', length: 10 }, runs: 20 },
];

/** Nodes of all runs of a shape together. */
export function nodesIn({ dag, runs }: Shape): number {
  return runs * (dag.kind === 'chain' ? dag.length : dag.width + 2);
}
