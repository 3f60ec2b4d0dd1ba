/** Backfills, as the API takes and shows them. */
import * as z from 'zod';
import { MAX_BACKFILL, MAX_BACKFILL_RUNS } from '#domain/backfill.ts';
import { instant } from './field-schemas.ts';
import { instantSchema } from './parameter-schemas.ts';

const direction = z.enum(['forward', 'backward']);

/** What asks for a backfill. */
export const backfillRequestSchema = z
  .strictObject({
    from: instantSchema.describe('The first instant that may be in it.'),
    to: instantSchema.describe('The last instant that may be in it; not in the future.'),
    maxActiveRuns: z.int().min(1).max(MAX_BACKFILL_RUNS).optional().describe('Runs of it at once. Default 1.'),
    direction: direction.optional().describe('`forward`: the oldest instant first. Default forward.'),
    dryRun: z.boolean().optional().describe('Only says which instants there are. Default false.'),
  })
  .meta({ id: 'BackfillRequest' });

/** What a dry run answers. */
export const backfillPlanSchema = z
  .strictObject({
    instants: z
      .array(z.strictObject({ entry: z.string(), instant }))
      .readonly()
      .describe(`In the order in which they would be started; at most ${MAX_BACKFILL}.`),
  })
  .meta({ id: 'BackfillPlan' });

/** A backfill under way. */
export const backfillSchema = z
  .strictObject({
    id: z.string(),
    revision: z.string().describe('Revision of its runs.'),
    from: instant,
    to: instant,
    direction,
    maxActiveRuns: z.int(),
    at: instant.describe('When it was asked for.'),
    by: z.string().optional(),
    total: z.int().describe('Its instants.'),
    started: z.int().describe('How many of them have their runs.'),
    active: z.array(z.string()).readonly().describe('Ids of its runs that were active when they were looked at last.'),
  })
  .meta({ id: 'Backfill' });
