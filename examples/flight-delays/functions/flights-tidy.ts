import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { pathSchema } from './flights/records.ts';

const payload = z.object({ folder: pathSchema });

/** Removes the parts of a run; what it found and its report stay. */
export async function handler(event: unknown) {
  const { folder } = payload.parse(event);
  for (const name of ['parts', 'cleaned']) await rm(join(folder, name), { recursive: true, force: true });
  return { removed: ['parts', 'cleaned'] };
}
