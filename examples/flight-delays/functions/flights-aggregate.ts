import { join } from 'node:path';
import { z } from 'zod';
import { cleanedFile, readLines, writeWhole } from './flights/files.ts';
import { GROUPINGS, groupKey } from './flights/groups.ts';
import {
  addFlight,
  type CleanRow,
  monthSchema,
  noTotals,
  pathSchema,
  sumTotals,
  type Totals,
} from './flights/records.ts';

const payload = z.object({ by: z.enum(GROUPINGS), months: z.array(monthSchema).min(1), folder: pathSchema });

/** Groups the cleaned flights of all months and writes the totals of each group, the largest group first. */
export async function handler(event: unknown) {
  const { by, months, folder } = payload.parse(event);
  const keyOf = groupKey[by];
  const groups = new Map<string, Totals>();
  for (const month of months) {
    for await (const batch of readLines(cleanedFile(folder, month))) {
      // Written by flights-clean, which has checked every field.
      for (const row of batch as CleanRow[]) {
        const key = keyOf(row);
        const totals = groups.get(key) ?? noTotals();
        groups.set(key, totals);
        addFlight(totals, row[3], row[4]);
      }
    }
  }
  const rows = [...groups].map(([key, totals]) => ({ key, ...totals }));
  rows.sort((a, b) => b.flights - a.flights || (a.key < b.key ? -1 : 1));
  const file = join(folder, `by-${by}.json`);
  await writeWhole(file, JSON.stringify(rows));
  return { file, groups: rows.length, totals: sumTotals(rows) };
}
