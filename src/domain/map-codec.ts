/** Maps, branches and nodes with a limit of their waiting, as parts of a stored run. */
import * as z from 'zod';
import { fromDistances, toDistances } from './distances.ts';
import type { BranchChoice, MapState, QueuedNode } from './run.ts';

const index = z.int().nonnegative();
const bad = z.strictObject({ item: index, error: z.strictObject({ name: z.string(), message: z.string() }) });

/** The schemas of the parts: maps, branches, queued nodes. */
export const packedMap = z.tuple([
  index,
  index,
  index,
  index,
  index,
  z.string(),
  bad.nullish(),
  z.array(z.int()).optional(),
]);
export const packedBranch = z.tuple([index, z.array(z.int())]);
export const packedQueued = z.tuple([index, z.number(), z.number()]);

/** Writes a map. */
export function packMap(map: MapState): z.input<typeof packedMap> {
  const { node, total, next, succeeded, failed, list, firstBad, ahead } = map;
  const counts = [node, total, next, succeeded, failed, list] as const;
  if (ahead) return [...counts, firstBad ?? null, toDistances(ahead)];
  return firstBad ? [...counts, firstBad] : [...counts];
}

/** Reads a map. */
export function unpackMap(packed: z.output<typeof packedMap>): MapState {
  const [node, total, next, succeeded, failed, list, firstBad, ahead] = packed;
  return {
    node,
    total,
    next,
    succeeded,
    failed,
    list,
    ...(firstBad && { firstBad }),
    ...(ahead && { ahead: fromDistances(ahead) }),
  };
}

/** Writes a branch's choice. */
export function packBranch({ node, chosen }: BranchChoice): z.input<typeof packedBranch> {
  return [node, toDistances(chosen)];
}

/** Reads a branch's choice. */
export function unpackBranch([node, chosen]: z.output<typeof packedBranch>): BranchChoice {
  return { node, chosen: fromDistances(chosen) };
}

/** Writes a queued node; `created` is the run's creation (ms since the epoch). */
export function packQueued({ node, since, until }: QueuedNode, created: number): z.input<typeof packedQueued> {
  return [node, since - created, until - since];
}

/** Reads a queued node. */
export function unpackQueued([node, since, until]: z.output<typeof packedQueued>, created: number): QueuedNode {
  return { node, since: since + created, until: until + since + created };
}
