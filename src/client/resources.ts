/** What the API takes and answers, as types: made from the schemas by which the server checks and tells it. */
import type * as z from 'zod';
import type { answerRequestSchema, markRequestSchema } from '#http/asked-schemas.ts';
import type { backfillRequestSchema } from '#http/backfill-request.ts';
import type { backfillPlanSchema, backfillSchema } from '#http/backfill-schemas.ts';
import type { engineLineSchema, engineRequestSchema, engineSchema } from '#http/engine-schemas.ts';
import type { map } from '#http/field-schemas.ts';
import type { liveTicketSchema } from '#http/live-schemas.ts';
import type { logLineSchema } from '#http/log-schemas.ts';
import type { attemptSchema, mapItemSchema, nodeSchema } from '#http/node-schemas.ts';
import type { pipelineLineSchema, revisionSchema, validationSchema } from '#http/pipeline-schemas.ts';
import type { poolLineSchema, poolSchema } from '#http/pool-schemas.ts';
import type { problemSchema } from '#http/problem-schema.ts';
import type { progressRequestSchema } from '#http/progress-route.ts';
import type {
  commandAnswerSchema,
  rerunRequestSchema,
  runLineSchema,
  runSchema,
  startRequestSchema,
} from '#http/run-schemas.ts';
import type { explanationSchema, historyEntrySchema, unfinishedSchema } from '#http/story-schemas.ts';
import type { healthSchema } from '#http/system-schemas.ts';
import type { pipelineSchema } from './pipeline-answer.ts';

/** A run. */
export type Run = z.output<typeof runSchema>;
/** State of a run. */
export type RunState = Run['state'];
/** A line of the list of runs. */
export type RunLine = z.output<typeof runLineSchema>;
/** What starts a run. */
export type StartRequest = z.input<typeof startRequestSchema>;
/** What starts a run again. */
export type RerunRequest = z.input<typeof rerunRequestSchema>;
/** What became of a command to a run. */
export type CommandAnswer = z.output<typeof commandAnswerSchema>;
/** An entry of a run's history. */
export type HistoryEntry = z.output<typeof historyEntrySchema>;
/** What a run waits for. */
export type Explanation = z.output<typeof explanationSchema>;
/** An unfinished node of a run. */
export type Unfinished = z.output<typeof unfinishedSchema>;

/** A node of a run. */
export type RunNode = z.output<typeof nodeSchema>;
/** State of a node, or of an item of a map. */
export type NodeState = RunNode['state'];
/** How far a map is. */
export type MapProgress = z.output<typeof map>;
/** An item of a map. */
export type MapItem = z.output<typeof mapItemSchema>;
/** An attempt of a node, or of an item of a map. */
export type Attempt = z.output<typeof attemptSchema>;
/** A line of a log. */
export type LogLine = z.output<typeof logLineSchema>;
/** What decides a node by hand. */
export type MarkRequest = z.input<typeof markRequestSchema>;
/** What answers an approval. */
export type AnswerRequest = z.input<typeof answerRequestSchema>;
/** What the code of an attempt says of its progress. */
export type ProgressRequest = z.input<typeof progressRequestSchema>;

/** A pipeline with one of its revisions. */
export type Pipeline = z.output<typeof pipelineSchema>;
/** A line of the list of pipelines. */
export type PipelineLine = z.output<typeof pipelineLineSchema>;
/** A revision of a pipeline. */
export type Revision = z.output<typeof revisionSchema>;
/** What a check of a definition answers. */
export type Validation = z.output<typeof validationSchema>;
/** What asks for a backfill. */
export type BackfillRequest = z.input<typeof backfillRequestSchema>;
/** A backfill under way. */
export type Backfill = z.output<typeof backfillSchema>;
/** What a dry run of a backfill answers. */
export type BackfillPlan = z.output<typeof backfillPlanSchema>;

/** An engine. */
export type Engine = z.output<typeof engineSchema>;
/** A line of the list of engines. */
export type EngineLine = z.output<typeof engineLineSchema>;
/** What registers an engine. */
export type EngineRequest = z.input<typeof engineRequestSchema>;
/** A pool. */
export type Pool = z.output<typeof poolSchema>;
/** A line of the list of pools. */
export type PoolLine = z.output<typeof poolLineSchema>;

/** A ticket for live updates. */
export type LiveTicket = z.output<typeof liveTicketSchema>;
/** That the API answers. */
export type Health = z.output<typeof healthSchema>;
/** A problem, as the API answers it (RFC 9457). */
export type ProblemDetails = z.output<typeof problemSchema>;
