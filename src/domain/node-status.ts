/**
 * The status of a node is one byte in the run's vector: a letter that stands for a state and its reason.
 * This table is the only place that knows the letters; it is closed, and a letter is never given a new meaning,
 * since stored runs hold them.
 */
import type { Reason } from './reasons.ts';

/** States of a node (SEMANTICS, "States"). */
export type NodeState =
  | 'PENDING'
  | 'QUEUED'
  | 'RUNNING'
  | 'RETRY_WAIT'
  | 'SUCCEEDED'
  | 'FAILED'
  | 'TIMED_OUT'
  | 'ABORTED'
  | 'SKIPPED'
  | 'UPSTREAM_FAILED';

/**
 * What a status means to the trigger rules below it and to the run's result: not decided yet, a success, a skip,
 * bad, or over without being any of these (stopped together with its run).
 */
export type Standing = 'open' | 'success' | 'skipped' | 'bad' | 'stopped';

interface Status {
  readonly state: NodeState;
  readonly reason: Reason;
  readonly standing: Standing;
}

const STATUS = {
  p: { state: 'PENDING', reason: 'UpstreamPending', standing: 'open' },
  q: { state: 'QUEUED', reason: 'RunLimit', standing: 'open' },
  y: { state: 'QUEUED', reason: 'RunLimit', standing: 'open' },
  n: { state: 'QUEUED', reason: 'NoEngine', standing: 'open' },
  g: { state: 'QUEUED', reason: 'EngineDraining', standing: 'open' },
  e: { state: 'QUEUED', reason: 'EngineFull', standing: 'open' },
  o: { state: 'QUEUED', reason: 'PoolFull', standing: 'open' },
  r: { state: 'RUNNING', reason: 'Executing', standing: 'open' },
  // A map that has its list: its items are in flight, waiting, or still to come.
  m: { state: 'RUNNING', reason: 'Executing', standing: 'open' },
  w: { state: 'RETRY_WAIT', reason: 'RetryScheduled', standing: 'open' },
  S: { state: 'SUCCEEDED', reason: 'Completed', standing: 'success' },
  C: { state: 'SUCCEEDED', reason: 'Cached', standing: 'success' },
  M: { state: 'SUCCEEDED', reason: 'MarkedByUser', standing: 'success' },
  F: { state: 'FAILED', reason: 'NodeFailed', standing: 'bad' },
  X: { state: 'FAILED', reason: 'ExpressionError', standing: 'bad' },
  L: { state: 'FAILED', reason: 'ExecutionLost', standing: 'bad' },
  E: { state: 'FAILED', reason: 'EngineError', standing: 'bad' },
  G: { state: 'FAILED', reason: 'PayloadTooLarge', standing: 'bad' },
  I: { state: 'FAILED', reason: 'InternalError', standing: 'bad' },
  x: { state: 'FAILED', reason: 'MarkedByUser', standing: 'bad' },
  T: { state: 'TIMED_OUT', reason: 'TimedOut', standing: 'bad' },
  H: { state: 'TIMED_OUT', reason: 'HeartbeatTimeout', standing: 'bad' },
  Q: { state: 'TIMED_OUT', reason: 'QueueTimeout', standing: 'bad' },
  O: { state: 'ABORTED', reason: 'AbortedOutside', standing: 'bad' },
  A: { state: 'ABORTED', reason: 'Stopped', standing: 'stopped' },
  f: { state: 'ABORTED', reason: 'FailFast', standing: 'stopped' },
  d: { state: 'ABORTED', reason: 'TimedOut', standing: 'stopped' },
  K: { state: 'SKIPPED', reason: 'ConditionFalse', standing: 'skipped' },
  k: { state: 'SKIPPED', reason: 'TriggerNotMet', standing: 'skipped' },
  B: { state: 'SKIPPED', reason: 'BranchNotChosen', standing: 'skipped' },
  N: { state: 'SKIPPED', reason: 'NotSelected', standing: 'skipped' },
  z: { state: 'SKIPPED', reason: 'MarkedByUser', standing: 'skipped' },
  U: { state: 'UPSTREAM_FAILED', reason: 'UpstreamFailed', standing: 'bad' },
} as const satisfies Record<string, Status>;

/** A letter of the vector. */
export type NodeCode = keyof typeof STATUS;

const NAMES = Object.keys(STATUS) as NodeCode[];
const BY_BYTE: readonly (Status | undefined)[] = Array.from({ length: 128 }, (_, byte) => {
  const code = NAMES.find((name) => name.charCodeAt(0) === byte);
  return code && STATUS[code];
});

/** The byte of a letter in the vector. */
export function byteOf(code: NodeCode): number {
  return code.charCodeAt(0);
}

/** Whether a text is a vector: letters of the table alone. A damaged record fails here. */
export function isVector(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (!BY_BYTE[text.charCodeAt(at)]) return false;
  return true;
}

/**
 * State, reason and standing of a letter or byte of the vector.
 * @throws RangeError for a byte that is no letter of the table (a record of newer code, or a damaged one).
 */
export function statusOf(code: NodeCode | number): Status {
  const byte = typeof code === 'number' ? code : byteOf(code);
  const status = BY_BYTE[byte];
  if (!status) throw new RangeError(`no node status has byte ${byte}`);
  return status;
}

/** Whether a letter or byte of the vector stands for a terminal state. */
export function isTerminal(code: NodeCode | number): boolean {
  return statusOf(code).standing !== 'open';
}
