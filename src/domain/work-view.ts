/** What nodes and items of maps have in common, as the API shows them: attempts, times, output, error. */
import { type ApprovalView, viewApproval } from './asked-view.ts';
import { type AttemptSources, type AttemptView, viewAttempts } from './attempt-view.ts';
import type { AttemptResult } from './facts.ts';
import type { CompiledNode } from './graph.ts';
import { toIsoTime } from './iso-time.ts';
import type { Json } from './json.ts';
import { type NodeCode, type NodeState, statusOf } from './node-status.ts';
import { decidingAttempt, type NodeStory } from './node-story.ts';
import type { Explanation, Reason } from './reasons.ts';
import type { ReportView } from './report.ts';
import { type ErrorInfo, MARKED_ATTEMPT } from './run.ts';
import { type ExecutionPlace, executionOf, type RunScope } from './run-scope.ts';

/** How a node or an item stands. Times are ISO 8601. */
export interface WorkView {
  readonly state: NodeState;
  readonly reason: Reason;
  readonly message: string;
  /** Since when it stands so. */
  readonly since: string;
  /** Number of its last attempt; 0 before the first one. */
  readonly attempt: number;
  /** Of its last attempt. */
  readonly executionArn?: string;
  /** Of its last attempt, where that is a run of another pipeline. */
  readonly childRunId?: string;
  /** When its first attempt began. */
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly nextAttemptAt?: string;
  /** What the code of its attempt under way last said. */
  readonly report?: ReportView;
  /** What it asks, while it waits for an answer. */
  readonly approval?: ApprovalView;
  readonly output?: Json;
  /** Address of the output where it is too large for a list. */
  readonly outputRef?: string;
  readonly error?: ErrorInfo;
  /** The run whose result it is, where this one took that over. */
  readonly reusedFrom?: string;
}

/** An output, or the address of one that is too large to be shown here. */
export type ShownOutput = { readonly output: Json } | { readonly outputRef: string };

/**
 * What the view of a node or an item is made from. Of the results, as many as are wanted: those of the first and the
 * last attempt are shown.
 */
export interface WorkSources extends AttemptSources {
  /** How to show the JSON text of its output. */
  readonly showOutput: (text: string) => ShownOutput;
}

/** How the status of something that has attempts is shown. */
export interface Telling {
  readonly code: NodeCode;
  /** Its state, where its code does not tell it. */
  readonly state?: NodeState;
  /** Explains it, by the error that it is shown with. */
  readonly explain: (error: ErrorInfo | undefined) => Explanation;
  /** The error to show, by that of its last attempt. */
  readonly errorOf: (told: ErrorInfo | undefined) => ErrorInfo | undefined;
}

/** Makes the view of something that has attempts. */
export function viewWork(scope: RunScope, node: CompiledNode, sources: WorkSources, telling: Telling): WorkView {
  const { story, flight, item } = sources;
  const { state = statusOf(telling.code).state } = telling;
  const attempts = viewAttempts(scope, node, sources);
  const last = attempts.at(-1);
  const error = telling.errorOf(last?.error);
  const place = placeOf(last) ?? (flight && executionOf(scope, node, { ...flight, item }, flight));
  const result = sources.results.find((one) => one.attempt === decidingAttempt(story));
  const times = story.from === undefined ? timesOf(story, attempts) : timesOfReused(story, result);
  const approval = viewApproval(scope, flight);
  return {
    state,
    ...telling.explain(error),
    since: toIsoTime(sinceOf(sources)),
    attempt: Math.max(last?.attempt ?? 0, flight?.attempt ?? 0),
    ...place,
    ...times,
    ...(flight?.phase === 'retry' && { nextAttemptAt: toIsoTime(flight.pollAt) }),
    ...(approval && { approval }),
    ...(last?.report && { report: last.report }),
    ...(state === 'SUCCEEDED' && result?.output !== undefined && sources.showOutput(result.output)),
    ...(error && { error }),
    ...(story.from !== undefined && { reusedFrom: story.from }),
  };
}

/** No decision tells that an item has its time again and waits: its flight does. */
function sinceOf({ story, flight, item }: WorkSources): number {
  if (flight?.ending) return flight.since;
  return flight?.phase === 'queued' && item !== undefined ? flight.pollAt : story.since;
}

type Times = Pick<WorkView, 'startedAt' | 'endedAt'>;

function timesOf(story: NodeStory, attempts: readonly AttemptView[]): Times {
  const startedAt = attempts.find((attempt) => attempt.startedAt !== undefined)?.startedAt;
  const endedAt = endOf(story, attempts.at(-1)?.endedAt);
  return { ...(startedAt !== undefined && { startedAt }), ...(endedAt !== undefined && { endedAt }) };
}

/** What was taken over keeps the times that it had; a skip has none but that of its decision. */
function timesOfReused(story: NodeStory, result: AttemptResult | undefined): Times {
  const times = story.times ?? result;
  if (times) return { startedAt: toIsoTime(times.startedAt), endedAt: toIsoTime(times.endedAt) };
  return story.overAt === undefined ? {} : { endedAt: toIsoTime(story.overAt) };
}

function placeOf(attempt: ExecutionPlace | undefined): ExecutionPlace | undefined {
  if (attempt?.childRunId !== undefined) return { childRunId: attempt.childRunId };
  return attempt?.executionArn === undefined ? undefined : { executionArn: attempt.executionArn };
}

/** It ends with its last attempt, unless that was over before: it was stopped while it waited for the next. */
function endOf(story: NodeStory, lastAttemptEndedAt: string | undefined): string | undefined {
  if (story.overAt === undefined) return undefined;
  const isByAttempt = story.attempts.at(-1)?.end?.at === story.overAt;
  return isByAttempt && lastAttemptEndedAt !== undefined ? lastAttemptEndedAt : toIsoTime(story.overAt);
}

/** Which results the view of a node or an item shows; numbers of attempts. */
export function wantedAttempts(story: NodeStory): number[] {
  const told = story.attempts.filter(({ startedAt, end }) => end && (startedAt !== undefined || end.to === 'S'));
  const first = told[0]?.attempt;
  const deciding = decidingAttempt(story);
  const last = deciding === 0 || deciding === MARKED_ATTEMPT ? deciding : told.at(-1)?.attempt;
  return [...new Set([first, last])].filter((attempt) => attempt !== undefined);
}
