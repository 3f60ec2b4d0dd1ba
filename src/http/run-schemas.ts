/** Runs, as the API shows them, and what starts and stops them. */
import * as z from 'zod';
import { DEFINITION_LIMITS } from '#domain/definition.ts';
import { markRequestSchema } from './asked-schemas.ts';
import { instant, json, message, nodeState, progress, reason, runState } from './field-schemas.ts';

const MAX_TAGS = 50;

const nodeIds = z.array(z.string()).max(DEFINITION_LIMITS.nodes).readonly();

const trigger = z.strictObject({
  type: z.enum(['api', 'schedule', 'event', 'rerun', 'backfill', 'pipeline']),
  by: z.string().optional(),
  runId: z.string().optional().describe('The run that it comes from: the parent of a child run.'),
  instant: instant.optional().describe('The instant of the schedule that the run stands for.'),
  previousInstant: instant.optional().describe('The instant before it.'),
  entry: z.string().optional().describe('The entry of the schedule.'),
  backfill: z.string().optional().describe('The backfill that it belongs to.'),
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
    only: nodeIds
      .optional()
      .describe('Only these nodes run, with the ancestors that they need; the rest is SKIPPED. Default: all.'),
    reuse: z
      .strictObject({ runId: z.string() })
      .optional()
      .describe('A run of the same pipeline, whose successes stand for nodes that need not run.'),
  })
  .meta({ id: 'StartRequest' });

/** What starts a run again. */
export const rerunRequestSchema = z
  .strictObject({
    from: z
      .union([z.enum(['failed', 'all']), nodeIds])
      .describe(
        'What runs again: what neither succeeded nor was skipped, everything, or these nodes; always with all below.',
      ),
    revision: z.enum(['original', 'latest']).describe('The revision that the run had, or the newest of its pipeline.'),
    input: json.optional().describe('Default: the input that the run had.'),
    mark: z
      .record(z.string(), markRequestSchema)
      .refine(
        (marks) => Object.keys(marks).length <= DEFINITION_LIMITS.nodes,
        'has more nodes than a pipeline may have',
      )
      .optional()
      .describe('Nodes that are decided by hand, by id.'),
  })
  .meta({ id: 'RerunRequest' });
