import { defineFunction } from 'millrace/function';
import { z } from 'zod';

const payload = z.object({ rows: z.int().min(1) });

/** Makes a table of some fifty bytes a row: more than Step Functions carries, so it goes by reference. */
export const handler = defineFunction((event) => {
  const { rows } = payload.parse(event);
  return {
    rows: Array.from({ length: rows }, (_, id) => ({ id, name: `a row with the number ${id}`, value: id % 7 })),
  };
});
