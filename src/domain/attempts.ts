/** What becomes of attempts: their results, what was seen of them, their deadlines, and orders to end them. */
import { type Draft, decideNode, endFlight, putFlight } from './draft.ts';
import { deadlineOf, nextPollAt } from './due.ts';
import type { AttemptResult, Observation, StartAnswer } from './facts.ts';
import type { CompiledNode } from './graph.ts';
import type { NodeCode } from './node-status.ts';
import { isRetried, retryDelayMs } from './retry.ts';
import type { EndReason, ErrorInfo, Flight, StopOrder } from './run.ts';

/** Beyond P: how long a start that was never confirmed may still come to light (DESIGN, "Fence"). */
const FENCE_MARGIN_MS = 5_000;
/** Clocks of two invocations differ by less than this. */
const CLOCK_SKEW_MS = 2_000;
/** How long a confirmed execution may be absent before it counts as lost, at least. */
const LOST_GRACE_MS = 60_000;

const STOP_CODES: Record<StopOrder['kind'], NodeCode> = { user: 'A', failFast: 'f', timeout: 'd' };

/** The status of a node that a stopped run never started, or will not try again. */
export function stopCode(stop: StopOrder): NodeCode {
  return STOP_CODES[stop.kind];
}

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
      endFlight(draft, flight);
      decideNode(draft, flight.node, 'S', flight.attempt);
      return;
    case 'ABORTED':
      endFlight(draft, flight);
      decideNode(draft, flight.node, 'O', flight.attempt);
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

/** The attempt that a fact is about, unless it is over or superseded. */
function liveFlight(draft: Draft, key: { readonly node: number; readonly attempt: number }): Flight | undefined {
  const flight = draft.flights.get(key.node);
  return flight?.attempt === key.attempt && flight.phase !== 'retry' ? flight : undefined;
}

/** The execution is over, or cannot come to be: the node gets what was decided when its end was ordered. */
function concludeEnding(draft: Draft, flight: Flight, ending: EndReason): void {
  switch (ending) {
    case 'Stopped':
    case 'FailFast':
      endFlight(draft, flight);
      decideNode(draft, flight.node, ending === 'Stopped' ? 'A' : 'f', flight.attempt);
      return;
    case 'RunTimedOut':
      endFlight(draft, flight);
      decideNode(draft, flight.node, 'T', flight.attempt, { name: 'States.Timeout', message: 'the run timed out' });
      return;
    case 'TimedOut':
      failAttempt(draft, flight, timeoutError(draft, flight), true);
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

function timeoutError(draft: Draft, flight: Flight): ErrorInfo {
  const seconds = (draft.pipeline.nodes[flight.node] as CompiledNode).timeoutMs / 1000;
  return { name: 'States.Timeout', message: `attempt ${flight.attempt} was not over after ${seconds} s` };
}

/**
 * The attempt failed: the next one is awaited if the policy says so and the run still starts things.
 * @param told whether the decision has to keep the error, as no execution's result tells it
 */
function failAttempt(draft: Draft, flight: Flight, error: ErrorInfo, told: boolean): void {
  const node = draft.pipeline.nodes[flight.node] as CompiledNode;
  const kept = told ? error : undefined;
  if (!isRetried(node.retry, flight.attempt, error.name)) {
    endFlight(draft, flight);
    decideNode(draft, flight.node, failureCode(error.name), flight.attempt, kept);
    if (draft.firstBad?.node === flight.node) draft.firstBad = { node: flight.node, error: cut(error) };
    return;
  }
  if (draft.stop) {
    endFlight(draft, flight);
    decideNode(draft, flight.node, stopCode(draft.stop), flight.attempt, kept);
    return;
  }
  const delay = retryDelayMs(node.retry, flight.attempt, drawOf(draft.before.nonce, flight));
  decideNode(draft, flight.node, 'w', flight.attempt, kept);
  putFlight(draft, {
    node: flight.node,
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

function cut(error: ErrorInfo): ErrorInfo {
  return { name: error.name.slice(0, 100), message: error.message.slice(0, 300).toWellFormed() };
}

function failureCode(name: string): NodeCode {
  if (name === 'States.Timeout') return 'T';
  if (name === 'Millrace.ExecutionLost') return 'L';
  if (name === 'Millrace.EngineError') return 'E';
  if (name === 'Millrace.PayloadTooLarge' || name === 'States.DataLimitExceeded') return 'G';
  return 'F';
}

/** A number from 0 to 1 that depends on run, node and attempt alone, so that a repeated decision draws it again. */
function drawOf(nonce: string, flight: Flight): number {
  let hash = 2166136261;
  for (const letter of `${nonce}/${flight.node}/${flight.attempt}`) {
    hash = Math.imul(hash ^ letter.charCodeAt(0), 16777619);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 2246822507);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

/** Applies a look at an execution that has not ended. */
export function applyObservation(draft: Draft, observation: Observation): void {
  const flight = liveFlight(draft, observation);
  if (!flight) return;
  if (observation.seen === 'unanswered') {
    // A message waits for the time of a throttled start: were it not put off, each pass would send the next at once.
    if (flight.throttled) putOffStart(draft, flight);
    return;
  }
  if (observation.seen === 'running') seenRunning(draft, flight, observation.startedAt);
  else seenMissing(draft, flight);
}

function seenRunning(draft: Draft, flight: Flight, startedAt = flight.since): void {
  if (flight.ending && draft.readAt - flight.since > draft.options.stopGraceMs) {
    concludeEnding(draft, flight, flight.ending);
    return;
  }
  const { missingSince: _found, throttled: _answered, ...rest } = flight;
  putFlight(draft, {
    ...rest,
    phase: flight.ending ? 'stopping' : 'running',
    confirmed: true,
    // A pass may have started it long after the commit, and died before it told: its time runs from the start itself.
    ...(!flight.confirmed && !flight.ending && { since: Math.max(flight.since, startedAt) }),
    polls: flight.ending ? flight.polls : flight.polls + 1,
    pollAt: nextPollAt(draft.now, flight.ending ? 0 : flight.polls + 1, draft.options),
  });
}

function seenMissing(draft: Draft, flight: Flight): void {
  if (!flight.ending && !flight.confirmed) return;
  const missingSince = flight.missingSince ?? draft.readAt;
  const stillMissing = { ...flight, missingSince, pollAt: nextPollAt(draft.now, 0, draft.options) };
  if (flight.ending) {
    // The look came after one more StopExecution. A start may still be on its way from a pass that read the run before
    // its end was committed; that was before the first look that knew of the end, but nobody knows how long after the
    // decision the commit took effect. So the fence is counted from that look.
    if (draft.readAt - missingSince >= draft.options.passMs + FENCE_MARGIN_MS) {
      concludeEnding(draft, flight, flight.ending);
    } else putFlight(draft, stillMissing);
    return;
  }
  const grace = Math.max(LOST_GRACE_MS, 2 * draft.options.tickMs);
  if (draft.readAt - missingSince < grace) {
    putFlight(draft, stillMissing);
    return;
  }
  if (draft.now >= deadlineOf(draft.pipeline, flight)) failAttempt(draft, flight, timeoutError(draft, flight), true);
  else {
    const message = `the execution of attempt ${flight.attempt} can no longer be found`;
    failAttempt(draft, flight, { name: 'Millrace.ExecutionLost', message }, true);
  }
}

/** Applies what StartExecution said. */
export function applyAnswer(draft: Draft, answer: StartAnswer): void {
  const flight = liveFlight(draft, answer);
  if (!flight || flight.ending || flight.confirmed) return;
  switch (answer.answer) {
    case 'started':
    case 'exists': {
      const { throttled: _answered, ...rest } = flight;
      putFlight(draft, { ...rest, phase: 'running', confirmed: true, since: draft.now });
      return;
    }
    case 'later':
      putOffStart(draft, flight);
      return;
    case 'refused':
      refuse(draft, flight, answer);
  }
}

/**
 * Asks for the start again later: after about a second, then twice as long each time, up to a tick. The waits of many
 * starts that were throttled together are spread, since together they would be throttled again.
 */
function putOffStart(draft: Draft, flight: Flight): void {
  const longest = Math.min(draft.options.tickMs, 1000 * 2 ** Math.min(flight.polls, 10));
  const wait = Math.round(longest * (0.5 + drawOf(`${draft.before.nonce}/${flight.polls}`, flight) / 2));
  putFlight(draft, { ...flight, throttled: true, polls: flight.polls + 1, pollAt: draft.now + wait });
}

function refuse(draft: Draft, flight: Flight, answer: StartAnswer): void {
  const told = answer.error?.message ?? 'the engine refused the start';
  const error = { name: 'Millrace.EngineError', message: told };
  if (answer.first && draft.now < flight.pollAt - CLOCK_SKEW_MS) failAttempt(draft, flight, error, true);
  else orderEnd(draft, flight, 'EngineError', error);
}

/** Orders the end of an attempt: it is over once its execution is known to be, or to never have been. */
export function orderEnd(draft: Draft, flight: Flight, ending: EndReason, error?: ErrorInfo): void {
  const { throttled: _asked, missingSince: _gone, ...rest } = flight;
  putFlight(draft, {
    ...rest,
    phase: 'stopping',
    ending,
    since: draft.now,
    pollAt: nextPollAt(draft.now, 0, draft.options),
    ...(error && { error: cut(error) }),
  });
  draft.commands.push({ kind: 'stop', node: flight.node, attempt: flight.attempt });
}

/**
 * Ends attempts whose own time is over. A look has to show that: an execution that ended in time may be one whose end
 * nobody could tell yet. Where every look stays unanswered, it is ended unseen after a grace.
 */
export function applyDeadlines(draft: Draft): void {
  const running = new Set<string>();
  for (const { node, attempt, seen } of draft.facts.observations ?? []) {
    if (seen === 'running') running.add(`${node}/${attempt}`);
  }
  for (const flight of [...draft.flights.values()]) {
    if (flight.phase !== 'starting' && flight.phase !== 'running') continue;
    const late = deadlineOf(draft.pipeline, flight);
    const isSeen = draft.readAt >= late && running.has(`${flight.node}/${flight.attempt}`);
    if (isSeen || draft.now >= late + draft.options.stopGraceMs) orderEnd(draft, flight, 'TimedOut');
  }
}
