/**
 * The world outside, on one page: all that passes, commands and views need. Each port has a memory twin and an AWS
 * adapter, and both pass the same contract suite (`test/contract`).
 *
 * Rules for every adapter: answers are checked by a schema before they are given on; an expected outcome (a lost
 * condition, a missing item, a throttled call) is a value, not an exception; a call that is repeated, or repeated
 * after its answer was lost, does no harm.
 */
import type { ResultPlace } from '#domain/beginning.ts';
import type { PipelineDefinition } from '#domain/definition.ts';
import type { AttemptResult, Evaluation, ExecutionStatus } from '#domain/facts.ts';
import type { Json } from '#domain/json.ts';
import type { LimitKind, LimitRecord, WaitingRun } from '#domain/limit.ts';
import type { NodeState } from '#domain/node-status.ts';
import type { PayloadRef } from '#domain/payload-ref.ts';
import type { PipelineHead } from '#domain/pipeline-head.ts';
import type { AttemptReport } from '#domain/report.ts';
import type { Decision, ErrorInfo, RunRecord, RunStateName } from '#domain/run.ts';

/** Whose items: everything of a run but its aggregate is keyed by its nonce too. */
export interface RunKey {
  readonly id: string;
  readonly nonce: string;
}

/** A line of the list of runs; written when a run is made, starts and ends. */
export interface RunHeader {
  readonly id: string;
  readonly pipeline: string;
  readonly revision: string;
  readonly rev: number;
  readonly state: RunStateName;
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly endedAt?: number;
  readonly trigger: RunRecord['trigger'];
  readonly tags: RunRecord['tags'];
  /** Days that it is kept once the run is over. @default 90 */
  readonly retainDays?: number;
}

/** Which runs to list; newest first. */
export interface RunQuery {
  readonly pipeline?: string;
  readonly states?: readonly RunStateName[];
  readonly tags?: readonly (readonly [string, string])[];
  /** Bounds of the creation time (ms since the epoch), `from` included, `to` not. */
  readonly from?: number;
  readonly to?: number;
  readonly limit: number;
  /** Read strongly consistent; only for lists of all pipelines. @default false */
  readonly isStrict?: boolean;
  /** Where the page before ended: creation time and id of its last run. */
  readonly after?: { readonly createdAt: number; readonly id: string };
}

/** A page of a list; `last` names the place to go on from, and is absent on the last page. */
export interface RunPage {
  readonly items: readonly RunHeader[];
  readonly last?: { readonly createdAt: number; readonly id: string };
}

/** Runs, their results, values and history. All reads but `listRuns` are strongly consistent. */
export interface RunStore {
  /** Puts a new run, unless one with this id exists, which is then given back. */
  createRun(run: RunRecord): Promise<{ readonly created: true } | { readonly created: false; readonly run: RunRecord }>;
  /**
   * @throws DamagedRunError, NewerRunError
   */
  readRun(id: string): Promise<RunRecord | undefined>;
  /** Replaces a run if its revision number is still `expectedRev`. */
  commitRun(run: RunRecord, expectedRev: number): Promise<'committed' | 'conflict'>;
  /** Stores what an execution said, unless something is stored already; gives what is stored. */
  putResult(run: RunKey, result: AttemptResult): Promise<AttemptResult>;
  readResult(run: RunKey, node: number, attempt: number, item?: number): Promise<AttemptResult | undefined>;
  /**
   * The results of all attempts of a node, or of a whole run, by node, item and attempt. With `maxBytes`, the list ends with
   * the first result with which the outputs are longer in all (UTF-16 units), since nobody could hold more of them.
   */
  listResults(run: RunKey, node?: number, maxBytes?: number): Promise<readonly AttemptResult[]>;
  /**
   * Copies results from one run to another that nobody else writes to, a page at a time, however many and long they are.
   * @param placeOf the place of a result in the other run; nothing for one that stays behind
   * @returns how many were copied
   */
  copyResults(from: RunKey, to: RunKey, placeOf: (result: ResultPlace) => ResultPlace | undefined): Promise<number>;
  /** Stores a JSON text under a key; it exists for the run once a commit names the key. */
  putValue(run: RunKey, key: string, text: string): Promise<void>;
  readValue(run: RunKey, key: string): Promise<string | undefined>;
  /** Stores the decisions that revision `rev` of a run still held; a repeated put writes the same. */
  putHistory(run: RunKey, rev: number, decisions: readonly Decision[], createdAt: number): Promise<void>;
  /** All decisions that were put, oldest first. */
  listHistory(run: RunKey, createdAt: number): Promise<readonly Decision[]>;
  /** Writes a run's line in the list, unless a newer one is there. */
  putHeader(header: RunHeader): Promise<void>;
  /** Takes a run's line out of the list for good: one that is put afterwards does not come back. */
  removeHeader(run: Pick<RunHeader, 'id' | 'createdAt'>): Promise<void>;
  /**
   * Removes results, values and history of a run, at most so many items.
   * @returns whether nothing of them is left
   */
  removeParts(run: RunKey, most: number): Promise<boolean>;
  /**
   * Removes a run itself if its revision number is still `expectedRev`; `conflict` also where it is gone, or newer code
   * has taken it over.
   */
  removeRun(id: string, expectedRev: number): Promise<'removed' | 'conflict'>;
  listRuns(query: RunQuery): Promise<RunPage>;
}

/** Limits, the engines among them, and the runs that wait for their slots. Every read is strongly consistent. */
export interface LimitStore {
  /**
   * @throws DamagedLimitError, NewerLimitError
   */
  readLimit(name: string): Promise<LimitRecord | undefined>;
  /** Replaces a limit if its revision number is still `expectedRev` (0: there is none). */
  commitLimit(limit: LimitRecord, expectedRev: number): Promise<'committed' | 'conflict'>;
  /** Limits of a kind by name, a page at a time; those that cannot be read are left out. */
  listLimits(
    kind: LimitKind,
    limit: number,
    after?: string,
  ): Promise<{ readonly items: readonly LimitRecord[]; readonly last?: string }>;
  /** Puts the row of a waiting run, unless one of a later revision of the run is there. */
  putWaiting(row: WaitingRun): Promise<void>;
  /** Takes a row away, unless it was put for a later revision of its run than `row.rev`. */
  removeWaiting(row: Omit<WaitingRun, 'taken' | 'wants'>): Promise<void>;
  /** Runs that wait for a limit, by pipeline, then highest priority first, then longest waiting first; `after` a row. */
  listWaiting(limit: string, count: number, after?: WaitingPlace): Promise<readonly WaitingRun[]>;
}

/** Where a row stands among those of a limit; only a pipeline: behind all rows of that pipeline. */
export type WaitingPlace = Pick<WaitingRun, 'pipeline'> | Pick<WaitingRun, 'pipeline' | 'priority' | 'since' | 'run'>;

export type { PipelineHead } from '#domain/pipeline-head.ts';

/** A revision in the list of a pipeline's revisions. */
export interface RevisionEntry {
  readonly revision: string;
  readonly createdAt: number;
}

/** Pipelines and their immutable revisions. Every read is strongly consistent. */
export interface PipelineStore {
  /**
   * @throws DamagedPipelineError, NewerPipelineError
   */
  readHead(name: string): Promise<PipelineHead | undefined>;
  /** Replaces a head if its version is still `expectedVersion` (0: there is none). */
  commitHead(head: PipelineHead, expectedVersion: number): Promise<'committed' | 'conflict'>;
  /** Takes a head away if its version is still `expectedVersion`. Its definitions stay, for its runs. */
  removeHead(name: string, expectedVersion: number): Promise<'committed' | 'conflict'>;
  /** Heads by name, a page at a time; those that cannot be read are left out. */
  listHeads(
    limit: number,
    after?: string,
  ): Promise<{ readonly items: readonly PipelineHead[]; readonly last?: string }>;
  /** Stores a revision's definition; repeated puts write the same. */
  putDefinition(
    name: string,
    incarnation: string,
    revision: string,
    definition: PipelineDefinition,
    now: number,
  ): Promise<void>;
  /**
   * @throws DamagedPipelineError
   */
  readDefinition(name: string, revision: string): Promise<PipelineDefinition | undefined>;
  /** Newest first. */
  listRevisions(name: string, incarnation: string): Promise<readonly RevisionEntry[]>;
  /** Notes that a pipeline uses an engine, as of a version of its head; a row of a later version stands. */
  putUse(engine: string, pipeline: string, version: number): Promise<void>;
  /** Takes such a row away, unless it is of a later version of the head than `version`. */
  removeUse(engine: string, pipeline: string, version: number): Promise<void>;
  /** Names of the pipelines that use an engine, in order, a page at a time. */
  listUses(
    engine: string,
    limit: number,
    after?: string,
  ): Promise<{ readonly items: readonly string[]; readonly last?: string }>;
}

/** An aggregate that has a due time. */
export interface DueThing {
  readonly kind: 'run' | 'limit' | 'pipeline';
  /** Id of the run, name of the limit or of the pipeline. */
  readonly id: string;
}

/** What is due, a page at a time, from the index: may lag, never loses anything for good. */
export interface DueIndex {
  due(now: number): AsyncIterable<readonly DueThing[]>;
}

/** Outputs of earlier successes, by key, until a time (ms since the epoch). What is written last stands. */
export interface Memo {
  read(key: string, now: number): Promise<string | undefined>;
  write(key: string, output: string, until: number): Promise<void>;
}

/** How many runs events started, by pipeline and minute. */
export interface StartCounts {
  /**
   * Counts the start of a run, once however often it is asked for, unless the minute is full.
   * @param minute whole minutes since the epoch
   * @param most starts that a minute has room for
   * @returns whether the start has its place in the minute
   */
  count(pipeline: string, minute: number, runId: string, most: number): Promise<boolean>;
}

/** Which attempt of a run. */
export interface AttemptPlace {
  /** Index of the node. */
  readonly node: number;
  /** Index of the item, for an item of a map. */
  readonly item?: number | undefined;
  readonly attempt: number;
}

/** What attempts report of themselves, the last report of each. Reads are strongly consistent. */
export interface Reports {
  /** Keeps a report in the place of the one before, unless that says more progress, or is later. */
  putReport(run: RunKey, of: AttemptPlace, report: AttemptReport): Promise<'put' | 'late'>;
  readReport(run: RunKey, of: AttemptPlace): Promise<AttemptReport | undefined>;
}

/** What DescribeExecution says. */
export type ExecutionSeen =
  | {
      readonly kind: 'ended';
      readonly status: ExecutionStatus;
      readonly output?: string;
      readonly error?: ErrorInfo;
      readonly startedAt: number;
      readonly endedAt: number;
    }
  | { readonly kind: 'running'; readonly startedAt: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unanswered'; readonly message: string };

/** What ListExecutions says of a state machine. */
export type RunningListed =
  | {
      readonly kind: 'listed';
      /**
       * When the executions that run were started, by their names (ms since the epoch). One that is in it was running a
       * moment ago; one that is not may run all the same, since a list lags, and ends at its last page.
       */
      readonly startedAt: ReadonlyMap<string, number>;
    }
  | { readonly kind: 'unanswered'; readonly message: string };

/**
 * For whom a call is made. A `sweep` can wait for the next tick, and leaves a part of the quota to those that others
 * wait for.
 */
export type CallUrgency = 'prompt' | 'sweep';

/** What DescribeStateMachine says. `denied`: this installation may not ask, so it may not start anything there either. */
export type MachineSeen =
  | { readonly kind: 'there'; readonly isStandard: boolean }
  | { readonly kind: 'missing' }
  | { readonly kind: 'denied' | 'unanswered'; readonly message: string };

/** Step Functions. An execution is named by its state machine's ARN and its own name. */
export interface Executions {
  start(
    stateMachineArn: string,
    name: string,
    input: string,
  ): Promise<
    | { readonly kind: 'started' | 'exists' }
    | { readonly kind: 'later'; readonly message: string }
    | {
        readonly kind: 'refused';
        readonly message: string;
        /** The state machine does not exist, or is being deleted. */
        readonly isMachineGone?: true;
      }
  >;
  /** @param urgency `prompt` unless told otherwise */
  describe(stateMachineArn: string, name: string, urgency?: CallUrgency): Promise<ExecutionSeen>;
  /**
   * Lists the executions that run, newest first: a call for each 1,000 of them, always a `sweep`.
   * @param pageLimit how many calls at most; 1 unless told otherwise
   */
  listRunning(stateMachineArn: string, pageLimit?: number): Promise<RunningListed>;
  /** `accepted` also where it is over already. */
  stop(stateMachineArn: string, name: string, reason: string): Promise<'accepted' | 'missing' | 'unanswered'>;
  /** Whether a state machine is there. */
  findMachine(stateMachineArn: string): Promise<MachineSeen>;
}

/** What reading a large text gave. `refused`: it is not there (any more), may not be read, or is not what was put. */
export type PayloadRead =
  | { readonly kind: 'read'; readonly text: string }
  | { readonly kind: 'refused'; readonly message: string };

/** JSON texts that are too large to pass directly, each under its own hash (`PAYLOAD_LIMITS.stored` at most). */
export interface Payloads {
  /** Stores a text; repeated puts write the same. */
  put(text: string): Promise<PayloadRef>;
  read(ref: PayloadRef): Promise<PayloadRead>;
  /** An address that gives the text to whoever has it, for some minutes. Nothing where the text cannot be one of ours. */
  presign(ref: PayloadRef): Promise<string | undefined>;
}

/** A place in the log of an attempt. */
export interface LogPlace {
  /** The stream of its function's log that it is in, and the invocation there. */
  readonly stream: string;
  readonly requestId: string;
  /** When the last line that was read was written (ms since the epoch), and how many of that time were read. */
  readonly at: number;
  readonly seen: number;
}

/** What reading a log gave. `missing`: nothing tells of the attempt, or not yet. */
export type LogRead =
  | {
      readonly kind: 'read';
      readonly lines: readonly { readonly at: number; readonly text: string }[];
      /** Where to go on; later lines may come there for as long as the invocation goes on. */
      readonly place: LogPlace;
      /** What comes after these lines is not the attempt's. */
      readonly isOver: boolean;
    }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unanswered'; readonly message: string };

/** Logs of functions. An attempt's lines are found by the mark in them (`logMark`), not by a guess at times. */
export interface Logs {
  /**
   * Finds the beginning of an attempt's log.
   * @param functionName of its Lambda function
   * @param key of the attempt (`logKey`)
   * @param since no line of it is older (ms since the epoch)
   */
  find(functionName: string, key: string, since: number): Promise<LogRead>;
  /** Reads on, at most so many lines. */
  read(functionName: string, place: LogPlace, limit: number): Promise<LogRead>;
}

/** The inbox of the scheduler: at least once, in any order. */
export interface Inbox {
  /** Asks for a pass over a run, after a delay of whole seconds (0 to 900). */
  ring(runId: string, delaySeconds?: number): Promise<void>;
  /** Asks for a pass that looks at one attempt, by the name of its execution, though it is not due. */
  ringAbout(runId: string, executionName: string): Promise<void>;
  /** Asks for a pass over something else, after a delay of whole seconds (0 to 900). */
  ringThing(thing: DueThing, delaySeconds?: number): Promise<void>;
  /** Asks for passes over many things. */
  ringAll(things: readonly DueThing[]): Promise<void>;
}

/** An event on the installation's bus. `detail` carries `schemaVersion` and `hops`. */
export interface BusEvent {
  readonly source: 'millrace.api' | 'millrace.intake' | 'millrace.scheduler';
  readonly detailType: 'PipelineChanged' | 'EngineChanged' | 'RunChanged' | 'RunRejected';
  readonly detail: Json;
}

/** The bus. Resolves once every event was accepted. */
export interface EventBus {
  publish(events: readonly BusEvent[]): Promise<void>;
}

/** What an expression may see. Texts are JSON as stored. */
export interface Bindings {
  readonly run: {
    readonly id: string;
    readonly input?: string;
    /** Of a run that stands for an instant of a schedule: that instant and the one before it (ISO 8601). */
    readonly instant?: string;
    readonly previousInstant?: string;
  };
  readonly nodes: readonly {
    readonly id: string;
    readonly state: NodeState;
    readonly output?: string;
    readonly error?: ErrorInfo;
  }[];
  readonly attempt: number;
  /** The item of a map (JSON text) and its index, for an expression of an item. */
  readonly item?: string;
  readonly index?: number;
  /** The node's own output, for its `branch`. */
  readonly output?: string;
  /** What `$now()` and `$millis()` answer (ms since the epoch). */
  readonly now: number;
  /** What `$random()` and `$shuffle()` draw from. */
  readonly seed: string;
}

/** One template to evaluate: each string `{% … %}` in it is replaced by its value. */
export interface EvaluationRequest {
  readonly template: Json;
  readonly bindings: Bindings;
}

/**
 * JSONata in a sandbox with limits of time, memory and depth. Answers come in the order of the requests; one that
 * was not reached before `budgetMs` was over is missing (`undefined`), which is no error of its expression.
 */
export interface Evaluator {
  evaluate(requests: readonly EvaluationRequest[], budgetMs: number): Promise<readonly (Evaluation | undefined)[]>;
}

/** The time (ms since the epoch). */
export interface Clock {
  now(): number;
}

/** Randomness. */
export interface Ids {
  /** 26 lower-case base32 characters. */
  runId(): string;
  /** 8 lower-case base32 characters. */
  nonce(): string;
  /** A secret, 128 bits in base64url. */
  secret(): string;
}
