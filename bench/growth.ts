/** How a figure grows with the size of what it is taken of. */
import type { Figure } from './bench.ts';

/** The sizes over which growth is fitted. */
export const SIZES = [1_000, 3_000, 10_000] as const;

/**
 * The exponent of a power law through some points, by least squares over their logarithms: 1 is linear growth.
 * @returns `NaN` where the sizes do not differ
 */
export function fittedExponent(points: readonly (readonly [size: number, value: number])[]): number {
  const logs = points.map(([size, value]) => [Math.log(size), Math.log(value)] as const);
  const [meanX, meanY] = [mean(logs.map(([x]) => x)), mean(logs.map(([, y]) => y))];
  const covariance = mean(logs.map(([x, y]) => (x - meanX) * (y - meanY)));
  return covariance / mean(logs.map(([x]) => (x - meanX) ** 2));
}

/** The figure that says how another one grows. */
export function growth(what: string, points: readonly (readonly [size: number, value: number])[]): Figure {
  return { what: `${what}: exponent of growth`, values: [fittedExponent(points)], decimals: 2, aim: '≤ 1' };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
