import { readFile } from 'node:fs/promises';
import { csvParse } from 'd3-dsv';
import { z } from 'zod';

/** Schema of a row of `airports.csv`; latitude and longitude in degrees. */
export const airportSchema = z.object({
  iata: z.string().min(1),
  name: z.string(),
  city: z.string(),
  state: z.string(),
  latitude: z.coerce.number().min(-90).max(90),
  longitude: z.coerce.number().min(-180).max(180),
});
/** An airport; latitude and longitude in degrees. */
export type Airport = z.infer<typeof airportSchema>;

/** The airports of a CSV file by their IATA code. */
export async function readAirports(file: string): Promise<Map<string, Airport>> {
  const rows = z.array(airportSchema).parse([...csvParse(await readFile(file, 'utf8'))]);
  return new Map(rows.map((airport) => [airport.iata, airport]));
}
