import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const payload = z.object({ fails: z.boolean(), seconds: z.number().min(0).max(60).default(0) });

/** A step that succeeds or fails, as asked, after a while if asked. */
export async function handler(event: unknown) {
  const { fails, seconds } = payload.parse(event);
  await sleep(seconds * 1000);
  if (fails) throw new Error('this step was asked to fail');
  return { done: true };
}
