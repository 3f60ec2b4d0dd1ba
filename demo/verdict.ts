import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { Node } from './api.ts';
import type { Truth } from './truth.ts';

/** Schema of the output of a run of `flight-delays`. */
export const flightsOutput = z.object({
  figures: z.object({
    flights: z.int(),
    late: z.int(),
    delaySum: z.int(),
    distanceSum: z.int(),
    lateShare: z.number(),
    averageDelay: z.number(),
    comparisons: z.int(),
    months: z.array(z.object({ month: z.string(), flights: z.int() })),
  }),
  report: z.string(),
});
/** The output of a run of `flight-delays`. */
export type FlightsOutput = z.infer<typeof flightsOutput>;

const groups = z.array(z.object({ key: z.string(), flights: z.int() }));

/** What the demo found: how many things it compared, and those that are wrong. */
export interface Verdict {
  readonly compared: number;
  readonly wrong: readonly string[];
}

/** Compares what the pipeline says with what the source says, and its course with what it was meant to show. */
export async function judge(
  output: FlightsOutput,
  truth: Truth,
  nodes: readonly Node[],
  limit: number,
): Promise<Verdict> {
  const { figures, report } = output;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const isLate = truth.late / truth.flights > limit;
  const pairs: [what: string, found: unknown, right: unknown][] = [
    ['flights', figures.flights, truth.flights],
    ['late flights', figures.late, truth.late],
    ['sum of delays', figures.delaySum, truth.delaySum],
    ['sum of distances', figures.distanceSum, truth.distanceSum],
    ...differences('flights of', new Map(figures.months.map(({ month, flights }) => [month, flights])), truth.months),
    ...differences('flights at hour', await readGroups(report, 'hour', (key) => hourOf(key)), truth.hours),
    ...differences('flights of route', await readGroups(report, 'route', (key) => key), truth.routes),
    ['attempts of fetch-airports', byId.get('fetch-airports')?.attempt, 2],
    ['state of alert', byId.get('alert')?.state, isLate ? 'SUCCEEDED' : 'SKIPPED'],
    ['state of all-clear', byId.get('all-clear')?.state, isLate ? 'SKIPPED' : 'SUCCEEDED'],
    ['the report', (await readFile(report, 'utf8')).includes('</html>'), true],
  ];
  const wrong = pairs.filter(([, found, right]) => found !== right);
  return {
    compared: pairs.length,
    wrong: wrong.map(([what, found, right]) => `${what}: ${found ?? 'nothing'}, but ${right ?? 'nothing'} is right`),
  };
}

function differences(
  what: string,
  found: ReadonlyMap<string, number>,
  right: ReadonlyMap<string, number>,
): [string, unknown, unknown][] {
  const keys = new Set([...found.keys(), ...right.keys()]);
  return [...keys].map((key) => [`${what} ${key}`, found.get(key), right.get(key)]);
}

function hourOf(key: string): string {
  return (key.split(' ')[1] ?? '').padStart(2, '0');
}

async function readGroups(report: string, by: string, nameOf: (key: string) => string): Promise<Map<string, number>> {
  const flights = new Map<string, number>();
  for (const group of groups.parse(JSON.parse(await readFile(join(dirname(report), `by-${by}.json`), 'utf8')))) {
    const name = nameOf(group.key);
    flights.set(name, (flights.get(name) ?? 0) + group.flights);
  }
  return flights;
}
