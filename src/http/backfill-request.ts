/** Backfills, as the API takes them. */
import * as z from 'zod';
import { MAX_BACKFILL_RUNS } from '#domain/backfill.ts';
import { backfillDirection } from './backfill-schemas.ts';
import { instantSchema } from './parameter-schemas.ts';

/** What asks for a backfill. */
export const backfillRequestSchema = z
  .strictObject({
    from: instantSchema.describe('The first instant that may be in it.'),
    to: instantSchema.describe('The last instant that may be in it; not in the future.'),
    maxActiveRuns: z.int().min(1).max(MAX_BACKFILL_RUNS).optional().describe('Runs of it at once. Default 1.'),
    direction: backfillDirection.optional().describe('`forward`: the oldest instant first. Default forward.'),
    dryRun: z.boolean().optional().describe('Only says which instants there are. Default false.'),
  })
  .meta({ id: 'BackfillRequest' });
