import { z } from 'zod';

const payload = z.object({ total: z.number() });

/** Confirms an order. */
export async function handler(event: unknown) {
  const { total } = payload.parse(event);
  return { confirmed: true, total };
}
