import { z } from 'zod';

const payload = z.object({ day: z.iso.date(), by: z.string() });

/** The orders of a day. */
export async function handler(event: unknown) {
  const { day, by } = payload.parse(event);
  const orders = [
    { item: 'lamp', price: 35 },
    { item: 'cup', price: 8 },
    { item: 'cup', price: 12 },
  ];
  return { day, by, orders };
}
