/** The events on the bus: the shape of each `detail`, checked here and published in `schemas/events/`. */

import * as z from 'zod';
import { MAX_RUN_DEPTH } from '#domain/built-in-engines.ts';
import { REASONS } from '#domain/reasons.ts';
import { RUN_STATES } from '#domain/run.ts';
import { instant, NODE_STATES } from './field-schemas.ts';
import { conditionSchema } from './pipeline-schemas.ts';
import { tagsSchema } from './run-schemas.ts';

/**
 * Hops after which an event is refused: something answers its own answers. A run that a request of so many hops starts
 * has so many above it, so it is the limit of those too.
 */
export const MAX_HOPS = MAX_RUN_DEPTH;

const head = {
  schemaVersion: z.literal(1),
  hops: z.int().min(0).describe(`Events that led to this one; beyond ${MAX_HOPS} it is refused.`),
};

/** What other systems send may leave the head out. */
const requestHead = { schemaVersion: z.literal(1).default(1), hops: z.int().min(0).default(0) };

const runState = z.enum(RUN_STATES);
const reason = z.enum(REASONS);

/** `RunRequested`: asks for a run. From any source but our own. */
export const runRequestedSchema = z.strictObject({
  ...requestHead,
  pipeline: z.string(),
  input: z.unknown().optional().describe('Any JSON value. Default {}.'),
  idempotencyKey: z.string().optional().describe("1 to 255 printable characters. Default: the event's own id."),
  tags: tagsSchema.optional(),
  revision: z.string().optional().describe('Default: the newest.'),
  causedBy: z
    .strictObject({ run: z.string() })
    .optional()
    .describe('The run whose node asks: it counts as one that led to this, whatever `hops` says.'),
});

/** `StopRequested`: asks for a run to be stopped. From any source but our own. */
export const stopRequestedSchema = z.strictObject({ ...requestHead, runId: z.string() });

/** `RunRejected`: a request, or a start by a schedule, was no good, and will not be tried again. */
export const runRejectedSchema = z.strictObject({
  ...head,
  eventId: z.string().optional().describe('Id of the event that was refused; absent for a start by a schedule.'),
  entry: z.string().optional().describe('The entry of the schedule.'),
  instant: instant.optional().describe('The instant of the schedule.'),
  source: z.string().optional(),
  detailType: z.string().optional(),
  trigger: z.string().optional().describe('Name of the trigger that made a request of the event.'),
  pipeline: z.string().optional(),
  runId: z.string().optional(),
  code: z.string(),
  message: z.string(),
  errors: z.array(z.strictObject({ path: z.string(), code: z.string(), message: z.string() })).optional(),
});

/**
 * `PipelineChanged`: a pipeline has a new revision or another condition, was paused, resumed or deleted. May be
 * repeated; of events with the same `createdAt`, a higher `version` is newer.
 */
export const pipelineChangedSchema = z.strictObject({
  ...head,
  pipeline: z.string(),
  createdAt: instant.describe('Since when it is there: one that was deleted and put again counts versions anew.'),
  revision: z.string(),
  version: z.int(),
  paused: z.boolean(),
  conditions: z.array(conditionSchema).describe('As `GET /v1/pipelines/{name}` shows them.'),
  deleted: z.literal(true).optional().describe('It is being deleted, and starts nothing more.'),
});

/** `EngineChanged`: an engine was put, drained or removed, fell silent, or came back. A higher `rev` is newer. */
export const engineChangedSchema = z.strictObject({
  ...head,
  engine: z.string(),
  generation: z.int(),
  rev: z.int(),
  status: z.enum(['Available', 'Draining', 'Unavailable', 'Removed']),
  reason: z.enum(['Ready', 'Drained', 'HeartbeatMissed', 'StateMachineGone', 'Removed']),
  message: z.string(),
});

/** `RunChanged`: a run's state changed, or its nodes where the pipeline says `events: nodes`. */
export const runChangedSchema = z.strictObject({
  ...head,
  runId: z.string(),
  pipeline: z.string(),
  revision: z.string(),
  sinceRev: z.int(),
  rev: z.int(),
  state: runState,
  previousState: runState.optional(),
  reason,
  nodes: z.array(z.strictObject({ id: z.string(), state: z.enum(NODE_STATES), reason, attempt: z.int() })).optional(),
  truncated: z.boolean().optional(),
});

/** All events, by detail type. */
export const EVENT_SCHEMAS = {
  RunRequested: runRequestedSchema,
  StopRequested: stopRequestedSchema,
  RunRejected: runRejectedSchema,
  PipelineChanged: pipelineChangedSchema,
  EngineChanged: engineChangedSchema,
  RunChanged: runChangedSchema,
} as const;
