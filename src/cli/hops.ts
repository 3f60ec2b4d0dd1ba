import { type Moment, toMs } from './time-text.ts';

/** What a node waited for: the time from the end of its last upstream to its own first start. */
export interface Hop {
  readonly node: string;
  readonly milliseconds: number;
}

/** When a node ran. */
interface TimedNode {
  readonly id: string;
  readonly startedAt?: Moment | undefined;
  readonly endedAt?: Moment | undefined;
  readonly reusedFrom?: string | undefined;
}

/** The hops of a run. Nodes without upstreams, nodes that never started and results of earlier runs have none. */
export function hopsOf(nodes: readonly TimedNode[], upstreams: ReadonlyMap<string, readonly string[]>): Hop[] {
  const ends = new Map(
    nodes.map(({ id, endedAt, reusedFrom }) => [id, reusedFrom || endedAt === undefined ? undefined : toMs(endedAt)]),
  );
  return nodes.flatMap(({ id, startedAt, reusedFrom }) => {
    const above = upstreams.get(id) ?? [];
    if (reusedFrom || startedAt === undefined || above.length === 0) return [];
    const last = above.reduce((latest, upstream) => Math.max(latest, ends.get(upstream) ?? Number.NaN), 0);
    return Number.isNaN(last) ? [] : [{ node: id, milliseconds: Math.max(0, toMs(startedAt) - last) }];
  });
}

/** The middle and the longest of some hops; undefined if there are none. */
export function hopFigures(hops: readonly Hop[]): { count: number; medianMs: number; longestMs: number } | undefined {
  const sorted = hops.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  const middle = sorted[Math.floor((sorted.length - 1) / 2)];
  const longest = sorted.at(-1);
  if (middle === undefined || longest === undefined) return undefined;
  return { count: sorted.length, medianMs: middle, longestMs: longest };
}
