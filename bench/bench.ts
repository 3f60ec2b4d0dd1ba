/** What a bench is: a name to choose it by, and figures that it gives. */

/** One figure of a bench. */
export interface Figure {
  /** What was measured, with its unit. */
  readonly what: string;
  /** The value of each repetition; of several the table shows median, least and most. */
  readonly values: readonly number[];
  /** Decimals in the table. @default 1 */
  readonly decimals?: number;
  /** What it should be at most, in words. @default nothing is said */
  readonly aim?: string;
  /** The same as a number; a figure above it is marked in its table. */
  readonly most?: number;
  /** Title of the table that it is a cell of, in the row {@link what}. @default a row in the table of all benches */
  readonly table?: string;
  /** The column in that table. */
  readonly column?: string;
}

/** A bench. */
export interface Bench {
  /** What `--only` takes. */
  readonly name: string;
  /** What it does, in a line. */
  readonly title: string;
  /** It runs only where `--only` names it. @default false */
  readonly isLong?: true;
  /** Measures. `say` shows how far it is. */
  run(say: (progress: string) => void): Promise<readonly Figure[]>;
}

/** What the process of a bench sends: how far it is, then the figures. */
export type BenchMessage = { readonly progress: string } | { readonly figures: readonly Figure[] };

/** Repetitions that count, after one that does not. */
const REPETITIONS = 5;

/**
 * Measures something once without and five times with effect.
 * @param once gives the figures of one repetition, always the same ones
 */
export async function repeat(
  say: (progress: string) => void,
  once: () => Promise<readonly (Omit<Figure, 'values'> & { readonly value: number })[]>,
  repetitions = REPETITIONS,
): Promise<Figure[]> {
  say('warming up');
  await once();
  const figures = new Map<string, Figure & { readonly values: number[] }>();
  for (let repetition = 1; repetition <= repetitions; repetition++) {
    say(`${repetition} of ${repetitions}`);
    for (const { value, ...figure } of await once()) {
      const known = figures.get(figure.what) ?? { ...figure, values: [] };
      figures.set(figure.what, known);
      known.values.push(value);
    }
  }
  return [...figures.values()];
}

/** The middle of some numbers; of two middles the lower. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value that a share of some numbers do not exceed. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
