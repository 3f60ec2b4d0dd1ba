import { readFile } from 'node:fs/promises';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { z } from 'zod';

/** Figures of the flights of some months, reckoned from the source file alone, without any code of the pipeline. */
export interface Truth {
  flights: number;
  late: number;
  delaySum: number;
  distanceSum: number;
  /** Flights by month (`2001-01`). */
  readonly months: Map<string, number>;
  /** Flights by hour of the day. */
  readonly hours: Map<string, number>;
  /** Flights by route (`LAX SFO`). */
  readonly routes: Map<string, number>;
}

const flight = z.object({
  date: z.string(),
  delay: z.number(),
  distance: z.number(),
  origin: z.string(),
  destination: z.string(),
});
type Flight = z.infer<typeof flight>;

/** Reckons the figures of a source file. */
export async function reckonTruth(file: string, months: ReadonlySet<string>): Promise<Truth> {
  const truth: Truth = {
    flights: 0,
    late: 0,
    delaySum: 0,
    distanceSum: 0,
    months: new Map(),
    hours: new Map(),
    routes: new Map(),
  };
  for (const one of file.endsWith('.parquet') ? await fromParquet(file) : await fromJson(file)) {
    const month = one.date.slice(0, 7).replace('/', '-');
    if (!months.has(month)) continue;
    truth.flights += 1;
    truth.late += one.delay > 14 ? 1 : 0;
    truth.delaySum += one.delay;
    truth.distanceSum += one.distance;
    countOne(truth.months, month);
    countOne(truth.hours, one.date.slice(11, 13));
    countOne(truth.routes, `${one.origin} ${one.destination}`);
  }
  return truth;
}

async function fromJson(file: string): Promise<Iterable<Flight>> {
  return z.array(flight).parse(JSON.parse(await readFile(file, 'utf8')));
}

async function fromParquet(file: string): Promise<Iterable<Flight>> {
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(file), compressors });
  return rows.map(({ date, delay, distance, origin, destination }) => ({
    date: date instanceof Date ? date.toISOString().replaceAll('-', '/').replace('T', ' ') : '',
    delay: Number(delay),
    distance: Number(distance),
    origin: String(origin),
    destination: String(destination),
  }));
}

function countOne(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
