import type { Node } from './api.ts';

/** What a node waited for: the time from the end of its last upstream to its own start. */
export interface Hop {
  readonly node: string;
  readonly milliseconds: number;
}

/** The hops of a run. Nodes without upstreams and nodes that never started have none. */
export function hops(nodes: readonly Node[], upstreams: ReadonlyMap<string, readonly string[]>): Hop[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return nodes.flatMap(({ id, startedAt }) => {
    const ends = (upstreams.get(id) ?? []).map((upstream) => byId.get(upstream)?.endedAt);
    if (startedAt === undefined || ends.length === 0) return [];
    const last = Math.max(...ends.map((end) => end ?? Number.NaN));
    return Number.isNaN(last) ? [] : [{ node: id, milliseconds: startedAt - last }];
  });
}

/** The middle of some numbers; of two middles the lower. */
export function median(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)];
}
