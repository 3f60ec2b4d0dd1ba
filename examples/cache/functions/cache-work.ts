import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

const payload = z.object({ region: z.string() });

/** Does something that takes a while. The id tells each time from the others. */
export async function handler(event: unknown) {
  await sleep(300);
  return { region: payload.parse(event).region, id: randomUUID() };
}
