/** A time (ms since the epoch) as the API writes it: ISO 8601, UTC, with milliseconds. */
export function toIsoTime(time: number): string {
  return new Date(time).toISOString();
}
