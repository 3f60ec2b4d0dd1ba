import { defineFunction } from 'millrace/function';
import { z } from 'zod';

const payload = z.object({ table: z.object({ rows: z.array(z.object({ value: z.number() })) }) });

/** Adds up a column. The table is there as if it had been passed directly. */
export const handler = defineFunction((event, { run, remainingMs }) => {
  const { rows } = payload.parse(event).table;
  console.log(`${rows.length} rows for run ${run}, ${Math.round(remainingMs() / 1000)} s left`);
  return { sum: rows.reduce((sum, { value }) => sum + value, 0) };
});
