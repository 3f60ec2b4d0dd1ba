/** Random times: the same ones from the same seed. */
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';

/** The value of the standard normal distribution that 99 of 100 do not exceed. */
const Z99 = 2.3263478740408408;

/** What chance gives. */
export interface Draws {
  /** From 0 up to, and without, 1. */
  share(): number;
  /** From a log-normal distribution with this median and this 99th percentile. */
  logNormal(spread: readonly [p50: number, p99: number]): number;
}

/** Draws from a seed. */
export function createDraws(seed: number): Draws {
  const generator = xoroshiro128plus(seed);
  const share = () => uniformFloat64(generator);
  // Box and Muller; the logarithm is of a number above 0.
  const normal = () => Math.sqrt(-2 * Math.log(1 - share())) * Math.cos(2 * Math.PI * share());
  return {
    share,
    logNormal: ([p50, p99]) => (p50 === 0 ? 0 : p50 * Math.exp((normal() * Math.log(p99 / p50)) / Z99)),
  };
}
