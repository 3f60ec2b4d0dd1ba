/** Runs, as the API shows them, and what starts and stops them. */
import * as z from 'zod';
import { instant, json, message, nodeState, progress, reason, runState } from './field-schemas.ts';

const MAX_TAGS = 50;

const trigger = z.strictObject({
  type: z.enum(['api', 'schedule', 'event', 'rerun', 'backfill', 'pipeline']),
  by: z.string().optional(),
  runId: z.string().optional().describe('The run that it comes from: the parent of a child run.'),
});

const tagsOut = z.record(z.string(), z.string());

/** A run. */
export const runSchema = z
  .strictObject({
    id: z.string(),
    pipeline: z.string(),
    revision: z.string(),
    state: runState,
    reason,
    message,
    since: instant,
    input: json,
    output: json.optional(),
    outputRef: z.string().optional().describe('Address of an output that is too large to be shown.'),
    error: z
      .strictObject({ name: z.string(), message: z.string(), node: z.string().optional() })
      .optional()
      .describe('What failed first, and in which node.'),
    createdAt: instant,
    startedAt: instant.optional(),
    endedAt: instant.optional(),
    trigger,
    tags: tagsOut,
    progress: progress.describe('The mean over the nodes; a map counts by the share of its items that are over.'),
    counts: z.partialRecord(nodeState, z.int()).describe('Nodes by state; states that no node has are left out.'),
    rev: z.int().describe('Revision number: one up with every change.'),
  })
  .meta({ id: 'Run' });

/** A line of the list of runs: what does not change between a run's creation, start and end. */
export const runLineSchema = z
  .strictObject({
    id: z.string(),
    pipeline: z.string(),
    revision: z.string(),
    state: runState,
    createdAt: instant,
    startedAt: instant.optional(),
    endedAt: instant.optional(),
    trigger,
    tags: tagsOut,
  })
  .meta({ id: 'RunLine' });

/** What became of a command to a run: stop, pause, resume. */
export const commandAnswerSchema = z
  .strictObject({
    outcome: z.enum(['ACCEPTED', 'ALREADY_STOPPING', 'ALREADY_PAUSED', 'NOT_PAUSED', 'NOT_BEGUN', 'ALREADY_FINISHED']),
    message: z.string(),
    run: runSchema,
  })
  .meta({ id: 'CommandAnswer' });

/** Tags of a run: a key is up to 128 characters without a colon, since `tag=key:value` filters by them. */
export const tagsSchema = z
  .record(
    z.string().regex(/^[^:\p{C}]{1,128}$/u, 'is 1 to 128 printable characters without a colon'),
    z.string().max(256),
  )
  .refine((tags) => Object.keys(tags).length <= MAX_TAGS, `has at most ${MAX_TAGS} tags`)
  .describe(`At most ${MAX_TAGS}: key and text.`);

/** What starts a run. */
export const startRequestSchema = z
  .strictObject({
    input: json.optional().describe('The input of the run. Default {}.'),
    revision: z.string().optional().describe('Default: the newest.'),
    tags: tagsSchema.optional(),
  })
  .meta({ id: 'StartRequest' });
