import { z } from 'zod';

const payload = z.object({ lines: z.array(z.object({ price: z.number(), count: z.int().min(1) })) });

/** Adds up the lines of an order. */
export async function handler(event: unknown) {
  const { lines } = payload.parse(event);
  return { total: lines.reduce((total, { price, count }) => total + price * count, 0) };
}
