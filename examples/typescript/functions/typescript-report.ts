import { z } from 'zod';

/** What a function gets whose node names no payload: the run's input, and the outputs of its upstreams by their ids. */
const event = z.object({ upstream: z.record(z.string(), z.object({ sales: z.int() })) });

/** Sums what its upstreams gave. */
export async function handler(given: unknown) {
  const { upstream } = event.parse(given);
  return {
    regions: Object.keys(upstream).length,
    sales: Object.values(upstream).reduce((sum, { sales }) => sum + sales, 0),
  };
}
