import type { HistoryShape } from './api-shapes.ts';
import { isNodeEnded } from './state-style.ts';

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
}

/** The nodes of a run as far as its history was read, in the order of the definition. */
export type RunPicture = ReadonlyMap<string, NodePicture>;

/** The picture of a run of which nothing has happened. */
export function blankPicture(
  nodes: readonly { readonly id: string; readonly dependsOn?: readonly string[] | undefined }[],
  createdAt: number,
): RunPicture {
  return new Map(
    nodes.map(({ id, dependsOn = [] }) => [
      id,
      { id, upstreams: dependsOn, state: 'PENDING', reason: 'UpstreamPending', attempt: 0, since: createdAt },
    ]),
  );
}

/** Takes over what happened next. */
export function applyHistory(picture: RunPicture, entries: readonly HistoryShape[]): void {
  for (const { node: id, state, reason, attempt, at, error } of entries) {
    const node = id === undefined ? undefined : picture.get(id);
    if (node === undefined) continue;
    node.state = state;
    node.reason = reason;
    node.since = at;
    node.attempt = attempt ?? node.attempt;
    if (state === 'RUNNING') node.startedAt ??= at;
    if (isNodeEnded(state)) node.endedAt = at;
    if (error !== undefined) node.error = error;
  }
}
