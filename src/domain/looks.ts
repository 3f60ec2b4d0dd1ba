/** What looks at executions that have not ended come to, and answers to their starts: found running, missing, refused. */
import { concludeEnding, drawOf, failAttempt, liveFlight, orderEnd, timeoutError } from './attempts.ts';
import { type Draft, putFlight } from './draft.ts';
import { deadlineOf, nextPollAt } from './due.ts';
import type { Observation, StartAnswer } from './facts.ts';
import type { ErrorInfo, Flight } from './run.ts';

/** Beyond P: how long a start that was never confirmed may still come to light (DESIGN, "Fence"). */
const FENCE_MARGIN_MS = 5_000;
/** Looks that find an execution running though it was told to stop, before it is given up after its grace. */
const ANSWERED_STOPS = 3;
/** Clocks of two invocations differ by less than this. */
export const CLOCK_SKEW_MS = 2_000;
/** How long a confirmed execution may be absent before it counts as lost, at least. */
const LOST_GRACE_MS = 60_000;

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
  // Only answered looks count, each of which came after a stop of its own: after an outage the first one tells nothing.
  const isDeaf = flight.polls >= ANSWERED_STOPS && draft.readAt - flight.since > draft.options.stopGraceMs;
  if (flight.ending && isDeaf) {
    concludeEnding(draft, flight, flight.ending, unstoppable(draft, flight));
    return;
  }
  const { missingSince: _found, throttled: _answered, ...rest } = flight;
  putFlight(draft, {
    ...rest,
    phase: flight.ending ? 'stopping' : 'running',
    confirmed: true,
    // A pass may have started it long after the commit, and died before it told: its time runs from the start itself.
    // Two clocks are compared here: one that is ahead must not move the start into the future (C100).
    ...(!flight.confirmed && !flight.ending && { since: Math.max(flight.since, Math.min(startedAt, draft.readAt)) }),
    polls: flight.polls + 1,
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
      // What was started now is looked at a tick later, as any; what was before may be over, and is looked at next.
      const look = answer.answer === 'started' && { polls: 0, pollAt: nextPollAt(draft.now, 0, draft.options) };
      putFlight(draft, { ...rest, phase: 'running', confirmed: true, since: draft.now, ...look });
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

/** Says of an execution that will not die that it may still run: nobody looks for it any more. */
function unstoppable(draft: Draft, flight: Flight): ErrorInfo {
  const seconds = draft.options.stopGraceMs / 1000;
  const message = `the execution of attempt ${flight.attempt} was still running ${seconds} s after it was told to stop`;
  return { name: 'Millrace.StopUnconfirmed', message };
}
