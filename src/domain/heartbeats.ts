/**
 * Attempts whose code has to report (`heartbeatSeconds`). What they say is an item of its own, which a pass reads when it is
 * due; an attempt that is really silent is ended as one whose time is over is.
 */
import { orderEnd } from './attempts.ts';
import { type Draft, flightKey, isFlightOf, putFlight } from './draft.ts';
import { silentAt } from './due.ts';
import { withHeard } from './heard.ts';

/**
 * Applies what was heard of attempts, and orders the end of those that are silent. A look has to show that one still runs: its
 * end may be on the way. Where every look stays unanswered, it is ended unseen after a grace.
 */
export function applyHeartbeats(draft: Draft): void {
  const { heartbeats = [], observations = [] } = draft.facts;
  const running = new Set(observations.filter(({ seen }) => seen === 'running').map(attemptKey));
  for (const heartbeat of heartbeats) {
    const known = draft.flights.get(flightKey(heartbeat));
    if (!known || !isFlightOf(known, heartbeat) || known.phase !== 'running') continue;
    const flight = withHeard(known, heartbeat.at === undefined ? undefined : Math.min(heartbeat.at, draft.now));
    if (flight !== known) putFlight(draft, flight);
    const late = silentAt(draft.pipeline, flight);
    const isSeen = draft.readAt >= late && running.has(attemptKey(flight));
    if (isSeen || draft.now >= late + draft.options.stopGraceMs) orderEnd(draft, flight, 'HeartbeatTimeout');
  }
}

function attemptKey(of: Parameters<typeof isFlightOf>[1]): string {
  return `${flightKey(of)}/${of.attempt}`;
}
