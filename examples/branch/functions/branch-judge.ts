import { z } from 'zod';

const payload = z.object({ amount: z.number() });

/** Tells large amounts from small ones. */
export async function handler(event: unknown) {
  return { size: payload.parse(event).amount > 1000 ? 'large' : 'small' };
}
