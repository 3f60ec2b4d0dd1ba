/**
 * How far the entries of a schedule have come, and which instants start a run now. Instants that an entry passes
 * over are settled for good: a cursor only moves forward.
 */
import { instantsBetween, nextInstant, previousInstant } from './schedule.ts';
import type { ScheduleEntry } from './schedule-entry.ts';

/** Most instants that `catchUp: all` starts. */
export const MAX_CATCH_UP = 1000;

/** How late an instant may be found beside two ticks: the rest of a pass, and a clock that is a little off. */
const LATE_MS = 60_000;

/** How far an entry has come. Plain data, kept with the pipeline under the id of the entry. */
export interface ScheduleCursor {
  /** What of the entry decides its instants; with another timing it is another entry. */
  readonly timing: string;
  /** When the entry came to be, or its timing was last changed, in milliseconds since 1970. */
  readonly createdAt: number;
  /** Every instant up to here is settled: it has its run, or never gets one. */
  readonly settled: number;
}

/** What {@link instantsToStart} looks at. */
export interface ScheduleMoment {
  readonly now: number;
  /** Time between two ticks, in milliseconds. */
  readonly tickMs: number;
  /** True while the pipeline is paused: nothing starts, and what is due now is not due later. @default false */
  readonly isPaused?: boolean;
  /** Most instants that are wanted at once. @default 1000 */
  readonly limit?: number;
}

/** What an entry starts now. */
export interface DueStarts {
  /** Instants whose runs are to be started, the oldest first. */
  readonly instants: readonly number[];
  /** To be kept once all of them have their runs; the same one where nothing was due. */
  readonly cursor: ScheduleCursor;
  /** True when `limit` left some for later. */
  readonly hasMore: boolean;
}

/**
 * The cursors after a pipeline was put. An entry that is new, or whose timing is another one, begins strictly after
 * `now`; the others go on where they are.
 * @param known by entry id; empty for a pipeline that was not there
 */
export function carryCursors(
  entries: readonly ScheduleEntry[],
  known: ReadonlyMap<string, ScheduleCursor>,
  now: number,
): Map<string, ScheduleCursor> {
  return new Map(
    entries.map((entry) => {
      const timing = timingOf(entry);
      const before = known.get(entry.id);
      return [entry.id, before?.timing === timing ? before : { timing, createdAt: now, settled: now }];
    }),
  );
}

/** The next instant of an entry that is not settled: when to look again. */
export function nextDue(entry: ScheduleEntry, cursor: ScheduleCursor): number | undefined {
  return nextInstant(entry, cursor.settled, cursor.createdAt);
}

/**
 * Which instants start a run now. Pure: asked twice with the same cursor it gives the same instants, and none once
 * the cursor that it gives is kept.
 */
export function instantsToStart(entry: ScheduleEntry, cursor: ScheduleCursor, moment: ScheduleMoment): DueStarts {
  const oldest = nextDue(entry, cursor);
  const newest = previousInstant(entry, moment.now + 1, cursor.createdAt);
  if (oldest === undefined || newest === undefined || oldest > moment.now) {
    return { instants: [], cursor, hasMore: false };
  }
  const wanted = moment.isPaused ? [] : chooseInstants(entry, cursor, moment, { oldest, newest });
  const instants = wanted.slice(0, moment.limit ?? MAX_CATCH_UP);
  const hasMore = instants.length < wanted.length;
  return { instants, cursor: { ...cursor, settled: hasMore ? (instants.at(-1) as number) : newest }, hasMore };
}

function chooseInstants(
  entry: ScheduleEntry,
  cursor: ScheduleCursor,
  { now, tickMs }: ScheduleMoment,
  due: { readonly oldest: number; readonly newest: number },
): readonly number[] {
  const onTime = now - 2 * tickMs - LATE_MS;
  if (due.oldest >= onTime) {
    return instantsBetween(entry, { from: due.oldest, to: due.newest, limit: MAX_CATCH_UP }, cursor.createdAt);
  }
  switch (entry.catchUp) {
    case 'none':
      return due.newest >= onTime ? [due.newest] : [];
    case 'latest':
      return [due.newest];
    case 'all':
      return newestInstants(entry, Math.max(due.oldest, now - entry.catchUpWindowMs), now, cursor.createdAt);
  }
}

/** At most {@link MAX_CATCH_UP} instants from `from` to `now`, found from the newest back, however many there are. */
function newestInstants(entry: ScheduleEntry, from: number, now: number, createdAt: number): readonly number[] {
  const instants: number[] = [];
  let instant = previousInstant(entry, now + 1, createdAt);
  while (instant !== undefined && instant >= from && instants.length < MAX_CATCH_UP) {
    instants.push(instant);
    instant = previousInstant(entry, instant, createdAt);
  }
  return instants.reverse();
}

function timingOf(entry: ScheduleEntry): string {
  return entry.kind === 'cron' ? `cron ${entry.cron} ${entry.timezone}` : `rate ${entry.everyMs}`;
}
