/** Numbers as distances from one to the next: short where they rise, and alike where they rise evenly. */

/** The first number, then each as its distance from the one before. */
export function toDistances(nodes: readonly number[]): number[] {
  return nodes.map((node, at) => (at === 0 ? node : node - (nodes[at - 1] as number)));
}

/** Turns distances back into numbers. */
export function fromDistances(distances: readonly number[]): number[] {
  let node = 0;
  return distances.map((distance) => {
    node += distance;
    return node;
  });
}
