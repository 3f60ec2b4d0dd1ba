/** Who holds the slots of an engine or a pool, and who waits for them. */
import * as z from 'zod';
import { instant } from './field-schemas.ts';

const holder = z
  .strictObject({
    run: z.string(),
    pipeline: z.string(),
    slots: z.int().describe('Slots that it was granted and has not given back.'),
    nodes: z.array(z.string()).readonly().optional().describe('Nodes whose attempts hold them, for the first runs.'),
  })
  .meta({ id: 'SlotHolder' });

const waiting = z
  .strictObject({
    count: z.int().describe('Runs that wait.'),
    hasMore: z.literal(true).optional().describe('More wait than were counted.'),
    first: z
      .array(z.strictObject({ run: z.string(), pipeline: z.string(), priority: z.int(), since: instant }))
      .readonly()
      .describe('Some of them: by pipeline, then priority, then age.'),
  })
  .meta({ id: 'SlotWaiting' });

/** What a limit shows of its slots where it is read by itself. */
export const slotFields = { holders: z.array(holder).readonly().optional(), waiting: waiting.optional() };
