import { z } from 'zod';
import { createLinesFile, partFile } from './flights/files.ts';
import { monthSchema, pathSchema, type SourceFlight } from './flights/records.ts';
import { readSource } from './flights/source.ts';

const payload = z.object({ source: pathSchema, months: z.array(monthSchema).min(1), folder: pathSchema });

/** Writes the flights of each month that is asked for into a part of its own; the others are counted as `outside`. */
export async function handler(event: unknown) {
  const { source, months, folder } = payload.parse(event);
  const parts = new Map<string, Part>();
  for (const month of months) parts.set(month, { lines: await createLinesFile(partFile(folder, month)), rows: 0 });
  let outside = 0;
  for await (const flights of readSource(source)) outside += await distribute(flights, parts);
  for (const part of parts.values()) await part.lines.finish();
  return {
    parts: [...parts].map(([month, { rows }]) => ({ month, file: partFile(folder, month), rows })),
    outside,
  };
}

interface Part {
  readonly lines: Awaited<ReturnType<typeof createLinesFile>>;
  rows: number;
}

async function distribute(flights: readonly SourceFlight[], parts: Map<string, Part>): Promise<number> {
  const batches = new Map([...parts.keys()].map((month) => [month, [] as unknown[]]));
  let outside = 0;
  for (const { date, delay, distance, origin, destination } of flights) {
    const batch = typeof date === 'string' ? batches.get(date.slice(0, 7).replace('/', '-')) : undefined;
    if (batch) batch.push([date, delay, distance, origin, destination]);
    else outside += 1;
  }
  for (const [month, part] of parts) {
    const batch = batches.get(month) ?? [];
    await part.lines.append(batch);
    part.rows += batch.length;
  }
  return outside;
}
