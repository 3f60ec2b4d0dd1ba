/** What the code of a node says of its progress. */
import * as z from 'zod';
import { REPORT_LIMITS } from '#domain/report.ts';
import { reportProgress } from '#scheduler/report-progress.ts';
import { progress } from './field-schemas.ts';
import { attemptSchema, itemSchema } from './parameter-schemas.ts';
import { ApiProblem } from './problem.ts';
import { BODY_PROBLEMS, readJsonBody } from './request-body.ts';
import { defineRoute } from './route.ts';
import { nodeAt, readScope } from './run-reading.ts';

/** What an attempt says of itself. */
export const progressRequestSchema = z
  .strictObject({
    token: z.string().min(1).max(100).describe('Token of the attempt, from the input of its execution.'),
    progress: progress.describe('The share that is done; what is shown is never lowered.'),
    message: z.string().max(REPORT_LIMITS.messageLength).optional().describe('For people.'),
  })
  .meta({ id: 'ProgressRequest' });

/** `POST /v1/runs/{runId}/nodes/{node}/progress` */
export const progressRoute = defineRoute({
  method: 'POST',
  path: '/v1/runs/{runId}/nodes/{node}/progress',
  operationId: 'reportProgress',
  summary: "Reports the progress of an attempt; for the node's own code",
  query: {
    item: { schema: itemSchema, description: 'The item of a map that the attempt is of, by its index from 0.' },
    attempt: { schema: attemptSchema, description: 'Number of the attempt. Default: the one that the token is of.' },
  },
  body: { mediaTypes: ['application/json'], schema: progressRequestSchema, required: true },
  answers: { 204: { description: 'It is taken; of several in one second, the first is kept' } },
  problems: [
    ...BODY_PROBLEMS,
    'INVALID_PARAMETER',
    'INVALID_TOKEN',
    'RUN_NOT_FOUND',
    'NODE_NOT_FOUND',
    'ATTEMPT_OVER',
    'DAMAGED_RUN',
    'NEWER_RUN',
  ],
  async handle({ deps, request, query, pathPart }) {
    const { token, progress: share, message } = readJsonBody(request, progressRequestSchema);
    const scope = await readScope(deps, pathPart('runId'));
    const node = nodeAt(scope, pathPart('node'));
    const { item, attempt } = query;
    const reporter = { node: node.index, item, attempt, token, maxAttempts: node.retry.maxAttempts };
    const said = { progress: share, ...(message !== undefined && { message }) };
    const outcome = await reportProgress(deps, scope.run, reporter, said);
    if (outcome === 'taken') return { status: 204, headers: {} };
    const name = `${JSON.stringify(node.id)}${item === undefined ? '' : `, item ${item}`}`;
    if (outcome === 'over') {
      throw new ApiProblem('ATTEMPT_OVER', `The attempt of node ${name} is over, or is being ended.`);
    }
    const which = attempt === undefined ? 'any attempt' : `attempt ${attempt}`;
    throw new ApiProblem('INVALID_TOKEN', `The token is not that of ${which} of node ${name}.`);
  },
});
