/** DAGs in layers, whose every node depends on some neighbours in the layer above. */
import type { NodeDefinition, PipelineDefinition } from '#domain/definition.ts';

/** Nodes of a layer. */
export const LAYER_WIDTH = 100;

/** A pipeline of so many nodes, 100 in each layer. */
export function layered(nodes: number, edgesEach: number): PipelineDefinition {
  return { name: 'layered', nodes: Array.from({ length: nodes }, (_, index) => nodeAt(index, edgesEach)) };
}

function nodeAt(index: number, edges: number): NodeDefinition {
  const [layer, at] = [Math.floor(index / LAYER_WIDTH), index % LAYER_WIDTH];
  const above = Array.from({ length: layer === 0 ? 0 : edges }, (_, beside) => at + beside - Math.floor(edges / 2));
  return {
    id: idOf(layer, at),
    params: { function: 'noop' },
    dependsOn: above.map((neighbour) => idOf(layer - 1, (neighbour + LAYER_WIDTH) % LAYER_WIDTH)),
  };
}

function idOf(layer: number, at: number): string {
  return `l${layer}-${at}`;
}
