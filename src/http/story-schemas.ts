/** What happened in a run, and what it waits for, as the API tells it. */
import * as z from 'zod';
import {
  branch,
  errorInfo,
  instant,
  map,
  message,
  nodeState,
  reason,
  report,
  reusedFrom,
  runState,
} from './field-schemas.ts';

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
    note: z.string().optional().describe('What they said about it.'),
    reusedFrom,
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
    pool: z.string().optional().describe('The pool that it waits for a slot of.'),
    executionArn: z.string().optional(),
    childRunId: z.string().optional().describe('The run that a pipeline node started.'),
    nextAttemptAt: instant.optional(),
    deadline: instant
      .optional()
      .describe('When its attempt is ended, or a node that waits is given up, if nothing happens before.'),
    map: map.optional(),
    report: report.optional(),
  })
  .meta({ id: 'Unfinished' });

/** What a run waits for. */
export const explanationSchema = z
  .strictObject({
    run: z.strictObject({
      id: z.string(),
      state: runState,
      reason,
      message,
      since: instant,
      movedBy: z.string().optional().describe('What would move it, where it waits as a whole.'),
    }),
    items: z.array(unfinishedSchema).readonly(),
    nextCursor: z.string().optional(),
  })
  .meta({ id: 'Explanation' });
