import { z } from 'zod';

const write = z.object({ table: z.string(), from: z.number(), to: z.number() });
const payload = z.object({ writes: z.array(write) });

/** In which order tables were written, and how many at once at most. */
export async function handler(event: unknown) {
  const { writes } = payload.parse(event);
  const order = writes.toSorted((a, b) => a.from - b.from).map(({ table }) => table);
  const at = (time: number) => writes.filter(({ from, to }) => from <= time && time < to).length;
  return { order, atOnce: Math.max(...writes.map(({ from }) => at(from))) };
}
