import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const payload = z.object({ table: z.string() });

/** Writes a table, in its time. */
export async function handler(event: unknown) {
  const from = Date.now();
  await sleep(300);
  return { table: payload.parse(event).table, from, to: Date.now() };
}
