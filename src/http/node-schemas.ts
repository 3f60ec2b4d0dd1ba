/** Nodes, items of maps, and attempts, as the API shows them. */
import * as z from 'zod';
import {
  branch,
  errorInfo,
  instant,
  json,
  map,
  message,
  nodeState,
  progress,
  reason,
  report,
  reusedFrom,
} from './field-schemas.ts';

const approval = z
  .strictObject({
    prompt: z.string(),
    token: z.string().describe('Proves that an answer is for this very attempt.'),
    expiresAt: instant,
  })
  .meta({ id: 'Approval', description: 'What a node asks, while it waits for an answer.' });

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
  report: report.optional(),
  approval: approval.optional(),
  output: json.optional(),
  outputRef: z.string().optional().describe('Address of an output that is too large to be shown here.'),
  error: errorInfo.optional(),
  reusedFrom,
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
    report: report.optional(),
    by: z.string().optional().describe('Who answered it, or marked its node.'),
    note: z.string().optional().describe('What they said about it.'),
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
