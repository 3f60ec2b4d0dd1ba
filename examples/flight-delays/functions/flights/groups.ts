import { z } from 'zod';
import { type CleanRow, type Totals, totalsSchema } from './records.ts';

/** What flights can be grouped by. */
export const GROUPINGS = ['hour', 'day', 'route', 'airport'] as const;
/** One of {@link GROUPINGS}. */
export type Grouping = (typeof GROUPINGS)[number];

/** The group of a flight. Hours are hours of a weekday (`0 17`: Monday, 17:00 to 17:59), airports those of departure. */
export const groupKey: Record<Grouping, (row: CleanRow) => string> = {
  hour: ([, weekday, hour]) => `${weekday} ${hour}`,
  day: ([day]) => day,
  route: ([, , , , , origin, destination]) => `${origin} ${destination}`,
  airport: ([, , , , , origin]) => origin,
};

/** Schema of a file of groups. */
export const groupsSchema = z.array(totalsSchema.extend({ key: z.string() }));
/** A group of flights and its totals. */
export type Group = Totals & { readonly key: string };
