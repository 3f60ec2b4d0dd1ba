/** Pipelines, as the API shows them. */
import * as z from 'zod';
import { READY_REASONS } from '#domain/conditions.ts';
import { backfillSchema } from './backfill-schemas.ts';
import { instant } from './field-schemas.ts';

/** A condition of a pipeline. */
export const conditionSchema = z
  .strictObject({
    type: z.literal('Ready'),
    status: z.enum(['True', 'False', 'Unknown']),
    reason: z.enum(READY_REASONS),
    message: z.string(),
    lastTransitionTime: instant.describe('When `status` became what it is.'),
    observedRevision: z.string(),
  })
  .meta({ id: 'Condition' });

const pipelineLine = {
  name: z.string(),
  revision: z.string(),
  paused: z.boolean(),
  pausedAt: instant.optional(),
  pausedBy: z.string().optional(),
  conditions: z.array(conditionSchema).readonly(),
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
    nextInstants: z
      .array(z.strictObject({ entry: z.string(), instant }))
      .readonly()
      .optional()
      .describe('The next instant of each entry of its schedule, the soonest first; none while it is paused.'),
    rejectedStarts: z
      .array(z.strictObject({ entry: z.string(), instant, code: z.string(), message: z.string() }))
      .readonly()
      .optional()
      .describe('The last start of an entry that the pipeline refused, since it was put.'),
    backfills: z.array(backfillSchema).readonly().optional().describe('Those under way.'),
  })
  .meta({ id: 'Pipeline' });

/** A revision of a pipeline. */
export const revisionSchema = z.strictObject({ revision: z.string(), createdAt: instant }).meta({ id: 'Revision' });

/** What a check of a definition answers. */
export const validationSchema = z
  .strictObject({ valid: z.literal(true), nodes: z.int(), edges: z.int() })
  .meta({ id: 'Validation' });
