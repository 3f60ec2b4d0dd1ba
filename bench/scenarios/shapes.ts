/** The shapes of the scenarios. */
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { layered } from '../layers.ts';
import { chain, fan } from '../pipelines.ts';
import type { Scenario } from './scenario.ts';

const SEED = 7;
const LAYER_EDGES = 3;
/** The random DAG: upstreams of a node at most, and how far before it they are at most. */
const RANDOM_EDGES = 3;
const RANDOM_REACH = 50;

/** Nodes in a line. */
export function chainOf(length: number, runs = 1): Scenario {
  const { nodes } = chain(length);
  const name = runs === 1 ? `chain-${length}` : `${runs} × chain-${length}`;
  return { name, nodes, runs, executions: length * runs };
}

/** One node, then so many, then one. */
export function fanOf(width: number): Scenario {
  const { nodes } = fan(width);
  return { name: `fan-${width}`, nodes, runs: 1, executions: nodes.length };
}

/** Layers of 100, every node below three of the layer above it. */
export function layersOf(size: number): Scenario {
  const nodes = layered(size, LAYER_EDGES).nodes.map(({ id, dependsOn = [] }) => ({ id, dependsOn }));
  return { name: `layers-${size}`, nodes, runs: 1, executions: size };
}

/** Every node below one to three of the fifty before it, the same ones each time. */
export function randomOf(size: number): Scenario {
  const random = xoroshiro128plus(SEED);
  const nodes = Array.from({ length: size }, (_, at) => {
    const upstreams = new Set<string>();
    const edges = at === 0 ? 0 : uniformInt(random, 1, RANDOM_EDGES);
    for (let edge = 0; edge < edges; edge++) {
      upstreams.add(`n${uniformInt(random, Math.max(0, at - RANDOM_REACH), at - 1)}`);
    }
    return { id: `n${at}`, dependsOn: [...upstreams] };
  });
  return { name: `random-${size}`, nodes, runs: 1, executions: size };
}

/** One node, a map of so many items, one node. */
export function mapOf(items: number): Scenario {
  const each = { id: 'each', dependsOn: ['first'], items, payload: { item: '{% $item %}' } };
  const nodes = [{ id: 'first' }, each, { id: 'last', dependsOn: ['each'] }];
  return { name: `map-${items}`, nodes, runs: 1, executions: items + 2 };
}
