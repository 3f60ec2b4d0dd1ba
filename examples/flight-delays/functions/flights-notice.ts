import { join } from 'node:path';
import { z } from 'zod';
import { writeWhole } from './flights/files.ts';
import { pathSchema } from './flights/records.ts';

const payload = z.object({
  level: z.enum(['alert', 'all-clear']),
  lateShare: z.number(),
  limit: z.number(),
  folder: pathSchema,
});

/** Leaves a notice beside the report. On AWS this is where a topic or a chat channel would be told. */
export async function handler(event: unknown) {
  const { level, lateShare, limit, folder } = payload.parse(event);
  const side = level === 'alert' ? 'over' : 'within';
  const message = `${(lateShare * 100).toFixed(1)} % of flights late, ${side} the limit of ${(limit * 100).toFixed(1)} %`;
  const file = join(folder, `${level}.txt`);
  await writeWhole(file, `${message}\n`);
  return { level, message, file };
}
