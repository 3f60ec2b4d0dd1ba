import { z } from 'zod';

/** A flight as the source tells it, before anything about it was checked. */
export interface SourceFlight {
  readonly date: unknown;
  readonly delay: unknown;
  readonly distance: unknown;
  readonly origin: unknown;
  readonly destination: unknown;
}

/** A flight as a line of a part: date (`YYYY/MM/DD HH:MM`, local), arrival delay (min), distance (mi), from, to. */
export const partRow = z.tuple([z.unknown(), z.unknown(), z.unknown(), z.unknown(), z.unknown()]);

/** A flight as a line of a cleaned part: day (`YYYY-MM-DD`), weekday (0 = Monday), hour, delay (min), distance (mi), from, to. */
export type CleanRow = readonly [
  day: string,
  weekday: number,
  hour: number,
  delay: number,
  distance: number,
  origin: string,
  destination: string,
];

/** Schema of a month as it is written in inputs and file names: `2001-01`. */
export const monthSchema = z.string().regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'must be a month, like 2001-01');

/** Schema of an absolute path of a folder or file. */
export const pathSchema = z.string().startsWith('/', 'must be an absolute path');

/** Counts and sums over flights. All are exact integers, so that two ways of reckoning them can be compared with `===`. */
export const totalsSchema = z.object({
  flights: z.int(),
  /** Flights that arrived {@link LATE_MINUTES} or more after schedule. */
  late: z.int(),
  /** Sum of the arrival delays in minutes; early arrivals count below zero. */
  delaySum: z.int(),
  /** Sum of the distances in miles. */
  distanceSum: z.int(),
});
/** Counts and sums over flights. */
export type Totals = z.infer<typeof totalsSchema>;

/** From how many minutes of arrival delay a flight counts as late: the rule of the U.S. Department of Transportation. */
export const LATE_MINUTES = 15;

/** Totals of no flights. */
export function noTotals(): Totals {
  return { flights: 0, late: 0, delaySum: 0, distanceSum: 0 };
}

/** Adds one flight to `totals`, in place: this runs once a flight and node. */
export function addFlight(totals: Totals, delay: number, distance: number): void {
  totals.flights += 1;
  totals.late += delay >= LATE_MINUTES ? 1 : 0;
  totals.delaySum += delay;
  totals.distanceSum += distance;
}

/** The sum of several totals. */
export function sumTotals(all: Iterable<Totals>): Totals {
  const sum = noTotals();
  for (const one of all) {
    sum.flights += one.flights;
    sum.late += one.late;
    sum.delaySum += one.delaySum;
    sum.distanceSum += one.distanceSum;
  }
  return sum;
}
