import { z } from 'zod';

const payload = z.object({ region: z.string() });

/** Counts something in a region that is on the map. */
export async function handler(event: unknown) {
  const { region } = payload.parse(event);
  if (region === 'nowhere') throw new Error('nowhere is not on the map');
  return { count: region.length };
}
