/** A node of a run as the API shows it. */
import { viewAttempts } from './attempt-view.ts';
import type { AttemptResult } from './facts.ts';
import type { CompiledNode } from './graph.ts';
import { toIsoTime } from './iso-time.ts';
import type { Json } from './json.ts';
import { explainNode, upstreamFailure } from './node-reason.ts';
import { type NodeState, statusOf } from './node-status.ts';
import type { NodeStory } from './node-story.ts';
import type { Reason } from './reasons.ts';
import type { ErrorInfo, Flight } from './run.ts';
import { executionArnOf, type RunScope } from './run-scope.ts';

/** A node. Times are ISO 8601. */
export interface NodeView {
  readonly id: string;
  readonly state: NodeState;
  readonly reason: Reason;
  readonly message: string;
  /** Since when it stands so. */
  readonly since: string;
  /** Number of its last attempt; 0 before the first one. */
  readonly attempt: number;
  readonly engine: string;
  /** Of its last attempt. */
  readonly executionArn?: string;
  /** 0 to 1; absent while nothing is known. */
  readonly progress?: number;
  /** When its first attempt began. */
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly nextAttemptAt?: string;
  readonly output?: Json;
  /** Address of the output where it is too large for a list. */
  readonly outputRef?: string;
  readonly error?: ErrorInfo;
}

/** What a node's view is made from. */
export interface NodeSources {
  readonly story: NodeStory;
  readonly flight?: Flight | undefined;
  /** The results of its attempts, or of as many of them as are wanted: the first and the last are shown. */
  readonly results: readonly AttemptResult[];
  /** How to show the JSON text of its output. */
  readonly showOutput: (text: string) => { readonly output: Json } | { readonly outputRef: string };
}

/** Makes the view of a node. */
export function viewNode(scope: RunScope, node: CompiledNode, sources: NodeSources): NodeView {
  const { story, flight, results } = sources;
  const { state, standing } = statusOf(scope.run.nodes.charCodeAt(node.index));
  const attempts = viewAttempts(scope, node, { story, flight, results });
  const last = attempts.at(-1);
  const hasFailed = standing === 'bad' || state === 'RETRY_WAIT';
  const error =
    state === 'UPSTREAM_FAILED' ? upstreamFailure(scope, node) : hasFailed ? (last?.error ?? story.error) : undefined;
  const { reason, message } = explainNode(scope, node, { story, flight, error });
  const executionArn = last?.executionArn ?? (flight && executionArnOf(scope, node, flight.attempt, flight));
  const result = results.find((one) => one.attempt === last?.attempt);
  const endedAt = endOf(story, last?.endedAt);
  const startedAt = attempts.find((attempt) => attempt.startedAt !== undefined)?.startedAt;
  return {
    id: node.id,
    state,
    reason,
    message,
    since: toIsoTime(flight?.ending ? flight.since : story.since),
    attempt: Math.max(last?.attempt ?? 0, flight?.attempt ?? 0),
    engine: node.engine,
    ...(executionArn !== undefined && { executionArn }),
    ...(standing !== 'open' && { progress: 1 }),
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(flight?.phase === 'retry' && { nextAttemptAt: toIsoTime(flight.pollAt) }),
    ...(state === 'SUCCEEDED' && result?.output !== undefined && sources.showOutput(result.output)),
    ...(error && { error }),
  };
}

/** A node ends with its last attempt, unless that was over before: it was stopped while it waited for the next. */
function endOf(story: NodeStory, lastAttemptEndedAt: string | undefined): string | undefined {
  if (story.overAt === undefined) return undefined;
  const isByAttempt = story.attempts.at(-1)?.end?.at === story.overAt;
  return isByAttempt && lastAttemptEndedAt !== undefined ? lastAttemptEndedAt : toIsoTime(story.overAt);
}

/** Which results of a node its view shows; numbers of attempts. */
export function wantedAttempts(story: NodeStory): number[] {
  const begun = story.attempts.filter((attempt) => attempt.startedAt !== undefined && attempt.end);
  const first = begun[0]?.attempt;
  const last = begun.at(-1)?.attempt;
  return [...new Set([first, last])].filter((attempt) => attempt !== undefined);
}
