/** The attempts of a node as the API shows them. */
import type { AttemptResult } from './facts.ts';
import type { CompiledNode } from './graph.ts';
import { toIsoTime } from './iso-time.ts';
import { type NodeState, statusOf } from './node-status.ts';
import type { AttemptStory, NodeStory } from './node-story.ts';
import { type AttemptReport, type ReportView, viewReport } from './report.ts';
import type { ErrorInfo, Flight } from './run.ts';
import { type ExecutionPlace, executionOf, type RunScope } from './run-scope.ts';

/** How an attempt stands or ended. */
export type AttemptState = Extract<NodeState, 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED'>;

/** A completion that came after its attempt was over: it is kept, and changes nothing. */
export interface IgnoredCompletion {
  readonly status: AttemptResult['status'];
  readonly endedAt: string;
  readonly error?: ErrorInfo;
}

/** The error of a node whose execution somebody else stopped: Step Functions tells none. */
export const STOPPED_FROM_OUTSIDE: ErrorInfo = {
  name: 'Millrace.AbortedOutside',
  message: 'the execution was stopped from outside Millrace',
};

/** One attempt. */
export interface AttemptView extends ExecutionPlace {
  readonly attempt: number;
  /** Index of the item, for an item of a map. */
  readonly item?: number;
  readonly state: AttemptState;
  /** Absent where no execution was ever asked for. */
  /** By the execution's own clock where its end is known, else the time of the commit that started it. */
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly error?: ErrorInfo;
  /** What its code last said, while it is under way. */
  readonly report?: ReportView;
  /** Who ended it by hand, or answered it, and what they said about it. */
  readonly by?: string;
  readonly note?: string;
  readonly ignored: readonly IgnoredCompletion[];
}

/** What the attempts of a node, or of an item of a map, are shown from. */
export interface AttemptSources {
  /** Index of the item, for an item of a map. */
  readonly item?: number | undefined;
  readonly story: NodeStory;
  readonly flight?: Flight | undefined;
  /** What the attempt under way last said. */
  readonly report?: AttemptReport | undefined;
  /** Of this node or item. */
  readonly results: readonly AttemptResult[];
}

/** All attempts of a node, or of an item of a map, the first one first. */
export function viewAttempts(scope: RunScope, node: CompiledNode, sources: AttemptSources): AttemptView[] {
  const results = new Map(sources.results.map((result) => [result.attempt, result]));
  return sources.story.attempts.map((story) => viewAttempt(scope, node, story, sources, results.get(story.attempt)));
}

/** One attempt, with what its execution said where it has said it. */
export function viewAttempt(
  scope: RunScope,
  node: CompiledNode,
  story: AttemptStory,
  { item, flight, report }: Pick<AttemptSources, 'item' | 'flight' | 'report'>,
  result: AttemptResult | undefined,
): AttemptView {
  const state = stateOf(story, result);
  const isIgnored = result !== undefined && isIgnoredCompletion(story, state, result);
  const { startedAt, endedAt } = timesOf(story, isIgnored ? undefined : result);
  const { attempt } = story;
  const place = story.startedAt === undefined ? {} : executionOf(scope, node, { attempt, item }, flight);
  const error = story.end && errorOf(story.end, state, isIgnored ? undefined : result);
  return {
    attempt,
    ...(item !== undefined && { item }),
    state,
    ...place,
    ...(startedAt !== undefined && { startedAt: toIsoTime(startedAt) }),
    ...(endedAt !== undefined && { endedAt: toIsoTime(endedAt) }),
    ...(error && { error }),
    ...(report && flight?.attempt === attempt && { report: viewReport(report) }),
    ...askedOf(story),
    ignored: isIgnored ? [toIgnored(result)] : [],
  };
}

function askedOf({ end }: AttemptStory): Pick<AttemptView, 'by' | 'note'> {
  return { ...(end?.by !== undefined && { by: end.by }), ...(end?.note !== undefined && { note: end.note }) };
}

function stateOf({ end }: AttemptStory, result: AttemptResult | undefined): AttemptState {
  if (!end) return 'RUNNING';
  const { state, reason } = statusOf(end.to);
  if (reason === 'MarkedByUser') return 'ABORTED';
  if (state === 'SUCCEEDED' || state === 'TIMED_OUT' || state === 'ABORTED') return state;
  const name = end.error?.name ?? result?.error?.name;
  return name === 'States.Timeout' ||
    name === 'Millrace.HeartbeatTimeout' ||
    (!end.error && result?.status === 'TIMED_OUT')
    ? 'TIMED_OUT'
    : 'FAILED';
}

/**
 * Whether what an execution said is not what its attempt came to. ABORTED is what our own stop makes of an
 * execution, so it confirms the end of the attempt, whatever that was.
 */
function isIgnoredCompletion({ end }: AttemptStory, state: AttemptState, result: AttemptResult): boolean {
  if (!end || result.status === 'ABORTED') return false;
  // Its execution succeeded in time; the branch expression over its output is what failed.
  if (end.to === 'X' && result.status === 'SUCCEEDED') return false;
  if (end.error && state !== 'TIMED_OUT') return true;
  const said = result.error?.name === 'States.Timeout' ? 'TIMED_OUT' : result.status;
  return said !== state;
}

/** Times of the attempt itself: by the execution's clock, unless it went on after its attempt was over. */
function timesOf(story: AttemptStory, result: AttemptResult | undefined): { startedAt?: number; endedAt?: number } {
  const startedAt = result?.startedAt ?? story.startedAt;
  const endedAt = story.end && (result?.endedAt ?? story.end.at);
  return { ...(startedAt !== undefined && { startedAt }), ...(endedAt !== undefined && { endedAt }) };
}

function errorOf(
  end: NonNullable<AttemptStory['end']>,
  state: AttemptState,
  result: AttemptResult | undefined,
): ErrorInfo | undefined {
  if (state === 'SUCCEEDED') return undefined;
  const told = end.error ?? result?.error;
  if (told) return told;
  if (state === 'TIMED_OUT') return { name: 'States.Timeout', message: 'the execution timed out' };
  return end.to === 'O' ? STOPPED_FROM_OUTSIDE : undefined;
}

function toIgnored({ status, endedAt, error }: AttemptResult): IgnoredCompletion {
  return { status, endedAt: toIsoTime(endedAt), ...(error && { error }) };
}
