/** The shapes of what the API takes and answers: checked here, and written into the OpenAPI document from here. */
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

const MAX_TAGS = 50;

const instant = z.iso.datetime({ precision: 3 }).describe('ISO 8601, UTC, with milliseconds.');
const reason = z.enum(REASONS).meta({ id: 'Reason', description: 'Why it stands as it does; for programs.' });
const runState = z.enum(RUN_STATES).meta({ id: 'RunState' });
const nodeState = z.enum(NODE_STATES).meta({ id: 'NodeState' });
const message = z.string().describe('Why it stands as it does; for people.');
const json = z.unknown().describe('Any JSON value.');
const progress = z.number().min(0).max(1);

const errorInfo = z
  .strictObject({ name: z.string(), message: z.string() })
  .meta({ id: 'Error', description: 'What failed, as in ASL: a stable name, and a message for people.' });

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

const map = z
  .strictObject({
    total: z.int().describe('Items of the list.'),
    counts: z.partialRecord(nodeState, z.int()).describe('Items by state; states that no item has are left out.'),
  })
  .meta({ id: 'Map', description: 'The items of a map; there once it has its list.' });

const branch = z
  .strictObject({ chosen: z.array(z.string()).readonly() })
  .meta({ id: 'Branch', description: 'Ids of the direct downstreams that a branch chose.' });

const work = {
  state: nodeState,
  reason,
  message,
  since: instant,
  attempt: z
    .int()
    .describe('Number of the last attempt; 0 before the first one, and of a map: its items have attempts.'),
  executionArn: z.string().optional(),
  childRunId: z.string().optional().describe('The run that a pipeline node started.'),
  startedAt: instant.optional(),
  endedAt: instant.optional(),
  nextAttemptAt: instant.optional(),
  output: json.optional(),
  outputRef: z.string().optional().describe('Address of an output that is too large to be shown here.'),
  error: errorInfo.optional(),
};

/** A node of a run. */
export const nodeSchema = z
  .strictObject({
    id: z.string(),
    ...work,
    engine: z.string(),
    progress: progress.optional(),
    map: map.optional(),
    branch: branch.optional(),
  })
  .meta({ id: 'Node' });

/** An item of a map. */
export const mapItemSchema = z
  .strictObject({ index: z.int().describe('Its place in the list, from 0.'), ...work })
  .meta({ id: 'MapItem' });

/** An attempt of a node, or of an item of a map. */
export const attemptSchema = z
  .strictObject({
    attempt: z.int(),
    item: z.int().optional().describe('Index of the item, for an item of a map.'),
    state: z.enum(['RUNNING', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED']),
    executionArn: z.string().optional(),
    childRunId: z.string().optional().describe('The run that a pipeline node started.'),
    startedAt: instant.optional(),
    endedAt: instant.optional(),
    error: errorInfo.optional(),
    ignored: z
      .array(
        z.strictObject({
          status: z.enum(['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED']),
          endedAt: instant,
          error: errorInfo.optional(),
        }),
      )
      .readonly()
      .describe('Completions that came after the attempt was over, and changed nothing.'),
  })
  .meta({ id: 'Attempt' });

/** An entry of a run's history. */
export const historyEntrySchema = z
  .strictObject({
    at: instant,
    rev: z.int().describe('Revision number of the run that this change made.'),
    node: z.string().optional().describe('Absent where the run itself changed.'),
    state: z.union([nodeState, runState]),
    reason,
    attempt: z.int().optional(),
    items: z.array(z.int()).readonly().optional().describe('Indices of the items of a map that it is about.'),
    branch: branch.optional(),
    error: errorInfo.optional(),
    by: z.string().optional(),
  })
  .meta({ id: 'HistoryEntry' });

/** An unfinished node of a run. */
export const unfinishedSchema = z
  .strictObject({
    id: z.string(),
    state: nodeState,
    reason,
    message,
    since: instant,
    movedBy: z.string().describe('What would move it, as a sentence.'),
    upstreams: z.array(z.string()).readonly().optional(),
    engine: z.string().optional(),
    executionArn: z.string().optional(),
    childRunId: z.string().optional().describe('The run that a pipeline node started.'),
    nextAttemptAt: instant.optional(),
    deadline: instant
      .optional()
      .describe('When its attempt is ended, or a node that waits is given up, if nothing happens before.'),
    map: map.optional(),
  })
  .meta({ id: 'Unfinished' });

/** What a run waits for. */
export const explanationSchema = z
  .strictObject({
    run: z.strictObject({ id: z.string(), state: runState, reason, message, since: instant }),
    items: z.array(unfinishedSchema).readonly(),
    nextCursor: z.string().optional(),
  })
  .meta({ id: 'Explanation' });

/** What became of a stop. */
export const stopAnswerSchema = z
  .strictObject({
    outcome: z.enum(['ACCEPTED', 'ALREADY_STOPPING', 'ALREADY_FINISHED']),
    message: z.string(),
    run: runSchema,
  })
  .meta({ id: 'StopAnswer' });

const condition = z
  .strictObject({
    type: z.literal('Ready'),
    status: z.enum(['True', 'False', 'Unknown']),
    reason: z.enum(['EnginesAvailable', 'NoEngine']),
    message: z.string(),
    lastTransitionTime: instant,
    observedRevision: z.string(),
  })
  .meta({ id: 'Condition' });

const pipelineLine = {
  name: z.string(),
  revision: z.string(),
  paused: z.boolean(),
  createdAt: instant,
  updatedAt: instant,
};

/** A line of the list of pipelines. */
export const pipelineLineSchema = z.strictObject(pipelineLine).meta({ id: 'PipelineLine' });

/** A pipeline with one of its revisions. */
export const pipelineResourceSchema = z
  .strictObject({
    ...pipelineLine,
    definition: z.unknown().meta({ description: 'As it was put: see schemas/pipeline.schema.json.' }),
    conditions: z.array(condition).readonly(),
  })
  .meta({ id: 'Pipeline' });

/** A revision of a pipeline. */
export const revisionSchema = z.strictObject({ revision: z.string(), createdAt: instant }).meta({ id: 'Revision' });

/** What a check of a definition answers. */
export const validationSchema = z
  .strictObject({ valid: z.literal(true), nodes: z.int(), edges: z.int() })
  .meta({ id: 'Validation' });

/** What the health check answers. */
export const healthSchema = z
  .strictObject({ status: z.literal('ok'), installation: z.string(), time: instant })
  .meta({ id: 'Health' });

/** A problem. */
export const problemSchema = z
  .strictObject({
    type: z.string().describe('Address of the documentation page of the code.'),
    title: z.string(),
    status: z.int(),
    code: z.string(),
    detail: z.string(),
    errors: z
      .array(
        z.strictObject({
          path: z.string(),
          code: z.string(),
          message: z.string(),
          value: json.optional(),
          allowed: z.string().optional(),
          suggestion: z.string().optional(),
          line: z.int().optional(),
          column: z.int().optional(),
        }),
      )
      .readonly()
      .optional(),
    requestId: z.string(),
  })
  .meta({ id: 'Problem', description: 'RFC 9457.' });

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

/** A body without a field. */
export const emptyRequestSchema = z.strictObject({});

/** A list of something. */
export function pageSchema(item: z.ZodType): z.ZodType {
  return z.strictObject({ items: z.array(item).readonly(), nextCursor: z.string().optional() });
}

/** `limit` of a list. */
export const limitSchema = z
  .string()
  .regex(/^\d{1,6}$/, 'is a whole number from 1 to 1000')
  .transform(Number)
  .pipe(z.int().min(1).max(1000));

/** `item`: the index of an item of a map. */
export const itemSchema = z
  .string()
  .regex(/^\d{1,6}$/, 'is the index of an item: a whole number from 0')
  .transform(Number)
  .pipe(z.int().min(0));

/** A parameter that is true or false. */
export const flagSchema = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .pipe(z.boolean());

/** `wait` of a run. */
export const waitSchema = z
  .string()
  .regex(/^\d{1,6}$/, 'is a whole number of seconds from 0 to 20')
  .transform(Number)
  .pipe(z.int().min(0).max(20));
