/** What the exhaustive part came to, a line a scenario. */
import type { Portion, PortionOutcome } from './exhaustive.ts';

/** What was played of a scenario. */
export interface ExhaustiveRow {
  readonly scenario: string;
  /** Port calls of the undisturbed world with events, and of the one that ticks alone bring to its end. */
  readonly calls: readonly [number, number];
  readonly singles: number;
  readonly pairs: number;
  /** The most ticks that a world took. */
  readonly ticks: number;
  readonly seconds: number;
}

/** Adds portions up. */
export class Totals {
  private readonly byScenario = new Map<string, ExhaustiveRow>();

  /** Adds one. */
  add({ scenario, mode, first }: Portion, { singles, pairs, ticks, ms }: PortionOutcome): void {
    const empty: ExhaustiveRow = { scenario, calls: [0, 0], singles: 0, pairs: 0, ticks: 0, seconds: 0 };
    const sum = this.byScenario.get(scenario) ?? empty;
    const [withEvents, byTicks] = sum.calls;
    this.byScenario.set(scenario, {
      scenario,
      calls: [
        mode === 'events' ? Math.max(withEvents, first.at + 1) : withEvents,
        mode === 'ticks' ? Math.max(byTicks, first.at + 1) : byTicks,
      ],
      singles: sum.singles + singles,
      pairs: sum.pairs + pairs,
      ticks: Math.max(sum.ticks, ticks),
      seconds: sum.seconds + ms / 1000,
    });
  }

  /** A row a scenario, in the order of their first portions. */
  rows(): ExhaustiveRow[] {
    return [...this.byScenario.values()];
  }
}

/** A table for people, with a line that sums up. */
export function tableOf(rows: readonly ExhaustiveRow[]): string {
  const sum = (of: (row: ExhaustiveRow) => number) => rows.reduce((total, row) => total + of(row), 0);
  const total = [
    'all',
    '',
    sum((row) => row.singles),
    sum((row) => row.pairs),
    '',
    sum((row) => row.seconds).toFixed(1),
  ];
  const body = rows.map(({ scenario, calls, singles, pairs, ticks, seconds }) => {
    return [scenario, calls.join(' / '), singles, pairs, ticks, seconds.toFixed(1)];
  });
  return [['scenario', 'calls: events / ticks', 'single', 'pairs', 'most ticks', 'seconds'], ...body, total]
    .map((line) =>
      line
        .map((value, at) => (at === 0 ? String(value).padEnd(32) : String(value).padStart(at === 1 ? 23 : 12)))
        .join(''),
    )
    .join('\n');
}
