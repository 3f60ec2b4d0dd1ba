/**
 * When the entries of a schedule fire: pure functions over compiled entries; instants are milliseconds since 1970.
 *
 * Fixed hours of a cron fire once for each day that has the local time: never where the clock is put forward over it,
 * at the first of two where it is put back over it. A cron whose hour begins with `*` fires whenever the clock shows
 * what it says. A rate counts from the creation of its entry and knows no zone.
 */
import { type CronProblem, type ParsedCron, parseCron } from './schedule-cron.ts';
import type { CronEntry, ScheduleEntry } from './schedule-entry.ts';
import { gapAround, instantsOf, readingAt } from './schedule-zone.ts';

const DAY_MS = 24 * 3600 * 1000;

/** As long as the longest wait between two instants (for the fifth Monday of a February, over the year 2100). */
const HORIZON_MS = 40 * 366 * DAY_MS;

const crons = new WeakMap<CronEntry, ParsedCron>();

/**
 * The first instant of an entry strictly after `after`, and after its creation.
 * @param createdAt when the entry came to be, or its timing was last changed
 * @returns `undefined` when there is none in forty years
 */
export function nextInstant(entry: ScheduleEntry, after: number, createdAt: number): number | undefined {
  return followingInstant(entry, Math.max(after, createdAt), createdAt);
}

/**
 * The last instant of an entry strictly before `before`, whether or not the entry was there then: where the time
 * begins that a run at `before` stands for. For the first instant of a rate that is the creation of the entry.
 */
export function previousInstant(entry: ScheduleEntry, before: number, createdAt: number): number | undefined {
  if (entry.kind === 'cron') return previousOfCron(entry, before);
  return createdAt + (Math.ceil((before - createdAt) / entry.everyMs) - 1) * entry.everyMs;
}

/** A stretch of time, and how many instants of it are wanted. */
export interface InstantRange {
  readonly from: number;
  readonly to: number;
  readonly limit: number;
}

/**
 * The first `limit` instants from `from` to `to`, both included, whether or not the entry was there then: what a
 * backfill runs. A rate is counted backwards, too.
 */
export function instantsBetween(entry: ScheduleEntry, range: InstantRange, createdAt: number): readonly number[] {
  const instants: number[] = [];
  let instant = followingInstant(entry, range.from - 1, createdAt);
  while (instant !== undefined && instant <= range.to && instants.length < range.limit) {
    instants.push(instant);
    instant = followingInstant(entry, instant, createdAt);
  }
  return instants;
}

function followingInstant(entry: ScheduleEntry, after: number, createdAt: number): number | undefined {
  if (entry.kind === 'cron') return nextOfCron(entry, after);
  return createdAt + (Math.floor((after - createdAt) / entry.everyMs) + 1) * entry.everyMs;
}

function nextOfCron(entry: CronEntry, after: number): number | undefined {
  const { timezone } = entry;
  const cron = cronOf(entry);
  const reading = readingAt(timezone, after);
  const fits = (instants: readonly number[]) => instants.find((instant) => instant > after);
  const ahead = search({ timezone, cron, step: cron.next, from: reading, until: reading + HORIZON_MS }, fits);
  // Where the clock will be put back within a day, it will show again what it has shown.
  const repeated = reading - (readingAt(timezone, after + DAY_MS) - DAY_MS);
  if (repeated <= 0) return ahead;
  const again = search({ timezone, cron, step: cron.next, from: reading - repeated, until: reading }, fits);
  return ahead === undefined || again === undefined ? (ahead ?? again) : Math.min(ahead, again);
}

function previousOfCron(entry: CronEntry, before: number): number | undefined {
  const { timezone } = entry;
  const cron = cronOf(entry);
  const second = Math.ceil(before / 1000) * 1000;
  const reading = readingAt(timezone, second);
  const fits = (instants: readonly number[]) => instants.findLast((instant) => instant < before);
  const behind = search({ timezone, cron, step: cron.previous, from: reading, until: reading - HORIZON_MS }, fits);
  // Where the clock was put back within a day, it has shown already what it is still to show.
  const repeated = readingAt(timezone, second - DAY_MS) + DAY_MS - reading;
  if (repeated <= 0) return behind;
  const earlier = search({ timezone, cron, step: cron.previous, from: reading + repeated, until: reading }, fits);
  return behind === undefined || earlier === undefined ? (behind ?? earlier) : Math.max(behind, earlier);
}

interface Walk {
  readonly timezone: string;
  readonly cron: ParsedCron;
  readonly step: (reading: number) => number | undefined;
  /** Reading to begin beside. */
  readonly from: number;
  /** Last reading that is looked at. */
  readonly until: number;
}

/** Walks over the readings that the cron fits, to the first one of which an instant fits too. */
function search(walk: Walk, fits: (instants: readonly number[]) => number | undefined): number | undefined {
  const { timezone, cron, step, from, until } = walk;
  const isForward = until >= from;
  for (let reading = step(from); reading !== undefined; ) {
    if (isForward ? reading > until : reading < until) return undefined;
    const instants = instantsOf(timezone, reading);
    if (instants.length === 0) {
      const gap = gapAround(timezone, reading);
      // A cron that fires in gaps alone must not be followed minute by minute.
      reading = step(isForward ? gap.to - 1 : gap.from);
      continue;
    }
    const found = fits(cron.hasFixedHours ? instants.slice(0, 1) : instants);
    if (found !== undefined) return found;
    reading = step(reading);
  }
  return undefined;
}

/** @throws Error for an expression that no checked definition has. */
function cronOf(entry: CronEntry): ParsedCron {
  const known = crons.get(entry);
  if (known !== undefined) return known;
  const parsed: ParsedCron | CronProblem = parseCron(entry.cron);
  if ('problem' in parsed) throw new Error(`the cron ${JSON.stringify(entry.cron)} cannot be read: ${parsed.problem}`);
  crons.set(entry, parsed);
  return parsed;
}
