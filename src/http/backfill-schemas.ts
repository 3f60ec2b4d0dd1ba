/** Backfills, as the API shows them. */
import * as z from 'zod';
import { instant } from './field-schemas.ts';

/** Which instants come first. */
export const backfillDirection = z.enum(['forward', 'backward']);

/** What a dry run answers. */
export const backfillPlanSchema = z
  .strictObject({
    instants: z
      .array(z.strictObject({ entry: z.string(), instant }))
      .readonly()
      .describe('In the order in which they would be started.'),
  })
  .meta({ id: 'BackfillPlan' });

/** A backfill under way. */
export const backfillSchema = z
  .strictObject({
    id: z.string(),
    revision: z.string().describe('Revision of its runs.'),
    from: instant,
    to: instant,
    direction: backfillDirection,
    maxActiveRuns: z.int(),
    at: instant.describe('When it was asked for.'),
    by: z.string().optional(),
    total: z.int().describe('Its instants.'),
    started: z.int().describe('How many of them have their runs.'),
    active: z.array(z.string()).readonly().describe('Ids of its runs that were active when they were looked at last.'),
  })
  .meta({ id: 'Backfill' });
