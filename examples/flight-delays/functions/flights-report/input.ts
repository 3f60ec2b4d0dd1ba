import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { type Airport, readAirports } from '../flights/airports.ts';
import { type Group, type Grouping, groupsSchema } from '../flights/groups.ts';
import { monthSchema, pathSchema, totalsSchema } from '../flights/records.ts';

/** Schema of what the `check` node found. */
const figures = totalsSchema.extend({
  lateShare: z.number(),
  averageDelay: z.number(),
  dropped: z.int(),
  outside: z.int(),
  sourceRows: z.int(),
  comparisons: z.int(),
  months: z.array(totalsSchema.extend({ month: monthSchema })),
});
/** What the `check` node found. */
export type Figures = z.infer<typeof figures>;

/** Schema of the payload of `flights-report`. */
export const payload = z.object({
  figures,
  files: z.object({ hour: pathSchema, day: pathSchema, route: pathSchema, airport: pathSchema }),
  source: z.object({ file: pathSchema, checksum: z.string() }),
  airports: pathSchema,
  dataFolder: pathSchema,
  run: z.string(),
  folder: pathSchema,
});
/** The payload of `flights-report`. */
export type Payload = z.infer<typeof payload>;

/** Everything that the report shows. */
export interface ReportInput {
  readonly figures: Figures;
  readonly groups: Record<Grouping, readonly Group[]>;
  readonly airports: ReadonlyMap<string, Airport>;
  /** TopoJSON of the states, for the map. */
  readonly states: unknown;
  readonly source: { readonly file: string; readonly checksum: string };
  readonly run: string;
}

/** Reads the files that the payload names. */
export async function readInput({ figures, files, source, airports, dataFolder, run }: Payload): Promise<ReportInput> {
  const groups = async (file: string) => groupsSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  return {
    figures,
    groups: {
      hour: await groups(files.hour),
      day: await groups(files.day),
      route: await groups(files.route),
      airport: await groups(files.airport),
    },
    airports: await readAirports(airports),
    states: JSON.parse(await readFile(`${dataFolder}/us-10m.json`, 'utf8')),
    source,
    run,
  };
}
