import { join } from 'node:path';
import type { Context } from 'aws-lambda';
import { z } from 'zod';
import { readAirports } from './flights/airports.ts';
import { pathSchema } from './flights/records.ts';
import { checkSource, SourceUnavailable } from './flights/source.ts';

const payload = z.object({ dataFolder: pathSchema, failingAttempts: z.int().min(0) });

/** What Millrace tells a function about its own attempt, beside the payload. */
const millrace = z.object({ attempt: z.int().min(1) });

/**
 * Finds the file of airports, compares it with its published checksum and counts its rows.
 *
 * @throws SourceUnavailable in the first `failingAttempts` attempts: a source that is down for a moment, on purpose
 * @throws SourceDamaged if the checksum differs
 */
export async function handler(event: unknown, context: Pick<Context, 'clientContext'>) {
  const { dataFolder, failingAttempts } = payload.parse(event);
  const { attempt } = millrace.parse(context.clientContext);
  if (attempt <= failingAttempts)
    throw new SourceUnavailable(`airports.csv: 503 Service Unavailable (simulated in attempt ${attempt})`);
  const file = join(dataFolder, 'airports.csv');
  const found = await checkSource(dataFolder, 'airports.csv');
  return { file, airports: (await readAirports(file)).size, ...found };
}
