import { z } from 'zod';

const payload = z.object({ region: z.string() });

/** The sales of a region: the length of its name, as this is an example. */
export async function handler(event: unknown) {
  return { sales: payload.parse(event).region.length };
}
