import type { CatchUp, ScheduleEntryDefinition } from './definition.ts';
import type { Json } from './json.ts';

const MINUTE_MS = 60_000;
const UNITS_MS = new Map([
  ['minute', MINUTE_MS],
  ['hour', 60 * MINUTE_MS],
  ['day', 24 * 60 * MINUTE_MS],
]);
const DEFAULT_CATCH_UP_WINDOW_SECONDS = 24 * 3600;

interface EntryBase {
  /** Names the entry over its edits; its position as text where the definition names none. */
  readonly id: string;
  readonly timezone: string;
  readonly input: Json;
  readonly catchUp: CatchUp;
  /** How old an instant may be that `catchUp: all` starts, in milliseconds. */
  readonly catchUpWindowMs: number;
}

/** An entry that fires when the clock of its zone shows what its expression says. */
export interface CronEntry extends EntryBase {
  readonly kind: 'cron';
  readonly cron: string;
}

/** An entry that fires at whole multiples of a time after its creation. */
export interface RateEntry extends EntryBase {
  readonly kind: 'rate';
  readonly everyMs: number;
}

/** One entry of a pipeline's schedule with its defaults filled in. Plain data. */
export type ScheduleEntry = CronEntry | RateEntry;

/** The entries of a checked definition, in its order. */
export function compileSchedule(schedule: readonly ScheduleEntryDefinition[]): readonly ScheduleEntry[] {
  return schedule.map((entry, position) => {
    const base: EntryBase = {
      id: entryId(entry.id, position),
      timezone: entry.timezone ?? 'UTC',
      input: entry.input ?? {},
      catchUp: entry.catchUp ?? 'none',
      catchUpWindowMs: (entry.catchUpWindowSeconds ?? DEFAULT_CATCH_UP_WINDOW_SECONDS) * 1000,
    };
    if (entry.cron !== undefined) return { ...base, kind: 'cron', cron: entry.cron };
    return { ...base, kind: 'rate', everyMs: parseRate(entry.rate ?? '') as number };
  });
}

/** The id of an entry: its own, else its position. */
export function entryId(id: string | undefined, position: number): string {
  return id ?? String(position);
}

/** The time between two instants of a rate such as `15 minutes`, in milliseconds; `undefined` for anything else. */
export function parseRate(text: string): number | undefined {
  const [, count, unit] = /^([1-9]\d{0,5}) (minute|hour|day)s?$/.exec(text) ?? [];
  const unitMs = UNITS_MS.get(unit ?? '');
  return unitMs === undefined ? undefined : Number(count) * unitMs;
}
