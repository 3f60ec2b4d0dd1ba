import { z } from 'zod';

const payload = z.object({ fails: z.boolean() });

/** A step that succeeds or fails, as asked. */
export async function handler(event: unknown) {
  if (payload.parse(event).fails) throw new Error('this step was asked to fail');
  return { done: true };
}
