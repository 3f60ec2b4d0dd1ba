/** The state of a run: one aggregate, changed by a pass alone (DESIGN, "A run is one aggregate item"). */
import type { NodeCode } from './node-status.ts';
import type { Reason } from './reasons.ts';

/** States of a run (SEMANTICS, "States"). */
export const RUN_STATES = [
  'QUEUED',
  'RUNNING',
  'PAUSED',
  'STOPPING',
  'SUCCEEDED',
  'FAILED',
  'TIMED_OUT',
  'ABORTED',
] as const;

/** One of {@link RUN_STATES}. */
export type RunStateName = (typeof RUN_STATES)[number];

/** Number of the layout of a stored run. A pass never commits over a newer one. */
export const RUN_SCHEMA_VERSION = 1;

/** An error with a stable name and a message for people. */
export interface ErrorInfo {
  /** As in ASL: `States.Timeout`, `Millrace.ExpressionError`, or the name that the node's own code threw. */
  readonly name: string;
  readonly message: string;
}

/** Why an attempt under way is being ended before its execution ended by itself. */
export type EndReason =
  | 'Stopped'
  | 'FailFast'
  | 'RunTimedOut'
  | 'TimedOut'
  | 'HeartbeatTimeout'
  | 'EngineError'
  | 'Marked';

/**
 * An attempt in flight, or one that failed and waits for its next.
 * `starting`: committed, StartExecution not confirmed. `running`: confirmed. `stopping`: being ended, for `ending`.
 * `retry`: over and failed; the next one starts at `pollAt`. `queued`: its time has come, and it waits for an engine or a slot.
 */
export interface Flight {
  readonly node: number;
  /** Index of the item, for an item of a map. */
  readonly item?: number | undefined;
  /** From 1. In the phases `retry` and `queued`, the number of the attempt that failed. */
  readonly attempt: number;
  readonly phase: 'starting' | 'running' | 'stopping' | 'retry' | 'queued';
  /** When the attempt was started by a commit (ms since the epoch); fixes `$now()` for the attempt. */
  readonly startedAt: number;
  /** When the present phase began (ms since the epoch); of an attempt under way, since when its time runs. */
  readonly since: number;
  /** When to look at it next (ms since the epoch). In phase `retry`, when the next attempt is due. */
  readonly pollAt: number;
  /** Looks that found it running. */
  readonly polls: number;
  /** Index of its state machine in `RunRecord.machines`. */
  readonly machine: number;
  /** Whether Step Functions ever said that the execution exists. */
  readonly confirmed: boolean;
  readonly ending?: EndReason;
  /** What ends it, where `ending` is `EngineError`. */
  readonly error?: ErrorInfo;
  /** Since when an execution that was confirmed, or is being ended, cannot be found (ms since the epoch). */
  readonly missingSince?: number;
  /** The last call for it was throttled. */
  readonly throttled?: boolean;
  /** When its code last reported, as far as a pass has read that (ms since the epoch). Only where it has to report. */
  readonly heardAt?: number;
  /** What an approval asks; such an attempt waits for an answer and has no execution. */
  readonly prompt?: string;
  /** The answer that an approval got. */
  readonly answer?: ApprovalAnswer;
}

/** What a person or a system answered to an approval. */
export interface ApprovalAnswer {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly approve: boolean;
  /** Key of the stored output that an approval gives. @default null */
  readonly output?: string;
  readonly by?: string;
  readonly comment?: string;
}

/** The states that a user may give a node by hand. */
export const MARK_STATES = ['SUCCEEDED', 'FAILED', 'SKIPPED'] as const;

/** One of {@link MARK_STATES}. */
export type MarkState = (typeof MARK_STATES)[number];

/**
 * Number of the attempt under which an output that was given by hand is stored: above all that are ever started, so that
 * it is the last word on its node.
 */
export const MARKED_ATTEMPT = 99_999;

/** What a user made of a node by hand: kept until nothing of the node is under way any more. */
export interface NodeMark {
  readonly node: number;
  readonly state: MarkState;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Key of the stored output of a node that is marked SUCCEEDED. */
  readonly output?: string;
  readonly by?: string;
  readonly note?: string;
}

/** Whether an attempt is under way: not one that failed and waits for the next. */
export function isUnderWay({ phase }: Flight): boolean {
  return phase !== 'retry' && phase !== 'queued';
}

/**
 * One decision, kept in the run until it goes to the history. Nodes that were decided alike in one commit share it.
 */
export interface Decision {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Revision number of the commit that made it. */
  readonly rev: number;
  /** New status of the nodes, or `run` where the run itself changed. */
  readonly to: NodeCode | 'run';
  /** Indices of the nodes, rising. Empty for the run itself. */
  readonly nodes: readonly number[];
  /** Indices of the items, rising, where it is about items of the one map in `nodes`. */
  readonly items?: readonly number[];
  /** Number of the attempt that it concerns; 0 where there is none. */
  readonly attempt: number;
  /** The run's new state, for `run`. */
  readonly state?: RunStateName;
  readonly reason?: Reason;
  /** The error behind it, where no execution's result tells it. */
  readonly error?: ErrorInfo;
  /** Who asked for it. */
  readonly by?: string;
  /** What they said about it. */
  readonly note?: string;
  /** The run whose results these are, where a re-run took them over. */
  readonly from?: string;
  /** When a map that a re-run took over began and ended there (ms since the epoch). */
  readonly times?: { readonly startedAt: number; readonly endedAt: number };
}

/** How far a map has come. The run alone decides which item starts; what items gave are results of their own. */
export interface MapState {
  readonly node: number;
  /** Number of items. */
  readonly total: number;
  /** Index of the first item that was not started yet. */
  readonly next: number;
  readonly succeeded: number;
  readonly failed: number;
  /** Key of the stored list. */
  readonly list: string;
  /** Items behind `next` that are over already, rising: a re-run took them over. */
  readonly ahead?: readonly number[];
  /** The failed item with the lowest index. */
  readonly firstBad?: { readonly item: number; readonly error: ErrorInfo };
}

/** What a branch node chose: the only direct downstreams for which it counts as a success. */
export interface BranchChoice {
  readonly node: number;
  readonly chosen: readonly number[];
}

/** A node that may not wait for ever to be started. */
export interface QueuedNode {
  readonly node: number;
  /** Since when it is QUEUED, and until when it may be (ms since the epoch). */
  readonly since: number;
  readonly until: number;
}

/** What a run has to do with a limit. */
export interface RunLimit {
  /** Name of the limit. */
  readonly limit: string;
  /** Slots that it took up, and gave back, so far; they only go up. */
  readonly taken: number;
  readonly returned: number;
  /** How many of those given back the limit is known to have taken note of. */
  readonly released: number;
  /** Slots kept for what waits for a further limit. */
  readonly held: number;
  /** What it waits for: how many slots more, the highest priority, and since when (ms since the epoch). */
  readonly waiting?: { readonly need: number; readonly priority: number; readonly since: number };
  /** The row that is known to stand beside the limit. */
  readonly row?: { readonly wants: number; readonly priority: number; readonly since: number };
}

/** What made a run. */
export interface RunTrigger {
  readonly type: 'api' | 'schedule' | 'event' | 'rerun' | 'backfill' | 'pipeline';
  readonly by?: string;
  /** The run that it comes from: the parent of a child, the first run of a re-run, the run whose end or node an event told of. */
  readonly runId?: string;
  /** The instant of a schedule that it stands for, and the one before it (ISO 8601). */
  readonly instant?: string;
  readonly previousInstant?: string;
  /** The entry of the schedule, and the backfill that it belongs to. */
  readonly entry?: string;
  readonly backfill?: string;
}

/** The attempt, in another run, whose execution this run is. */
export interface ParentAttempt {
  readonly run: string;
  readonly nonce: string;
  readonly node: number;
  readonly item?: number | undefined;
  readonly attempt: number;
}

/** An order to end a run early: by a user, its own deadline, `failFast`, another active run, or a fault of its record. The first one stands. */
export interface StopOrder {
  readonly kind: 'user' | 'timeout' | 'failFast' | 'overlap' | 'fault';
  readonly at: number;
  readonly by?: string;
}

/** The aggregate. Immutable: a step makes a new one. */
export interface RunRecord {
  readonly schemaVersion: number;
  readonly id: string;
  readonly pipeline: string;
  readonly revision: string;
  /** Random per creation; part of every key and execution name of this run. */
  readonly nonce: string;
  /** From which the tokens of its attempts are made. Never shown. */
  readonly secret: string;
  /** Revision number: one up with every commit that changes something. */
  readonly rev: number;
  readonly state: RunStateName;
  readonly reason: Reason;
  /** Since when it has its state (ms since the epoch). */
  readonly since: number;
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly trigger: RunTrigger;
  /** For a run that a `pipeline` node started. */
  readonly parent?: ParentAttempt;
  /** How many runs led to it, each by a `pipeline` node or an event. @default 0 */
  readonly depth?: number;
  readonly tags: readonly (readonly [string, string])[];
  /** Days that the run is kept once it is over. @default 90 */
  readonly retainDays?: number;
  /** Hash of the input, to tell a repeated start from another one under the same key. */
  readonly inputHash: string;
  /** One letter a node, in topological order. */
  readonly nodes: string;
  /** ARNs of the state machines that its attempts were started on. */
  readonly machines: readonly string[];
  /** By node index, then by item, rising. */
  readonly flights: readonly Flight[];
  /** Maps that have their list, by node index. */
  readonly maps?: readonly MapState[];
  readonly branches?: readonly BranchChoice[];
  /** Nodes in QUEUED that have a limit of that time. */
  readonly queued?: readonly QueuedNode[];
  /** Limits whose slots it holds, held or waits for; by name. */
  readonly limits?: readonly RunLimit[];
  /** Nodes that users decided by hand, and of which something is still under way. */
  readonly marks?: readonly NodeMark[];
  readonly stop?: StopOrder;
  /** The order to delete it: from then on it is there for nobody but the passes that carry that out. */
  readonly deleted?: { readonly at: number; readonly by?: string };
  /** The bad node that stands first in topological order, allowed failures and followers of failures apart. */
  readonly firstBad?: { readonly node: number; readonly error: ErrorInfo };
  /** What failed in the run itself (its output expression, a damaged record), not in a node. */
  readonly error?: ErrorInfo;
  /** Key of the stored output, once it is over and has one. */
  readonly outputKey?: string;
  /** The newest decisions, oldest first; older ones are in the history. */
  readonly decisions: readonly Decision[];
  /** Until when somebody watches it (ms since the epoch): its nodes are published, too. The first commit after that drops it. */
  readonly watchedUntil?: number;
  /** The last state and revision number that were published and written to the run's header. */
  readonly announced: { readonly rev: number; readonly state: RunStateName };
  /** When the run has to be looked at (ms since the epoch): may be early, never late. Absent: nothing to wait for. */
  readonly dueAt?: number;
}

const TERMINAL: ReadonlySet<RunStateName> = new Set(['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED']);

/** Whether a run's state is final. */
export function isRunOver(state: RunStateName): boolean {
  return TERMINAL.has(state);
}

/**
 * Whether something of the run has still to be published.
 * @param everyChange whether every commit is published, not only those that change the run's state and those after its end
 */
export function owesAnnouncement(run: Pick<RunRecord, 'announced' | 'state' | 'rev'>, everyChange: boolean): boolean {
  if (run.announced.state !== run.state) return true;
  return (everyChange || isRunOver(run.state)) && run.announced.rev < run.rev;
}
