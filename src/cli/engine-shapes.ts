/** What the commands read of engines and pools. Fields that a newer server adds are let through unread. */
import { z } from 'zod';

const instant = z.iso.datetime().transform((text) => Date.parse(text));

const slots = {
  holders: z
    .array(z.object({ run: z.string(), pipeline: z.string(), slots: z.int(), nodes: z.array(z.string()).default([]) }))
    .optional(),
  waiting: z
    .object({
      count: z.int(),
      hasMore: z.boolean().default(false),
      first: z.array(z.object({ run: z.string(), pipeline: z.string(), priority: z.int(), since: instant })),
    })
    .optional(),
};

/** Who holds slots, and who waits for them. */
export const slotsShape = z.object(slots);
export type SlotsShape = z.output<typeof slotsShape>;

/** An engine. */
export const engineShape = z.object({
  name: z.string(),
  builtIn: z.boolean(),
  generation: z.int(),
  stateMachineArn: z.string().optional(),
  maxConcurrent: z.int().optional(),
  running: z.int().optional(),
  labels: z.record(z.string(), z.string()),
  status: z.string(),
  message: z.string(),
  heartbeatSeconds: z.int().optional(),
  lastHeartbeatAt: instant.optional(),
  ...slots,
});
export type EngineShape = z.output<typeof engineShape>;

/** A pool. */
export const poolShape = z.object({ name: z.string(), slots: z.int(), held: z.int(), ...slots });
export type PoolShape = z.output<typeof poolShape>;
