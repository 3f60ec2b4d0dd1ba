import { z } from 'zod';
import { type Airport, readAirports } from './flights/airports.ts';
import { cleanedAirportsFile, cleanedFile, createLinesFile, readLines, writeWhole } from './flights/files.ts';
import { addFlight, type CleanRow, monthSchema, noTotals, partRow, pathSchema } from './flights/records.ts';

const payload = z.object({
  part: z.object({ month: monthSchema, file: pathSchema }),
  airports: pathSchema,
  folder: pathSchema,
});

type Fault = 'badDate' | 'badNumber' | 'unknownAirport';

/** Checks every flight of a part, looks up both of its airports, and writes the good ones with the airports they use. */
export async function handler(event: unknown) {
  const { part, airports: airportsFile, folder } = payload.parse(event);
  const airports = await readAirports(airportsFile);
  const used = new Map<string, Airport>();
  const kept = noTotals();
  const dropped: Record<Fault, number> = { badDate: 0, badNumber: 0, unknownAirport: 0 };
  const lines = await createLinesFile(cleanedFile(folder, part.month));
  for await (const batch of readLines(part.file)) {
    const rows: CleanRow[] = [];
    for (const line of batch) {
      const row = clean(partRow.parse(line), airports, used);
      if (typeof row === 'string') {
        dropped[row] += 1;
      } else {
        rows.push(row);
        addFlight(kept, row[3], row[4]);
      }
    }
    await lines.append(rows);
  }
  await lines.finish();
  await writeWhole(cleanedAirportsFile(folder, part.month), JSON.stringify([...used.values()]));
  return { month: part.month, kept, dropped, airports: used.size };
}

function clean(
  [date, delay, distance, origin, destination]: z.infer<typeof partRow>,
  airports: ReadonlyMap<string, Airport>,
  used: Map<string, Airport>,
): CleanRow | Fault {
  const when = typeof date === 'string' ? readDate(date) : undefined;
  if (!when) return 'badDate';
  if (!isCount(delay) || !isCount(distance) || distance <= 0) return 'badNumber';
  const from = airports.get(String(origin));
  const to = airports.get(String(destination));
  if (!from || !to) return 'unknownAirport';
  used.set(from.iata, from).set(to.iata, to);
  return [when.day, when.weekday, when.hour, delay, distance, from.iata, to.iata];
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

const dateText = /^(\d{4})\/(\d\d)\/(\d\d) ([01]\d|2[0-3]):[0-5]\d$/;
const days = new Map<string, number>();

/** A date that exists, with its weekday (0 = Monday). The days seen are kept: a part has at most 31 of them. */
function readDate(text: string): { day: string; weekday: number; hour: number } | undefined {
  const [, year, month, date, hour] = dateText.exec(text) ?? [];
  if (hour === undefined) return undefined;
  const day = `${year}-${month}-${date}`;
  let weekday = days.get(day);
  if (weekday === undefined) {
    const utc = new Date(`${day}T00:00:00Z`);
    weekday = utc.toJSON()?.startsWith(day) ? (utc.getUTCDay() + 6) % 7 : Number.NaN;
    days.set(day, weekday);
  }
  return Number.isNaN(weekday) ? undefined : { day, weekday, hour: Number(hour) };
}
