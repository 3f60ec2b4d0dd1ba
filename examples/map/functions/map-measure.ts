import type { Context } from 'aws-lambda';
import { z } from 'zod';

const payload = z.object({
  file: z.object({ name: z.string(), lines: z.int(), failingAttempts: z.int() }),
  place: z.int().min(0),
});
const millrace = z.object({ item: z.int(), attempt: z.int().min(1) });

/** Measures one file. `item` of the client context is the place of the item in the list, as `$index` is. */
export async function handler(event: unknown, context: Pick<Context, 'clientContext'>) {
  const { file, place } = payload.parse(event);
  const { item, attempt } = millrace.parse(context.clientContext);
  if (item !== place) throw new Error(`item ${item} was given the payload of item ${place}`);
  if (attempt <= file.failingAttempts) {
    const name = file.lines === 0 ? 'FileMissing' : 'SourceUnavailable';
    throw Object.assign(new Error(`${file.name} cannot be read at attempt ${attempt}`), { name });
  }
  return { place, file: file.name, lines: file.lines };
}
