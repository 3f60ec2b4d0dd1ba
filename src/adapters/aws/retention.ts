/**
 * How long items stay before DynamoDB's time to live takes them. It may take them days later, so readers treat an
 * expired run as gone: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/TTL.html
 */

const DAY_SECONDS = 24 * 3600;

/** A finished run and its line in the list: 90 days, and one more so that nobody misses the last of them. */
const RUN_SECONDS = 91 * DAY_SECONDS;

/** Results, values and history, from when they are put: an attempt may take 365 days, and a run goes on after it. */
const PART_SECONDS = 400 * DAY_SECONDS;

/** When a run that ended then (ms since the epoch) expires, in seconds since the epoch. */
export function runExpiry(endedAt: number): number {
  return Math.ceil(endedAt / 1000) + RUN_SECONDS;
}

/** When a part of a run that is put now (ms since the epoch) expires, in seconds since the epoch. */
export function partExpiry(now: number): number {
  return Math.ceil(now / 1000) + PART_SECONDS;
}

/** Whether an item with this expiry (seconds since the epoch) is over now (ms since the epoch). */
export function isExpired(expiry: number | undefined, now: number): boolean {
  return expiry !== undefined && expiry * 1000 <= now;
}
