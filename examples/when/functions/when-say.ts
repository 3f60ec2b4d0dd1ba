import { z } from 'zod';

const payload = z.object({ text: z.string() });

/** Says something. */
export async function handler(event: unknown) {
  const { text } = payload.parse(event);
  console.log(text);
  return { text };
}
