import { z } from 'zod';

const payload = z.object({ counts: z.array(z.int()) });

/** Adds up. */
export async function handler(event: unknown) {
  const { counts } = payload.parse(event);
  return { sum: counts.reduce((sum, count) => sum + count, 0) };
}
