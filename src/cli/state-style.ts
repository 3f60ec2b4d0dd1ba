import type { Style } from './output.ts';
import type { Cell } from './table.ts';

/** States of a run after which nothing changes. */
const ENDED: ReadonlySet<string> = new Set(['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED']);
/** Further states that end a node. */
const ENDED_NODE: ReadonlySet<string> = new Set([...ENDED, 'SKIPPED', 'UPSTREAM_FAILED']);
const BAD: ReadonlySet<string> = new Set(['FAILED', 'TIMED_OUT', 'ABORTED', 'UPSTREAM_FAILED']);

/** Whether a run is over. */
export function isRunEnded(state: string): boolean {
  return ENDED.has(state);
}

/** Whether a node is over. */
export function isNodeEnded(state: string): boolean {
  return ENDED_NODE.has(state);
}

/** Whether a node ended otherwise than anybody would wish. */
export function isBad(state: string): boolean {
  return BAD.has(state);
}

/** A state in its colour: what runs, what is well, what waits for another try, what is bad. */
export function paintState(state: string, style: Style): (text: string) => string {
  if (state === 'SUCCEEDED') return style.green;
  if (isBad(state)) return style.red;
  if (state === 'RUNNING') return style.cyan;
  if (state === 'RETRY_WAIT' || state === 'STOPPING' || state === 'PAUSED') return style.yellow;
  return style.dim;
}

/** A state as a cell of a table. */
export function stateCell(state: string, style: Style): Cell {
  return { text: state, paint: paintState(state, style) };
}
