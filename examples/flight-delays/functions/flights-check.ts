import { z } from 'zod';
import { LATE_MINUTES, monthSchema, pathSchema, sumTotals, type Totals, totalsSchema } from './flights/records.ts';
import { readSource } from './flights/source.ts';

const aggregate = z.object({ totals: totalsSchema });
const payload = z.object({
  source: z.object({ file: pathSchema, rows: z.int() }),
  split: z.object({ parts: z.array(z.object({ month: monthSchema, rows: z.int() })), outside: z.int() }),
  cleaned: z.array(z.object({ month: monthSchema, kept: totalsSchema, dropped: z.record(z.string(), z.int()) })),
  aggregates: z.record(z.string(), aggregate),
});

/** A count or sum does not agree with the source. */
export class TotalsDiffer extends Error {
  override readonly name = 'TotalsDiffer';
}

/**
 * Reckons everything again from the source file alone and compares it, number by number, with what the pipeline found.
 *
 * @throws TotalsDiffer naming each number that differs
 */
export async function handler(event: unknown) {
  const { source, split, cleaned, aggregates } = payload.parse(event);
  const truth = await reckon(source.file, new Set(split.parts.map((part) => part.month)));
  const comparison = new Comparison();
  comparison.equal('rows of the source', source.rows, truth.rows);
  comparison.equal('rows outside the months', split.outside, truth.outside);
  for (const { month, rows } of split.parts)
    comparison.equal(`rows of ${month}`, rows, truth.months.get(month)?.flights);
  let dropped = 0;
  for (const part of cleaned) {
    const droppedHere = Object.values(part.dropped).reduce((sum, count) => sum + count, 0);
    dropped += droppedHere;
    comparison.equal(
      `flights of ${part.month}`,
      part.kept.flights + droppedHere,
      truth.months.get(part.month)?.flights,
    );
    if (droppedHere === 0) comparison.totals(part.month, part.kept, truth.months.get(part.month));
  }
  const kept = sumTotals(cleaned.map((part) => part.kept));
  if (dropped === 0) comparison.totals('all months', kept, sumTotals(truth.months.values()));
  for (const [name, { totals }] of Object.entries(aggregates)) comparison.totals(name, totals, kept);
  comparison.finish();
  return {
    ...kept,
    lateShare: kept.late / kept.flights,
    averageDelay: kept.delaySum / kept.flights,
    dropped,
    outside: split.outside,
    sourceRows: source.rows,
    months: cleaned.map(({ month, kept: totals }) => ({ month, ...totals })),
    comparisons: comparison.made,
  };
}

interface Truth {
  rows: number;
  outside: number;
  readonly months: Map<string, Totals>;
}

/** On purpose it shares no arithmetic with the nodes that it checks. */
async function reckon(file: string, months: ReadonlySet<string>): Promise<Truth> {
  const truth: Truth = { rows: 0, outside: 0, months: new Map() };
  for (const month of months) truth.months.set(month, { flights: 0, late: 0, delaySum: 0, distanceSum: 0 });
  for await (const flights of readSource(file)) {
    truth.rows += flights.length;
    for (const flight of flights) {
      const [year, month] = String(flight.date).split('/');
      const totals = truth.months.get(`${year}-${month}`);
      if (!totals) {
        truth.outside += 1;
        continue;
      }
      totals.flights += 1;
      totals.delaySum += Number(flight.delay);
      totals.distanceSum += Number(flight.distance);
      if (Number(flight.delay) >= LATE_MINUTES) totals.late += 1;
    }
  }
  return truth;
}

class Comparison {
  made = 0;
  readonly #differences: string[] = [];

  equal(what: string, found: number, truth: number | undefined): void {
    this.made += 1;
    if (found !== truth) this.#differences.push(`${what}: ${found}, but the source gives ${truth ?? 'nothing'}`);
  }

  totals(what: string, found: Totals, truth: Totals | undefined): void {
    for (const field of totalsSchema.keyof().options) this.equal(`${field} of ${what}`, found[field], truth?.[field]);
  }

  finish(): void {
    if (this.#differences.length > 0) throw new TotalsDiffer(this.#differences.join('; '));
  }
}
