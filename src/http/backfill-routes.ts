import { type Backfill, MAX_BACKFILL, MAX_BACKFILLS } from '#domain/backfill.ts';
import { toIsoTime } from '#domain/iso-time.ts';
import { type BackfillAnswer, startBackfill } from '#scheduler/start-backfill.ts';
import { inputErrorsInWords } from '#scheduler/start-run.ts';
import { jsonResponse } from './api-message.ts';
import { backfillRequestSchema } from './backfill-request.ts';
import { backfillPlanSchema, backfillSchema } from './backfill-schemas.ts';
import { pipelineBusy, pipelineNotFound, readHead } from './pipeline-routes.ts';
import { viewBackfill } from './pipeline-view.ts';
import { ApiProblem, PIPELINE_PROBLEMS } from './problem.ts';
import { BODY_PROBLEMS, readJsonBody } from './request-body.ts';
import { defineRoute } from './route.ts';

/** `POST /v1/pipelines/{name}/backfills` */
export const startBackfillRoute = defineRoute({
  method: 'POST',
  path: '/v1/pipelines/{name}/backfills',
  operationId: 'startBackfill',
  summary: 'Runs the instants of a schedule in a range of time, so many at once',
  body: { mediaTypes: ['application/json'], schema: backfillRequestSchema, required: true },
  answers: {
    200: { description: `A dry run: the instants, at most ${MAX_BACKFILL}`, schema: backfillPlanSchema },
    202: { description: 'Accepted, or under way already', schema: backfillSchema },
  },
  problems: [
    ...BODY_PROBLEMS,
    'PIPELINE_NOT_FOUND',
    'INVALID_BACKFILL',
    'INVALID_INPUT',
    'TOO_MANY_BACKFILLS',
    'BUSY',
    ...PIPELINE_PROBLEMS,
  ],
  async handle({ deps, request, pathPart }) {
    const { name } = await readHead(deps, pathPart('name'));
    const body = readJsonBody(request, backfillRequestSchema);
    const [from, to] = [Date.parse(body.from), Date.parse(body.to)];
    if (from > to) throw invalid('`to` lies before `from`.');
    const answer = await startBackfill(deps, name, {
      from,
      to,
      direction: body.direction ?? 'forward',
      maxActiveRuns: body.maxActiveRuns ?? 1,
      by: request.by,
      isDryRun: body.dryRun,
    });
    if (answer.kind === 'dryRun') {
      const instants = answer.instants.map(({ entry, instant }) => ({ entry: entry.id, instant: toIsoTime(instant) }));
      return jsonResponse(200, { instants });
    }
    return jsonResponse(202, viewBackfill(acceptedBackfill(name, answer)));
  },
});

function acceptedBackfill(name: string, answer: Exclude<BackfillAnswer, { readonly kind: 'dryRun' }>): Backfill {
  switch (answer.kind) {
    case 'accepted':
    case 'already':
      return answer.backfill;
    case 'missing':
      throw pipelineNotFound(name);
    case 'busy':
      throw pipelineBusy();
    case 'noSchedule':
      throw invalid('The pipeline has no schedule.');
    case 'noInstant':
      throw invalid('No instant of its schedule lies in this range.');
    case 'future':
      throw invalid('`to` lies in the future; what is to come is started by the schedule.');
    case 'tooMany':
      throw invalid(`The range has ${answer.count} instants or more; a backfill has at most ${MAX_BACKFILL}.`);
    case 'tooManyBackfills':
      throw new ApiProblem('TOO_MANY_BACKFILLS', `${MAX_BACKFILLS} backfills of it are under way.`);
    case 'invalidInput': {
      const { entry, errors } = answer;
      const detail = `The input of entry ${JSON.stringify(entry)} is not valid: ${inputErrorsInWords(errors)}.`;
      throw new ApiProblem('INVALID_INPUT', detail, { errors });
    }
  }
}

function invalid(detail: string): ApiProblem {
  return new ApiProblem('INVALID_BACKFILL', detail);
}
