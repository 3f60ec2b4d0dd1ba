/**
 * How long items stay before DynamoDB's time to live takes them. It may take them days later, so readers treat an
 * expired run as gone: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html
 */

const DAY_SECONDS = 24 * 3600;

/** Days that a finished run and its line in the list are kept where its pipeline does not say. */
const DEFAULT_RETAIN_DAYS = 90;

/**
 * Results, values and history, from when they are put, which may be before anybody knows how long their run is kept:
 * an attempt may take 365 days, a finished run may be kept as long, and a run goes on after its first attempts.
 */
const PART_SECONDS = 800 * DAY_SECONDS;

/**
 * When a run that ended then (ms since the epoch) expires, in seconds since the epoch: a day late, so that nobody misses
 * the last of its days.
 */
export function runExpiry(endedAt: number, retainDays = DEFAULT_RETAIN_DAYS): number {
  return Math.ceil(endedAt / 1000) + (retainDays + 1) * DAY_SECONDS;
}

/** When a part of a run that is put now (ms since the epoch) expires, in seconds since the epoch. */
export function partExpiry(now: number): number {
  return Math.ceil(now / 1000) + PART_SECONDS;
}

/** When the sign that a line of the list was removed may go: long after whoever could still write that line. */
export function removalExpiry(now: number): number {
  return Math.ceil(now / 1000) + 2 * DAY_SECONDS;
}

/** Whether an item with this expiry (seconds since the epoch) is over now (ms since the epoch). */
export function isExpired(expiry: number | undefined, now: number): boolean {
  return expiry !== undefined && expiry * 1000 <= now;
}
