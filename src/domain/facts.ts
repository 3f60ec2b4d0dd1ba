/** What a pass learnt about the world and what a step asks for in return. Both are data; a step does no I/O. */
import type { Json, JsonObject } from './json.ts';
import type { ErrorInfo, MarkState, RunLimit } from './run.ts';

/** Terminal statuses of a Step Functions execution. */
export type ExecutionStatus = 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';

/** What an execution said at its end: stored once per attempt, and what is stored first stands. */
export interface AttemptResult {
  readonly node: number;
  readonly item?: number | undefined;
  readonly attempt: number;
  readonly status: ExecutionStatus;
  /** JSON text, for SUCCEEDED. */
  readonly output?: string;
  /** For the other statuses, where Step Functions told. */
  readonly error?: ErrorInfo;
  /** By Step Functions' clock (ms since the epoch). */
  readonly startedAt: number;
  readonly endedAt: number;
}

/** What a look at an execution that has not ended gave. */
export interface Observation {
  readonly node: number;
  readonly item?: number | undefined;
  readonly attempt: number;
  /** `unanswered`: the question failed or was throttled, which says nothing about the execution. */
  readonly seen: 'running' | 'missing' | 'unanswered';
  /** For `running`: when it started, by Step Functions' clock (ms since the epoch). */
  readonly startedAt?: number;
}

/** That the reports of an attempt were read, which has to report. */
export interface Heartbeat {
  readonly node: number;
  readonly item?: number | undefined;
  readonly attempt: number;
  /** When its last report was taken (ms since the epoch); absent where it never reported. */
  readonly at?: number;
}

/** What StartExecution answered for an attempt. */
export interface StartAnswer {
  readonly node: number;
  readonly item?: number | undefined;
  readonly attempt: number;
  /** `exists`: started before, by the same name. `later`: throttled or unanswered; to be asked again. */
  readonly answer: 'started' | 'exists' | 'later' | 'refused';
  readonly error?: ErrorInfo;
  /** For `refused`: nobody else can have started it, since this pass committed the start itself. */
  readonly first?: boolean;
}

/** What an expression gave. */
export type Evaluation =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly error: ErrorInfo };

/** An evaluation that a step needs before it can decide. */
export interface Wanted {
  readonly key: string;
  readonly what: 'when' | 'items' | 'cache' | 'params' | 'branch' | 'output';
  /** Index of the node; -1 for the run's output. */
  readonly node: number;
  readonly item?: number | undefined;
  readonly attempt: number;
  /** What `$now()` answers (ms since the epoch). */
  readonly at: number;
}

/** The key under which a wanted evaluation comes back. */
export function evaluationKey(what: Wanted['what'], node: number, attempt: number, item?: number): string {
  return item === undefined ? `${what}/${node}/${attempt}` : `${what}/${node}/${item}/${attempt}`;
}

/** An engine as a step sees it. */
export interface EngineFact {
  readonly stateMachineArn: string;
}

/** What is asked of a run as a whole. `by`: who asked, here and below. */
export interface RunCommand {
  readonly kind: 'stop' | 'pause' | 'resume';
  readonly by?: string;
}

/** Asks to delete a run; one that is active only if that is forced, and then it is stopped first. */
export interface DeleteCommand {
  readonly kind: 'delete';
  readonly isForced: boolean;
  readonly by?: string;
}

/** Decides an unfinished node by hand. */
export interface MarkCommand {
  readonly kind: 'mark';
  /** Its id. */
  readonly node: string;
  readonly state: MarkState;
  /** Of a node that is marked SUCCEEDED. @default null */
  readonly output?: Json;
  readonly note?: string;
  readonly by?: string;
}

/** Answers an attempt that waits for that. */
export interface AnswerCommand {
  readonly kind: 'answer';
  readonly node: number;
  readonly item?: number | undefined;
  readonly attempt: number;
  readonly approve: boolean;
  /** What an approval gives. @default null */
  readonly output?: Json;
  readonly comment?: string;
  readonly by?: string;
}

/** What is asked of a run from outside. */
export type UserCommand = RunCommand | DeleteCommand | MarkCommand | AnswerCommand;

/** A limit as a step of a run sees it. */
export interface LimitFact {
  /** Whether anything may start on it: for an engine its status, else `open`. `missing`: there is no such limit. */
  readonly status: 'open' | 'draining' | 'unavailable' | 'missing';
  /** Of an engine. */
  readonly stateMachineArn?: string;
  /** JSON Schema of the params of its nodes, of an engine that has one. */
  readonly paramsSchema?: JsonObject;
  /** It has no number of slots: whatever asks may start. */
  readonly isUnlimited: boolean;
  /** Slots that could be granted now. */
  readonly free: number;
  /** Runs that hold slots, or were granted some. @default 0 */
  readonly holders?: number;
  /**
   * A slot that comes free in the run may be used by it again: no other run waits for one, and no more are out than there
   * may be.
   */
  readonly isKeepable?: boolean;
  /** What the run was granted so far, where the limit knows the run. */
  readonly granted?: number;
  /** What the limit knows that the run gave back; everything it took, where the limit has forgotten the run. */
  readonly returned: number;
}

/** What became of telling a limit after a commit: the row that stands beside it now, if any. */
export interface LimitTold {
  readonly row?: RunLimit['row'];
}

/** Everything a step decides from, beside the run itself. */
export interface Facts {
  readonly command?: UserCommand;
  /** What is wrong with the run itself, so that it can only be ended. */
  readonly fault?: ErrorInfo;
  readonly results?: readonly AttemptResult[];
  readonly observations?: readonly Observation[];
  readonly answers?: readonly StartAnswer[];
  readonly heartbeats?: readonly Heartbeat[];
  readonly evaluations?: ReadonlyMap<string, Evaluation>;
  /** No more evaluations can be had in this pass: what still needs one stays as it is. */
  readonly evaluationsClosed?: boolean;
  /** Somebody looks at the run live. */
  readonly isWatched?: true;
  /** The run's last change of state was published and its header written. */
  readonly announced?: boolean;
  /** Built-in engines by name: always there, without slots. Others are limits. */
  readonly engines: ReadonlyMap<string, EngineFact>;
  /** Limits that were read, by name. */
  readonly limits?: ReadonlyMap<string, LimitFact>;
  /** Limits beside which a row of the run stood that asked for nothing any more, and was taken away in this pass. */
  readonly rowsGone?: ReadonlySet<string>;
  /** Limits whose rows were brought up to date since the last commit, by name. */
  readonly told?: ReadonlyMap<string, LimitTold>;
  /** The run waits for its turn behind runs above it, which cannot end before it has. */
  readonly isSelfDeadlocked?: boolean;
}

/** What a pass has to do after its commit. Each is idempotent. */
export type Command =
  | { readonly kind: 'start'; readonly node: number; readonly item?: number | undefined; readonly attempt: number }
  | { readonly kind: 'stop'; readonly node: number; readonly item?: number | undefined; readonly attempt: number };
