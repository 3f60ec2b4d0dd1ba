import { z } from 'zod';

const payload = z.object({ what: z.string() });

/** Says what it did. */
export async function handler(event: unknown) {
  return { what: payload.parse(event).what };
}
