/** What becomes of attempts: their results, their deadlines, orders to end them, and what follows on their end. */
import { isApproval } from './approvals.ts';
import { applyChoice } from './branches.ts';
import { cutError, type Draft, decideItem, decideNode, endFlight, flightKey, putFlight } from './draft.ts';
import { deadlineOf, nextPollAt } from './due.ts';
import { evaluated } from './evaluated.ts';
import type { AttemptResult, Observation, StartAnswer } from './facts.ts';
import type { CompiledNode } from './graph.ts';
import { isMapFailing, settleItem } from './maps.ts';
import { outcomeOf, settleMark } from './marks.ts';
import type { NodeCode } from './node-status.ts';
import { isRetried, isTooLarge, retryDelayMs } from './retry.ts';
import { type EndReason, type ErrorInfo, type Flight, isUnderWay } from './run.ts';
import { stopCode } from './stop-code.ts';

/** Applies the end of an execution. One that is no longer waited for changes nothing (D11). */
export function applyResult(draft: Draft, result: AttemptResult): void {
  const flight = liveFlight(draft, result);
  if (!flight) return;
  if (flight.ending) {
    concludeEnding(draft, flight, flight.ending);
    return;
  }
  switch (result.status) {
    case 'SUCCEEDED':
      applySuccess(draft, flight);
      return;
    case 'ABORTED':
      settle(draft, flight, 'O');
      return;
    case 'TIMED_OUT':
      failAttempt(draft, flight, { name: 'States.Timeout', message: 'the execution timed out' }, false);
      return;
    case 'FAILED':
      failAttempt(
        draft,
        flight,
        result.error ?? { name: 'Millrace.UnknownError', message: 'no error was told' },
        false,
      );
  }
}

/** A branch node has succeeded once its choice is known; an expression that fails, fails it. */
function applySuccess(draft: Draft, flight: Flight): void {
  const node = draft.pipeline.nodes[flight.node] as CompiledNode;
  if (node.branch === undefined) {
    settle(draft, flight, 'S');
    return;
  }
  const choice = evaluated(draft, 'branch', flight, flight.startedAt);
  if (!choice) {
    draft.unfolded += 1;
    return;
  }
  const error = applyChoice(draft, node, choice);
  settle(draft, flight, error ? 'X' : 'S', error);
}

/**
 * The attempt is over and no other follows: its node, or its item of a map, gets its final status.
 * @param told the error, where the decision has to keep it, as no execution's result tells it
 * @param error the error in any case
 */
function settle(draft: Draft, flight: Flight, to: NodeCode, told?: ErrorInfo, error = told): void {
  const { node, item, attempt, answer } = flight;
  const asked = answer && {
    ...(answer.by !== undefined && { by: answer.by }),
    ...(answer.comment !== undefined && { note: answer.comment }),
  };
  endFlight(draft, flight);
  if (item !== undefined) {
    decideItem(draft, flight, to, told, asked);
    settleItem(draft, { node, item }, to, error);
    return;
  }
  decideNode(draft, node, to, attempt, told, asked);
  if (error && draft.firstBad?.node === node) draft.firstBad = { node, error: cutError(error) };
}

/** The attempt that a fact is about, unless it is over or superseded. */
export function liveFlight(draft: Draft, key: Observation | StartAnswer | AttemptResult): Flight | undefined {
  const flight = draft.flights.get(flightKey(key));
  return flight?.attempt === key.attempt && isUnderWay(flight) ? flight : undefined;
}

/** The execution is over, or cannot come to be: the node gets what was decided when its end was ordered. */
export function concludeEnding(draft: Draft, flight: Flight, ending: EndReason, told?: ErrorInfo): void {
  if (draft.marks.has(flight.node)) {
    concludeMarked(draft, flight, told);
    return;
  }
  switch (ending) {
    case 'Marked':
    case 'Stopped':
    case 'FailFast':
      settle(draft, flight, ending === 'FailFast' ? 'f' : 'A', told);
      return;
    case 'RunTimedOut':
      settle(draft, flight, 'T', { name: 'States.Timeout', message: 'the run timed out' });
      return;
    case 'TimedOut':
      failAttempt(draft, flight, timeoutError(draft, flight), true);
      return;
    case 'HeartbeatTimeout':
      failAttempt(draft, flight, silenceError(draft, flight), true);
      return;
    case 'EngineError':
      failAttempt(
        draft,
        flight,
        flight.error ?? { name: 'Millrace.EngineError', message: 'the engine refused it' },
        true,
      );
  }
}

/** An attempt of a node that was marked by hand is over; where it was the last, the node becomes what it was marked. */
function concludeMarked(draft: Draft, flight: Flight, told: ErrorInfo | undefined): void {
  const { node, item, attempt } = flight;
  const mark = draft.marks.get(node);
  if (item === undefined && mark && !outcomeOf(draft, mark)) {
    draft.unfolded += 1;
    return;
  }
  endFlight(draft, flight);
  if (item !== undefined) decideItem(draft, flight, 'A', told);
  settleMark(draft, node, item === undefined ? { attempt, told } : { attempt: 0 });
}

/** What an attempt that took too long has failed with. */
export function timeoutError(draft: Draft, flight: Flight): ErrorInfo {
  const seconds = (draft.pipeline.nodes[flight.node] as CompiledNode).timeoutMs / 1000;
  if (isApproval(draft, flight)) return { name: 'States.Timeout', message: `nobody answered within ${seconds} s` };
  return { name: 'States.Timeout', message: `attempt ${flight.attempt} was not over after ${seconds} s` };
}

function silenceError(draft: Draft, flight: Flight): ErrorInfo {
  const seconds = ((draft.pipeline.nodes[flight.node] as CompiledNode).heartbeatMs ?? 0) / 1000;
  return { name: 'Millrace.HeartbeatTimeout', message: `attempt ${flight.attempt} did not report for ${seconds} s` };
}

/**
 * The attempt failed: the next one is awaited if the policy says so and the run still starts things.
 * @param told whether the decision has to keep the error, as no execution's result tells it
 */
export function failAttempt(draft: Draft, flight: Flight, error: ErrorInfo, told: boolean): void {
  const node = draft.pipeline.nodes[flight.node] as CompiledNode;
  const kept = told ? error : undefined;
  const map = draft.maps.get(flight.node);
  if (!isRetried(node.retry, flight.attempt, error.name) || (map && isMapFailing(draft, map))) {
    settle(draft, flight, failureCode(error.name), kept, error);
    return;
  }
  if (draft.stop && !node.cleanup) {
    settle(draft, flight, stopCode(draft.stop), kept, error);
    return;
  }
  const delay = retryDelayMs(node.retry, flight.attempt, drawOf(draft.before.nonce, flight));
  if (flight.item === undefined) decideNode(draft, flight.node, 'w', flight.attempt, kept);
  else decideItem(draft, flight, 'w', kept);
  putFlight(draft, {
    node: flight.node,
    item: flight.item,
    attempt: flight.attempt,
    phase: 'retry',
    startedAt: flight.startedAt,
    since: draft.now,
    pollAt: draft.now + delay,
    polls: 0,
    machine: flight.machine,
    confirmed: false,
  });
}

function failureCode(name: string): NodeCode {
  if (name === 'States.Timeout') return 'T';
  if (name === 'Millrace.HeartbeatTimeout') return 'H';
  if (name === 'Millrace.ExecutionLost') return 'L';
  if (name === 'Millrace.EngineError') return 'E';
  if (isTooLarge(name)) return 'G';
  return 'F';
}

/** A number from 0 to 1 that depends on run, node and attempt alone, so that a repeated decision draws it again. */
export function drawOf(nonce: string, flight: Flight): number {
  let hash = 2166136261;
  for (const letter of `${nonce}/${flightKey(flight)}/${flight.attempt}`) {
    hash = Math.imul(hash ^ letter.charCodeAt(0), 16777619);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 2246822507);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

/** Orders the end of an attempt: it is over once its execution is known to be, or to never have been. */
export function orderEnd(draft: Draft, flight: Flight, ending: EndReason, error?: ErrorInfo): void {
  if (isApproval(draft, flight)) {
    concludeEnding(draft, flight, ending);
    return;
  }
  const { throttled: _asked, missingSince: _gone, ...rest } = flight;
  putFlight(draft, {
    ...rest,
    phase: 'stopping',
    ending,
    since: draft.now,
    polls: 0,
    pollAt: nextPollAt(draft.now, 0, draft.options),
    ...(error && { error: cutError(error) }),
  });
  draft.commands.push({ kind: 'stop', node: flight.node, item: flight.item, attempt: flight.attempt });
}

/**
 * Ends attempts whose own time is over. A look has to show that: an execution that ended in time may be one whose end
 * nobody could tell yet. Where every look stays unanswered, it is ended unseen after a grace.
 */
export function applyDeadlines(draft: Draft): void {
  const running = new Set<string>();
  for (const observation of draft.facts.observations ?? []) {
    if (observation.seen === 'running') running.add(`${flightKey(observation)}/${observation.attempt}`);
  }
  for (const flight of [...draft.flights.values()]) {
    if ((flight.phase !== 'starting' && flight.phase !== 'running') || flight.answer) continue;
    const late = deadlineOf(draft.pipeline, flight);
    const isSeen = draft.readAt >= late && running.has(`${flightKey(flight)}/${flight.attempt}`);
    const isExpired = isApproval(draft, flight) && draft.now >= late;
    if (isSeen || isExpired || draft.now >= late + draft.options.stopGraceMs) orderEnd(draft, flight, 'TimedOut');
  }
}
