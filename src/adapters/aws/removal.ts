import * as z from 'zod';
import type { RunKey } from '#ports/index.ts';
import type { Table } from './table.ts';
import { runPartition } from './table-keys.ts';

/** Items that one call looks at. */
const PAGE = 100;

const anyItem = z.object({ pk: z.string(), sk: z.string() });

/**
 * Removes what lies in a run's partition: results, values, history and the chunks of their texts; at most so many items.
 * @returns whether nothing is left
 */
export async function removeParts(table: Table, run: RunKey, most: number): Promise<boolean> {
  let removed = 0;
  const pages = table.query({
    expression: '#pk = :run',
    values: { ':run': runPartition(run) },
    pageSize: Math.min(PAGE, most),
  });
  for await (const page of pages) {
    const items = page.slice(0, most - removed).map((item) => anyItem.parse(item));
    await table.removeAll(items);
    removed += items.length;
    if (removed === most) return false;
  }
  return true;
}
