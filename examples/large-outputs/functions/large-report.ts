import { z } from 'zod';

const payload = z.object({ rows: z.int(), sum: z.number() });

/** Says what came out. A function that returns little, and gets little, needs no wrapping. */
export async function handler(event: unknown) {
  const { rows, sum } = payload.parse(event);
  return { text: `${rows} rows, ${sum} in all` };
}
