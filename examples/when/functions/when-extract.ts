import { z } from 'zod';

const payload = z.object({ rows: z.int().min(0) });

/** Pretends to extract some rows. */
export async function handler(event: unknown) {
  return { rows: payload.parse(event).rows };
}
