/** Why a node, or an item of a map, stands as it does: the reason for programs and the sentence for people. */
import { endedWithMap, explainApproval, explainMark, markedMessage } from './asked-view.ts';
import { choiceInWords, countUpstreams, notChosenInWords, viewBranch } from './branch-view.ts';
import { deadlineOf, silentAt } from './due.ts';
import type { CompiledNode } from './graph.ts';
import { withHeard } from './heard.ts';
import { toIsoTime } from './iso-time.ts';
import { explainMap, holdOf } from './map-view.ts';
import { countInWords, errorInWords, inQuotes, listInWords } from './names-in-words.ts';
import { type NodeCode, type NodeState, statusOf } from './node-status.ts';
import type { ItemStory, NodeStory } from './node-story.ts';
import type { Explanation } from './reasons.ts';
import { type AttemptReport, reportInWords } from './report.ts';
import type { EndReason, ErrorInfo, Flight, MapState } from './run.ts';
import { indexRun } from './run-index.ts';
import type { RunScope } from './run-scope.ts';
import { decideTrigger } from './trigger.ts';
import { type Hold, holdOfQueued, holdOfRun, toExplanation } from './waiting-for.ts';

/** A start counts as under way after this time, whether or not Step Functions has confirmed it. */
const STARTING_MS = 10_000;
/** Ticks after which a look that was due counts as unanswered: the first may come late. */
const UNANSWERED_TICKS = 3;

/** What holds up whatever could start in a paused run. */
export const UNTIL_RESUMED = 'it starts once the run is resumed.';

/** What is known about a node beside its status. */
export interface NodeKnowledge {
  readonly story: NodeStory;
  readonly flight?: Flight | undefined;
  /** The error of its last attempt, where it has one. */
  readonly error?: ErrorInfo | undefined;
  /** What the attempt under way last said. */
  readonly report?: AttemptReport | undefined;
}

/** Explains a node. */
export function explainNode(scope: RunScope, node: CompiledNode, known: NodeKnowledge): Explanation {
  const code = scope.run.nodes.charAt(node.index) as NodeCode;
  const map = indexRun(scope.run).maps.get(node.index);
  const marked = explainMark(scope, node);
  if (marked) return marked;
  if (code === 'm' && map) return explainMap(scope, node, map);
  const { state, reason } = statusOf(code);
  if (reason === 'MarkedByUser') return { reason, message: withOrigin(markedMessage(state, known.story), known.story) };
  if (state === 'PENDING') return { reason, message: pendingMessage(scope, node) };
  if (state === 'QUEUED') {
    if (scope.run.state === 'PAUSED') return { reason: 'RunPaused', message: `Ready; ${UNTIL_RESUMED}` };
    return explainQueued(scope, node, known);
  }
  const told = map
    ? { reason, message: mapEndMessage(scope, node, map, known) }
    : explainAttempts(scope, node, code, known);
  return { ...told, message: withOrigin(told.message, known.story) };
}

/** What was taken over says from where. */
function withOrigin(message: string, { from }: NodeStory): string {
  return from === undefined ? message : `${message} So it stood in run ${from}.`;
}

/** Explains an item of a map that has its list. */
export function explainItem(
  scope: RunScope,
  node: CompiledNode,
  map: MapState,
  known: NodeKnowledge & { readonly story: ItemStory },
): Explanation {
  const { code } = known.story;
  const end = statusOf(scope.run.nodes.charCodeAt(node.index));
  if (code === 'A' && end.reason === 'MarkedByUser') return { reason: end.reason, message: endedWithMap(node) };
  if (known.flight?.phase === 'queued') return afterFailure(node, known, holdOf(scope, node, map, 'queued'));
  if (code !== undefined) return explainAttempts(scope, node, code, known);
  if (end.standing === 'open') return toExplanation(holdOf(scope, node, map));
  return { reason: end.reason, message: `Never started: its map was over before, ${end.state}.` };
}

function explainAttempts(scope: RunScope, node: CompiledNode, code: NodeCode, known: NodeKnowledge): Explanation {
  const { state, reason } = statusOf(code);
  switch (state) {
    case 'RUNNING':
      return known.flight
        ? explainFlight(scope, node, known.flight, known.report)
        : { reason, message: `Attempt ${known.story.attempts.at(-1)?.attempt ?? 1} is under way.` };
    case 'RETRY_WAIT':
      return { reason, message: retryMessage(scope, node, known) };
    default:
      return { reason, message: finalMessage(scope, node, code, known) };
  }
}

function pendingMessage(scope: RunScope, node: CompiledNode): string {
  const open = openUpstreams(scope, node);
  if (open.length > 0) return `Waits for its upstream${open.length > 1 ? 's' : ''} ${listInWords(open)}.`;
  if (scope.run.state === 'QUEUED') {
    return holdOfRun(scope) ? 'The run has not begun: it waits for its turn.' : 'The run has not begun.';
  }
  return 'All its upstreams are over; the next pass decides it.';
}

/** Ids of the direct upstreams that are not over. */
export function openUpstreams(scope: RunScope, node: CompiledNode): string[] {
  return upstreamsOf(scope, node, 'open').map(({ id }) => id);
}

function upstreamsOf(
  scope: RunScope,
  node: CompiledNode,
  standing: 'open' | 'bad',
): { id: string; state: NodeState }[] {
  return node.upstreams.flatMap((index) => {
    const status = statusOf(scope.run.nodes.charCodeAt(index));
    return status.standing === standing
      ? [{ id: (scope.pipeline.nodes[index] as CompiledNode).id, state: status.state }]
      : [];
  });
}

function explainQueued(scope: RunScope, node: CompiledNode, known: NodeKnowledge): Explanation {
  const { reason, message } = afterFailure(node, known, holdOfQueued(scope, node));
  const until = indexRun(scope.run).queued.get(node.index)?.until;
  const limit = until === undefined ? '' : ` It is given up at ${toIsoTime(until)}.`;
  return { reason, message: `${message}${limit}` };
}

/** What waits after a failed attempt says so first. */
function afterFailure(node: CompiledNode, { flight, error }: NodeKnowledge, hold: Hold): Explanation {
  if (!flight) return toExplanation(hold);
  const next = `attempt ${flight.attempt + 1} of ${node.retry.maxAttempts} is ready`;
  return { reason: hold.reason, message: `${failureInWords(flight, error)}; ${next}. ${hold.message}` };
}

function failureInWords({ attempt }: Flight, error: ErrorInfo | undefined): string {
  return `Attempt ${attempt} failed${error ? ` (${errorInWords(error)})` : ''}`;
}

function retryMessage({ run }: RunScope, node: CompiledNode, { flight, error }: NodeKnowledge): string {
  if (!flight) return 'Waits for its next attempt.';
  const failed = failureInWords(flight, error);
  const paused = run.state === 'PAUSED' ? ', or later, when the run is resumed' : '';
  return `${failed}; attempt ${flight.attempt + 1} of ${node.retry.maxAttempts} starts at ${toIsoTime(flight.pollAt)}${paused}.`;
}

function explainFlight(scope: RunScope, node: CompiledNode, flight: Flight, report?: AttemptReport): Explanation {
  const attempt = `Attempt ${flight.attempt}`;
  if (flight.ending) {
    const why = ENDINGS[flight.ending];
    return {
      reason: 'Stopping',
      message: `${attempt} is being ended, because ${why}; its execution has to end first.`,
    };
  }
  const asked = explainApproval(scope, flight);
  if (asked) return asked;
  const deadline = deadlineOf(scope.pipeline, flight);
  if (scope.now >= deadline) {
    const unseen = isUnanswered(scope, flight)
      ? 'Step Functions does not say whether it has, and is asked again with every tick'
      : 'it is being stopped';
    return { reason: 'Overdue', message: `${attempt} should have ended by ${toIsoTime(deadline)}; ${unseen}.` };
  }
  const silent = silentAt(scope.pipeline, withHeard(flight, report?.at));
  if (scope.now >= silent) {
    const message = `${attempt} should have reported by ${toIsoTime(silent)}; it is looked at, and stopped where it still runs.`;
    return { reason: 'Overdue', message };
  }
  if (flight.throttled) {
    const message = `Step Functions did not take the start of attempt ${flight.attempt}; it is asked again at ${toIsoTime(flight.pollAt)}.`;
    return { reason: 'Throttled', message };
  }
  if (!report && !flight.confirmed && flight.phase === 'starting' && scope.now - flight.startedAt < STARTING_MS) {
    return { reason: 'Starting', message: `${attempt} was started on engine ${inQuotes(node.engine)}.` };
  }
  if (isUnanswered(scope, flight)) {
    const message = `Step Functions has not said since ${toIsoTime(flight.pollAt)} how attempt ${flight.attempt} stands; it is asked again with every tick.`;
    return { reason: 'Throttled', message };
  }
  const limit = Number.isFinite(deadline)
    ? `its time is over at ${toIsoTime(deadline)}`
    : `it may take ${node.timeoutMs / 1000} s`;
  return {
    reason: 'Executing',
    message: `${attempt} runs on engine ${inQuotes(node.engine)}; ${limit}${reportInWords(report)}.`,
  };
}

/** Whether looks at an attempt have been due for long: each that is answered puts the next one off. */
function isUnanswered({ now, tickMs = 60_000 }: RunScope, flight: Flight): boolean {
  return now - flight.pollAt >= UNANSWERED_TICKS * tickMs;
}

const ENDINGS: Record<EndReason, string> = {
  Stopped: 'the run was stopped',
  FailFast: 'another node failed and the pipeline fails fast',
  RunTimedOut: "the run's time is over",
  TimedOut: 'its time is over',
  HeartbeatTimeout: 'it does not report',
  EngineError: 'its engine refused it',
  Marked: 'its node was marked by hand',
};

/** How a map ended that had its list. */
function mapEndMessage(scope: RunScope, node: CompiledNode, map: MapState, known: NodeKnowledge): string {
  const code = scope.run.nodes.charAt(node.index) as NodeCode;
  const { state } = statusOf(code);
  if (state === 'ABORTED') return abortedMessage(scope, code, true);
  if (state !== 'SUCCEEDED') return `Failed${known.error ? `: ${errorInWords(known.error)}` : '.'}`;
  if (map.total === 0) return 'Succeeded: its list is empty.';
  const failed = map.failed > 0 ? `; ${countInWords(map.failed, 'failure')} tolerated` : '';
  return `Succeeded: ${map.succeeded} of ${countInWords(map.total, 'item')}${failed}.`;
}

function finalMessage(scope: RunScope, node: CompiledNode, code: NodeCode, known: NodeKnowledge): string {
  const { state } = statusOf(code);
  const attempt = known.story.attempts.at(-1)?.attempt ?? 0;
  switch (state) {
    case 'SUCCEEDED':
      return succeededMessage(scope, node, attempt);
    case 'SKIPPED':
      return skippedMessage(scope, node, code);
    case 'UPSTREAM_FAILED':
      return upstreamFailure(scope, node).message;
    case 'ABORTED':
      return abortedMessage(scope, code, attempt > 0);
    default: {
      const told = known.error ? `: ${errorInWords(known.error)}` : '.';
      if (code === 'Q') return `Given up: ${known.error?.message ?? 'not started in time'}.`;
      return attempt > 1 ? `Attempt ${attempt} of ${node.retry.maxAttempts} failed${told}` : `Failed${told}`;
    }
  }
}

function succeededMessage(scope: RunScope, node: CompiledNode, attempt: number): string {
  const choice = viewBranch(scope, node);
  const at = attempt > 1 ? ` at attempt ${attempt}` : '';
  return `Succeeded${at}${choice ? `; it ${choiceInWords(choice)}` : ''}.`;
}

function skippedMessage(scope: RunScope, node: CompiledNode, code: NodeCode): string {
  if (code === 'N') return 'Left out: the run was started for other nodes.';
  if (code === 'K') return `Skipped: its condition ${node.when ?? ''} is false.`;
  if (code === 'B') return notChosenInWords(scope, node);
  if (node.map && decideTrigger(node.trigger, countUpstreams(scope, node)) === 'run') {
    return 'Skipped: its list comes from a node that was skipped.';
  }
  return `Skipped: its upstreams do not satisfy its trigger rule ${node.trigger}.`;
}

/** The error of a node that is UPSTREAM_FAILED: it names the upstreams that are bad. */
export function upstreamFailure(scope: RunScope, node: CompiledNode): ErrorInfo {
  const bad = upstreamsOf(scope, node, 'bad');
  const first = bad[0];
  if (!first) return { name: 'Millrace.UpstreamFailed', message: 'An upstream failed.' };
  const message =
    bad.length === 1
      ? `Upstream ${inQuotes(first.id)} is ${first.state}.`
      : `Upstreams ${listInWords(bad.map(({ id }) => id))} are bad; ${inQuotes(first.id)} is ${first.state}.`;
  return { name: 'Millrace.UpstreamFailed', message };
}

function abortedMessage(scope: RunScope, code: NodeCode, hasBegun: boolean): string {
  const when = hasBegun ? '' : ' before it began';
  const by = scope.run.stop?.by;
  switch (code) {
    case 'O':
      return 'Its execution was stopped from outside Millrace.';
    case 'f':
      return `Stopped${when}, because another node failed and the pipeline fails fast.`;
    case 'd':
      return `Stopped${when}, because the run's time was over.`;
    default:
      if (scope.run.stop?.kind === 'overlap') return 'Left out together with its run, as another run was active.';
      return `Stopped${when} together with its run${by === undefined ? '' : `, by ${by}`}.`;
  }
}
