import type { Flight } from './run.ts';

/** A flight with what was heard of its attempt (ms since the epoch); the flight itself where that is nothing new. */
export function withHeard(flight: Flight, at: number | undefined): Flight {
  const known = Math.max(flight.since, flight.heardAt ?? 0);
  return at === undefined || at <= known ? flight : { ...flight, heardAt: at };
}
