/**
 * When a run has to be looked at again (DESIGN, "Due"). Times are rounded down to the tick, so that a run's place in
 * the index moves at most once a tick; they may be early, never late.
 */
import type { Draft, StepOptions } from './draft.ts';
import type { CompiledPipeline } from './graph.ts';
import { type Flight, isRunOver, type RunRecord } from './run.ts';

const LONGEST_POLL_MS = 15 * 60_000;
/** Clocks of two invocations differ by up to 2 s, and one report a second is kept. */
const HEARTBEAT_SLACK_MS = 3_000;

/** The start of the tick in which a time lies. */
export function floorToTick(time: number, options: StepOptions): number {
  return Math.floor(time / options.tickMs) * options.tickMs;
}

/**
 * When a running attempt is asked for next: a whole tick after its start, so that one shorter than a tick is never
 * asked for, then doubling up to 15 minutes. The run's due time is rounded down to the tick; this is not.
 */
export function nextPollAt(now: number, polls: number, options: StepOptions): number {
  return now + Math.max(options.tickMs, Math.min(LONGEST_POLL_MS, options.tickMs * 2 ** Math.min(polls, 30)));
}

/**
 * When a confirmed attempt's own time is over (ms since the epoch). One whose start was never confirmed may have to
 * be started yet, so its time does not run: a crash must not turn a short timeout into a failure.
 */
export function deadlineOf(pipeline: CompiledPipeline, flight: Flight): number {
  if (!flight.confirmed) return Number.POSITIVE_INFINITY;
  return flight.since + (pipeline.nodes[flight.node]?.timeoutMs ?? 0);
}

/**
 * When an attempt that has to report has been silent for too long (ms since the epoch), as far as this flight knows of its
 * reports. Its time runs from its start, as {@link deadlineOf} has it.
 */
export function silentAt(pipeline: CompiledPipeline, flight: Flight): number {
  const heartbeatMs = pipeline.nodes[flight.node]?.heartbeatMs;
  // Nobody's code runs while an answer is waited for.
  if (heartbeatMs === undefined || flight.prompt !== undefined) return Number.POSITIVE_INFINITY;
  if (flight.phase !== 'running' || !flight.confirmed) return Number.POSITIVE_INFINITY;
  return Math.max(flight.since, flight.heardAt ?? 0) + heartbeatMs + HEARTBEAT_SLACK_MS;
}

/** When the run's own time is over, if it has a limit. */
export function runDeadlineOf(pipeline: CompiledPipeline, run: RunRecord): number | undefined {
  return pipeline.timeoutMs === undefined ? undefined : run.createdAt + pipeline.timeoutMs;
}

/** The due time of the run in the making; nothing once it is over and owes nothing. */
export function decideDueAt(draft: Draft, owes: boolean): number | undefined {
  const exact = earliest(draft, owes);
  if (exact === undefined) return undefined;
  const wanted = floorToTick(exact, draft.options);
  const current = draft.before.dueAt;
  if (current === undefined || current > wanted) return wanted;
  return current > draft.now || wanted <= draft.now ? current : wanted;
}

function earliest(draft: Draft, owes: boolean): number | undefined {
  let least = Number.POSITIVE_INFINITY;
  if (owes || draft.again || draft.commands.length > 0) least = draft.now + draft.options.tickMs;
  if (!isRunOver(draft.state)) {
    const isPaused = draft.state === 'PAUSED';
    for (const flight of draft.flights.values()) {
      if (flight.phase === 'queued' || (isPaused && flight.phase === 'retry')) continue;
      least = Math.min(least, flightDueAt(draft.pipeline, flight));
    }
    const deadline = runDeadlineOf(draft.pipeline, draft.before);
    if (deadline !== undefined && !draft.stop) least = Math.min(least, deadline);
    for (const { until } of draft.queued.values()) least = Math.min(least, until);
  }
  return Number.isFinite(least) ? least : undefined;
}

/** When a flight has to be looked at: its next poll or retry, its deadline, or the end of its silence, whichever is nearest. */
export function flightDueAt(pipeline: CompiledPipeline, flight: Flight): number {
  if (flight.phase === 'queued') return Number.POSITIVE_INFINITY;
  if (flight.phase === 'retry' || flight.phase === 'stopping') return flight.pollAt;
  return Math.min(flight.pollAt, deadlineOf(pipeline, flight), silentAt(pipeline, flight));
}

/**
 * The earliest time that must not wait for a tick (ms since the epoch): a retry, a start to be asked for again, the
 * end of a node's time in QUEUED.
 * The pass sends a delayed ring for it.
 */
export function wakeAt(run: RunRecord): number | undefined {
  let least = Number.POSITIVE_INFINITY;
  for (const flight of run.flights) {
    if ((flight.phase === 'retry' && run.state !== 'PAUSED') || flight.throttled)
      least = Math.min(least, flight.pollAt);
  }
  for (const { until } of run.queued ?? []) least = Math.min(least, until);
  return Number.isFinite(least) ? least : undefined;
}
