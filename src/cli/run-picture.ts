import type { HistoryEntry, MapProgress } from '#client/index.ts';
import { isNodeEnded } from './state-style.ts';
import { type Moment, toMs } from './time-text.ts';

/** A node as the progress shows it. Times are milliseconds since 1970. */
export interface NodePicture {
  readonly id: string;
  readonly upstreams: readonly string[];
  state: string;
  reason: string;
  attempt: number;
  since: number;
  /** Of its first attempt. */
  startedAt?: number;
  endedAt?: number;
  error?: { readonly name: string; readonly message: string };
  /** How far a map is. */
  map?: MapProgress;
}

/** The nodes of a run as far as its history was read, in the order of the definition. */
export type RunPicture = ReadonlyMap<string, NodePicture>;

/** The picture of a run of which nothing has happened. */
export function blankPicture(
  nodes: readonly { readonly id: string; readonly dependsOn?: readonly string[] | undefined }[],
  createdAt: Moment,
): RunPicture {
  return new Map(
    nodes.map(({ id, dependsOn = [] }) => [
      id,
      { id, upstreams: dependsOn, state: 'PENDING', reason: 'UpstreamPending', attempt: 0, since: toMs(createdAt) },
    ]),
  );
}

/** Takes over what happened next. */
export function applyHistory(picture: RunPicture, entries: readonly HistoryEntry[]): void {
  for (const { node: id, state, reason, attempt, items, at, error } of entries) {
    const node = id === undefined ? undefined : picture.get(id);
    // What happens to its items does not change the state of a map.
    if (node === undefined || items !== undefined) continue;
    node.state = state;
    node.reason = reason;
    node.since = toMs(at);
    node.attempt = attempt ?? node.attempt;
    if (state === 'RUNNING') node.startedAt ??= node.since;
    if (isNodeEnded(state)) node.endedAt = node.since;
    if (error !== undefined) node.error = error;
  }
}

/** Takes over how far maps are. */
export function applyMaps(picture: RunPicture, maps: ReadonlyMap<string, MapProgress>): void {
  for (const [id, map] of maps) {
    const node = picture.get(id);
    if (node !== undefined) node.map = map;
  }
}

/** Ids of the nodes that are maps. */
export function mapsOf(nodes: readonly { readonly id: string; readonly map?: unknown }[]): ReadonlySet<string> {
  return new Set(nodes.filter(({ map }) => map !== undefined).map(({ id }) => id));
}
