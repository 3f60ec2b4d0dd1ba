/**
 * A backfill: the instants of a pipeline's schedule in a range of time, started in order, so many runs at once. Only
 * how far it has come is kept: its instants follow from the revision and the range.
 */
import { createHash } from 'node:crypto';
import type { CompiledPipeline } from './graph.ts';
import { canonicalJson } from './json.ts';
import { instantsBetween } from './schedule.ts';
import type { ScheduleCursor } from './schedule-cursor.ts';
import type { ScheduleEntry } from './schedule-entry.ts';

/** Most instants of one backfill. */
export const MAX_BACKFILL = 1000;

/** Most runs of one backfill at once. */
export const MAX_BACKFILL_RUNS = 100;

/** Most backfills of a pipeline under way at once. */
export const MAX_BACKFILLS = 10;

/** Instants that are counted at most, where there are too many. */
const MOST_COUNTED = 2 * MAX_BACKFILL;

/** The order of its instants: the oldest or the newest first. */
export type BackfillDirection = 'forward' | 'backward';

/** A backfill under way. Immutable. */
export interface Backfill {
  /** From its range, direction and revision: a repeated request finds it. */
  readonly id: string;
  readonly revision: string;
  /** Bounds of the instants (ms since the epoch), both included. */
  readonly from: number;
  readonly to: number;
  readonly direction: BackfillDirection;
  /** Most runs of it that are active at once. */
  readonly maxActiveRuns: number;
  readonly at: number;
  readonly by?: string;
  /** From when each entry counts (ms since the epoch), by its id. */
  readonly entries: readonly (readonly [string, number])[];
  /** How many instants it has, and how many of them were started. */
  readonly total: number;
  readonly started: number;
  /** Runs that it started and that were not over when it was looked at last. */
  readonly active: readonly string[];
}

/** One run of a backfill. */
export interface BackfillInstant {
  readonly entry: ScheduleEntry;
  readonly instant: number;
  /** From when its entry counts (ms since the epoch). */
  readonly createdAt: number;
}

/** What is asked for. */
export type BackfillRange = Pick<Backfill, 'from' | 'to' | 'direction'>;

/** The id of a backfill. */
export function backfillId(pipeline: string, incarnation: string, revision: string, range: BackfillRange): string {
  const { from, to, direction } = range;
  const text = canonicalJson([pipeline, incarnation, revision, from, to, direction]);
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** From when the entries of a schedule count; an entry without a cursor from the beginning of the pipeline. */
export function entryTimes(
  schedule: readonly ScheduleEntry[],
  cursors: ReadonlyMap<string, ScheduleCursor>,
  createdAt: number,
): [string, number][] {
  return schedule.map(({ id }) => [id, cursors.get(id)?.createdAt ?? createdAt]);
}

/** All instants of a backfill in their order; of a range that has too many, only so many that this can be told. */
export function backfillInstants(
  { schedule }: Pick<CompiledPipeline, 'schedule'>,
  { from, to, direction }: BackfillRange,
  entries: ReadonlyMap<string, number>,
): readonly BackfillInstant[] {
  const all: BackfillInstant[] = [];
  for (const entry of schedule) {
    const createdAt = entries.get(entry.id);
    const limit = MOST_COUNTED - all.length;
    if (createdAt === undefined || limit === 0) continue;
    const instants = instantsBetween(entry, { from, to, limit }, createdAt);
    all.push(...instants.map((instant) => ({ entry, instant, createdAt })));
  }
  // Stable: entries of the same instant keep the order of the definition.
  all.sort((a, b) => a.instant - b.instant);
  return direction === 'forward' ? all : all.reverse();
}
