/** Draws a way many times, and says how long it took and what of. */
import { createDraws, type Draws } from './draws.ts';
import type { Path } from './paths.ts';

/** Times of something drawn many times (ms). */
export interface Times {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly mean: number;
}

/** What a way came to. */
export interface Simulated {
  readonly path: Path['name'];
  readonly title: string;
  readonly total: Times;
  /** Each stage, with its share of the mean of the whole. */
  readonly stages: readonly (Times & { readonly name: string; readonly share: number })[];
}

/** Draws a way `samples` times; the same from the same seed. */
export function simulate(path: Path, samples: number, seed: number): Simulated {
  const draws: Draws = createDraws(seed);
  const total = new Float64Array(samples);
  const stages = path.stages.map(({ name }) => ({ name, times: new Float64Array(samples) }));
  for (let at = 0; at < samples; at++) {
    for (const [index, { draw }] of path.stages.entries()) {
      const ms = draw(draws);
      (stages[index] as { times: Float64Array }).times[at] = ms;
      total[at] = (total[at] as number) + ms;
    }
  }
  const whole = timesOf(total);
  return {
    path: path.name,
    title: path.title,
    total: whole,
    stages: stages.map(({ name, times }) => {
      const of = timesOf(times);
      return { name, ...of, share: of.mean / whole.mean };
    }),
  };
}

function timesOf(times: Float64Array): Times {
  const sorted = times.toSorted();
  const quantile = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
  const mean = times.reduce((sum, ms) => sum + ms, 0) / times.length;
  return { p50: quantile(0.5), p95: quantile(0.95), p99: quantile(0.99), mean };
}
