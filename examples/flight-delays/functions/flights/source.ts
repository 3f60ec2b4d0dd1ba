import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { z } from 'zod';
import { fingerprint } from './files.ts';
import type { SourceFlight } from './records.ts';

/** The source is not what its own description says. */
export class SourceDamaged extends Error {
  override readonly name = 'SourceDamaged';
}

/** The source could not be reached; another attempt may. */
export class SourceUnavailable extends Error {
  override readonly name = 'SourceUnavailable';
}

const description = z.object({
  resources: z.array(z.object({ path: z.string(), bytes: z.int().optional(), hash: z.string().optional() })),
});

/**
 * Compares a file with the size and checksum that `datapackage.json`, beside the data folder, gives for it.
 *
 * @throws SourceDamaged if the file is not described or differs
 */
export async function checkSource(dataFolder: string, name: string): Promise<{ bytes: number; checksum: string }> {
  const { resources } = description.parse(
    JSON.parse(await readFile(join(dataFolder, '..', 'datapackage.json'), 'utf8')),
  );
  const promised = resources.find((resource) => resource.path === name);
  if (!promised) throw new SourceDamaged(`${name} is not described in datapackage.json`);
  const found = await fingerprint(join(dataFolder, name));
  if (promised.hash !== found.checksum || promised.bytes !== found.bytes)
    throw new SourceDamaged(
      `${name} has ${found.bytes} bytes and checksum ${found.checksum}, but datapackage.json says ${promised.bytes} and ${promised.hash}`,
    );
  return found;
}

const jsonFlights = z.array(
  z.object({
    date: z.unknown(),
    delay: z.unknown(),
    distance: z.unknown(),
    origin: z.unknown(),
    destination: z.unknown(),
  }),
);

/** The flights of a source file, in its order and in batches: an array in `.json`, or columns in `.parquet`. */
export async function* readSource(file: string): AsyncGenerator<readonly SourceFlight[]> {
  if (!file.endsWith('.parquet')) {
    yield jsonFlights.parse(JSON.parse(await readFile(file, 'utf8')));
    return;
  }
  const buffer = await asyncBufferFromFile(file);
  const metadata = await parquetMetadataAsync(buffer);
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    const rows = await parquetReadObjects({ file: buffer, metadata, compressors, rowStart, rowEnd });
    yield rows.map(({ date, delay, distance, origin, destination }) => ({
      date: date instanceof Date ? localText(date) : date,
      delay: Number(delay),
      distance: Number(distance),
      origin,
      destination,
    }));
    rowStart = rowEnd;
  }
}

/** How many flights a source file holds. */
export async function countFlights(file: string): Promise<number> {
  if (!file.endsWith('.parquet')) return jsonFlights.parse(JSON.parse(await readFile(file, 'utf8'))).length;
  return Number((await parquetMetadataAsync(await asyncBufferFromFile(file))).num_rows);
}

/** A parquet timestamp without zone, as the JSON files write it: `2001/01/31 06:15`. */
function localText(date: Date): string {
  const iso = date.toISOString();
  return `${iso.slice(0, 4)}/${iso.slice(5, 7)}/${iso.slice(8, 10)} ${iso.slice(11, 16)}`;
}
