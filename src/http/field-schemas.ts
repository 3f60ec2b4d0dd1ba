/** Fields that more than one thing of the API has. */
import * as z from 'zod';
import { REASONS } from '#domain/reasons.ts';
import { RUN_STATES } from '#domain/run.ts';

/** States of a node. */
export const NODE_STATES = [
  'PENDING',
  'QUEUED',
  'RUNNING',
  'RETRY_WAIT',
  'SUCCEEDED',
  'FAILED',
  'TIMED_OUT',
  'ABORTED',
  'SKIPPED',
  'UPSTREAM_FAILED',
] as const;

/** An instant. */
export const instant = z.iso.datetime({ precision: 3 }).describe('ISO 8601, UTC, with milliseconds.');
/** Why something stands as it does. */
export const reason = z.enum(REASONS).meta({ id: 'Reason', description: 'Why it stands as it does; for programs.' });
/** State of a run. */
export const runState = z.enum(RUN_STATES).meta({ id: 'RunState' });
/** State of a node, or of an item of a map. */
export const nodeState = z.enum(NODE_STATES).meta({ id: 'NodeState' });
/** Why something stands as it does, as a sentence. */
export const message = z.string().describe('Why it stands as it does; for people.');
/** Any JSON value. */
export const json = z.unknown().describe('Any JSON value.');
/** The share that is done. */
export const progress = z.number().min(0).max(1);

/** What an attempt said of itself. */
export const report = z
  .strictObject({
    progress,
    message: z.string().optional(),
    at: instant,
  })
  .meta({ id: 'Report', description: 'What the code of the attempt under way last said of its progress.' });

/** What failed. */
export const errorInfo = z
  .strictObject({ name: z.string(), message: z.string() })
  .meta({ id: 'Error', description: 'What failed, as in ASL: a stable name, and a message for people.' });

/** Where a result comes from. */
export const reusedFrom = z
  .string()
  .optional()
  .describe('The run whose execution gave the result, where a re-run or a partial start took it over.');

/** How far a map is. */
export const map = z
  .strictObject({
    total: z.int().describe('Items of the list.'),
    counts: z.partialRecord(nodeState, z.int()).describe('Items by state; states that no item has are left out.'),
  })
  .meta({ id: 'Map', description: 'The items of a map; there once it has its list.' });

/** What a branch chose. */
export const branch = z
  .strictObject({ chosen: z.array(z.string()).readonly() })
  .meta({ id: 'Branch', description: 'Ids of the direct downstreams that a branch chose.' });

/** A list of something. */
export function pageSchema(item: z.ZodType): z.ZodType {
  return z.strictObject({ items: z.array(item).readonly(), nextCursor: z.string().optional() });
}

/** A body without a field. */
export const emptyRequestSchema = z.strictObject({});
