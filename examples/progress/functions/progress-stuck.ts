import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const payload = z.object({ seconds: z.number().min(0).max(60) });

/** Stands for a worker that is stuck: it waits and says nothing. */
export async function handler(event: unknown) {
  await sleep(payload.parse(event).seconds * 1000);
}
