import { join } from 'node:path';
import { z } from 'zod';
import { pathSchema } from './flights/records.ts';
import { checkSource, countFlights } from './flights/source.ts';

const payload = z.object({ dataFolder: pathSchema, file: z.string() });

/**
 * Finds the file of flights, compares it with its published checksum and counts its rows.
 *
 * @throws SourceDamaged if the checksum differs
 */
export async function handler(event: unknown) {
  const { dataFolder, file } = payload.parse(event);
  const found = await checkSource(dataFolder, file);
  const path = join(dataFolder, file);
  return { file: path, rows: await countFlights(path), ...found };
}
