/** What users may say about nodes: marks, and answers to approvals. */
import * as z from 'zod';
import { formatPath, type PathSegment } from '#domain/definition-path.ts';
import { canonicalJson, type Json } from '#domain/json.ts';
import { PAYLOAD_LIMITS } from '#domain/payload-ref.ts';
import { MARK_STATES } from '#domain/run.ts';
import { json } from './field-schemas.ts';
import { ApiProblem } from './problem.ts';

const remark = z.string().min(1).max(1000);
const givenOutput = json.optional().describe('At most 256 KiB of JSON. Default null.');

/** What decides a node by hand. */
export const markRequestSchema = z
  .strictObject({
    state: z.enum(MARK_STATES).describe('What becomes of the node.'),
    output: givenOutput.describe('Output of a node that is marked SUCCEEDED; at most 256 KiB of JSON. Default null.'),
    note: remark.optional().describe('Why; kept in the history.'),
  })
  .meta({ id: 'MarkRequest' });

/** What answers an approval. */
export const answerRequestSchema = z
  .strictObject({
    approve: z.boolean().describe('False: the node fails with Millrace.ApprovalDenied.'),
    token: z
      .string()
      .max(100)
      .optional()
      .describe('Token of the attempt, to answer no other. Default: whichever waits.'),
    output: givenOutput.describe('Output of an approved node; at most 256 KiB of JSON. Default null.'),
    comment: remark.optional().describe('Kept in the history.'),
  })
  .meta({ id: 'AnswerRequest' });

/**
 * Refuses an output that cannot be given.
 * @param isTaken whether what is asked takes one at all
 * @param taker what takes one, in words
 * @param at where the request says it
 * @throws ApiProblem INVALID_REQUEST
 */
export function checkGivenOutput(
  output: Json,
  isTaken: boolean,
  taker: string,
  at: readonly PathSegment[] = ['output'],
): void {
  const bytes = Buffer.byteLength(canonicalJson(output));
  if (isTaken && bytes <= PAYLOAD_LIMITS.direct) return;
  const message = isTaken
    ? `is ${bytes} bytes long as JSON; at most ${PAYLOAD_LIMITS.direct} are taken`
    : `is only for ${taker}`;
  const error = { path: formatPath(at), code: isTaken ? 'TOO_LARGE' : 'INVALID_FIELD', message };
  throw new ApiProblem('INVALID_REQUEST', `${error.path}: ${message}.`, { errors: [error] });
}

/**
 * Refuses a mark whose output cannot be given.
 * @param at where the request says the mark
 * @throws ApiProblem INVALID_REQUEST
 */
export function checkMark(
  { state, output }: z.output<typeof markRequestSchema>,
  at: readonly PathSegment[] = [],
): void {
  if (output === undefined) return;
  checkGivenOutput(output as Json, state === 'SUCCEEDED', 'a node that is marked SUCCEEDED', [...at, 'output']);
}
