import { z } from 'zod';

const payload = z.object({ lines: z.array(z.int()) });

/** Adds up. */
export async function handler(event: unknown) {
  const { lines } = payload.parse(event);
  return { total: lines.reduce((sum, count) => sum + count, 0) };
}
