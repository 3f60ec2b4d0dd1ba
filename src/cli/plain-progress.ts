import stringWidth from 'string-width';
import type { HistoryEntry, MapProgress } from '#client/index.ts';
import { mapText } from './map-text.ts';
import { nodeNote } from './node-note.ts';
import { oneLine } from './one-line.ts';
import type { Style } from './output.ts';
import type { NodePicture, RunPicture } from './run-picture.ts';
import { isIdle, isNodeEnded, paintState } from './state-style.ts';
import { padTo } from './table.ts';
import { type Moment, toMs } from './time-text.ts';

/** Longest id that widens the column of ids. */
const WIDEST_ID = 40;

/**
 * What happened to nodes, a line each: seconds since the run's creation, node, state, what is worth saying. The picture
 * has to know the entries already.
 */
export function progressLines(
  entries: readonly HistoryEntry[],
  picture: RunPicture,
  look: { readonly begun: Moment; readonly style: Style },
): string[] {
  const lineOf = lineWriter(picture, look);
  return entries.flatMap(({ node: id, at, state, attempt, items, error, reason }) => {
    const node = id === undefined ? undefined : picture.get(id);
    if (node === undefined || items !== undefined || !isTold(state, reason)) return [];
    const then = { ...node, state, reason, since: toMs(at), attempt: attempt ?? node.attempt, ...(error && { error }) };
    const note = noteAtOnce(then) ?? nodeNote(then, picture, then.since);
    return [lineOf(then.since, node.id, state, note)];
  });
}

/** How far maps under way are, a line each. */
export function mapLines(
  maps: ReadonlyMap<string, MapProgress>,
  picture: RunPicture,
  look: { readonly begun: Moment; readonly style: Style; readonly at: number },
): string[] {
  const lineOf = lineWriter(picture, look);
  return [...maps].map(([id, map]) => lineOf(look.at, id, 'RUNNING', mapText(map)));
}

/** Writes a line about a node: seconds since the run's creation, id, state, note. */
function lineWriter(picture: RunPicture, { begun, style }: { readonly begun: Moment; readonly style: Style }) {
  const width = Math.min(WIDEST_ID, Math.max(0, ...[...picture.keys()].map((id) => stringWidth(id))));
  return (at: number, id: string, state: string, note: string) => {
    const seconds = `${(Math.max(0, at - toMs(begun)) / 1000).toFixed(2).padStart(7)} s`;
    const name = padTo(oneLine(id), width);
    return `${style.dim(seconds)}  ${name}  ${paintState(state, style)(state.padEnd(10))}  ${oneLine(note)}`;
  };
}

/** What is ready and has only not had its turn in this run is not told: it mostly starts at once. */
function isTold(state: string, reason: string): boolean {
  if (state === 'QUEUED') return isIdle(reason);
  return state === 'RUNNING' || state === 'RETRY_WAIT' || isNodeEnded(state);
}

/** The note on what has just begun, or begun to wait: for how long is nothing to tell yet. */
function noteAtOnce({ state, reason, attempt }: NodePicture): string | undefined {
  if (state === 'QUEUED') return reason;
  if (state !== 'RUNNING') return undefined;
  return attempt > 1 ? `attempt ${attempt}` : '';
}
