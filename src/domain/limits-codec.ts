/** What a run has to do with limits, as part of a stored run. */
import * as z from 'zod';
import type { RunLimit } from './run.ts';

const index = z.int().nonnegative();

export const packedRunLimit = z.tuple([
  z.string(), // limit
  index, // taken
  index, // returned
  index, // released
  index, // held
  z.tuple([index, z.int(), z.number()]).nullable().optional(), // waiting: need, priority, since (after creation)
  z.tuple([index, z.int(), z.number()]).optional(), // row: wants, priority, since (after creation)
]);

/** Writes an entry; `created` is the run's creation (ms since the epoch). */
export function packRunLimit(entry: RunLimit, created: number): z.input<typeof packedRunLimit> {
  const { limit, taken, returned, released, held, waiting, row } = entry;
  const counted: [string, number, number, number, number] = [limit, taken, returned, released, held];
  const waits = waiting && ([waiting.need, waiting.priority, waiting.since - created] as [number, number, number]);
  if (row) return [...counted, waits ?? null, [row.wants, row.priority, row.since - created]];
  return waits ? [...counted, waits] : counted;
}

/** Reads an entry. */
export function unpackRunLimit(packed: z.output<typeof packedRunLimit>, created: number): RunLimit {
  const [limit, taken, returned, released, held, waiting, row] = packed;
  return {
    limit,
    taken,
    returned,
    released,
    held,
    ...(waiting && { waiting: { need: waiting[0], priority: waiting[1], since: waiting[2] + created } }),
    ...(row && { row: { wants: row[0], priority: row[1], since: row[2] + created } }),
  };
}
