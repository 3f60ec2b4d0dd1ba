import type { Style } from './output.ts';
import type { Cell } from './table.ts';

/** States of a node after which nothing of it changes. */
const ENDED: ReadonlySet<string> = new Set([
  'SUCCEEDED',
  'FAILED',
  'TIMED_OUT',
  'ABORTED',
  'SKIPPED',
  'UPSTREAM_FAILED',
]);
const BAD: ReadonlySet<string> = new Set(['FAILED', 'TIMED_OUT', 'ABORTED', 'UPSTREAM_FAILED']);

/** States in which something waits that might need a person. */
const WAITING: ReadonlySet<string> = new Set(['QUEUED', 'RETRY_WAIT', 'STOPPING', 'PAUSED']);
/** Reasons of a run, or a map, that waits as a whole: nothing of it is under way. */
const IDLE_REASONS: ReadonlySet<string> = new Set([
  'NoEngine',
  'EngineDraining',
  'EngineFull',
  'PoolFull',
  'ActiveRunsLimit',
  'PipelinePaused',
  'RunPaused',
]);

/** Whether a run, a map or a node waits for a limit, its turn or a person, by its reason. */
export function isIdle(reason: string): boolean {
  return IDLE_REASONS.has(reason);
}

/** Whether a node is over. */
export function isNodeEnded(state: string): boolean {
  return ENDED.has(state);
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
  if (WAITING.has(state)) return style.yellow;
  return style.dim;
}

/** A state as a cell of a table. */
export function stateCell(state: string, style: Style): Cell {
  return { text: state, paint: paintState(state, style) };
}
