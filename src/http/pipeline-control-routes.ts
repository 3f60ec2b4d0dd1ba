/** What users ask of a pipeline: pause, resume, delete. Each is answered once it is committed. */
import { NAME_PATTERN } from '#domain/definition-schema.ts';
import { deletePipeline } from '#scheduler/delete-pipeline.ts';
import { type OrderOutcome, pausePipeline, resumePipeline } from '#scheduler/pause-pipeline.ts';
import { loadPipeline } from '#scheduler/pipelines.ts';
import { jsonResponse } from './api-message.ts';
import { emptyRequestSchema } from './field-schemas.ts';
import { flagSchema } from './parameter-schemas.ts';
import { pipelineBusy, pipelineNotFound } from './pipeline-routes.ts';
import { pipelineResourceSchema } from './pipeline-schemas.ts';
import { viewPipeline } from './pipeline-view.ts';
import { ApiProblem, PIPELINE_PROBLEMS } from './problem.ts';
import { BODY_PROBLEMS, readJsonBody } from './request-body.ts';
import { type ApiDeps, defineRoute, type Route } from './route.ts';

/** `POST /v1/pipelines/{name}/pause` */
export const pausePipelineRoute = orderRoute(
  'pause',
  pausePipeline,
  'Pauses a pipeline: neither its schedule nor events start runs',
);

/** `POST /v1/pipelines/{name}/resume` */
export const resumePipelineRoute = orderRoute(
  'resume',
  resumePipeline,
  'Resumes a pipeline; what its schedule passed over is not due later',
);

function orderRoute(
  word: 'pause' | 'resume',
  order: (deps: ApiDeps, name: string, by?: string) => Promise<OrderOutcome>,
  summary: string,
): Route {
  return defineRoute({
    method: 'POST',
    path: `/v1/pipelines/{name}/${word}`,
    operationId: `${word}Pipeline`,
    summary,
    body: { mediaTypes: ['application/json'], schema: emptyRequestSchema, required: false },
    answers: { 200: { description: 'The pipeline as it is now', schema: pipelineResourceSchema } },
    problems: [...BODY_PROBLEMS, 'PIPELINE_NOT_FOUND', 'BUSY', ...PIPELINE_PROBLEMS],
    async handle({ deps, request, pathPart }) {
      const name = pathPart('name');
      readJsonBody(request, emptyRequestSchema);
      if (!NAME_PATTERN.test(name)) throw pipelineNotFound(name);
      const outcome = await order(deps, name, request.by);
      if (!('head' in outcome)) throw outcome.kind === 'busy' ? pipelineBusy() : pipelineNotFound(name);
      const pipeline = await loadPipeline(deps.pipelines, name, outcome.head.revision);
      if (!pipeline) throw pipelineNotFound(name);
      return jsonResponse(200, viewPipeline(outcome.head, pipeline));
    },
  });
}

/** `DELETE /v1/pipelines/{name}` */
export const deletePipelineRoute = defineRoute({
  method: 'DELETE',
  path: '/v1/pipelines/{name}',
  operationId: 'deletePipeline',
  summary: 'Deletes a pipeline: from the answer on it starts nothing and is not there any more',
  query: { force: { schema: flagSchema, description: 'Whether active runs are stopped and removed. Default false.' } },
  answers: { 204: { description: 'It is deleted' } },
  problems: ['INVALID_PARAMETER', 'PIPELINE_NOT_FOUND', 'ACTIVE_RUNS', 'BUSY', ...PIPELINE_PROBLEMS],
  async handle({ deps, request, query, pathPart }) {
    const name = pathPart('name');
    if (!NAME_PATTERN.test(name)) throw pipelineNotFound(name);
    const outcome = await deletePipeline(deps, name, { isForced: query.force ?? false, by: request.by });
    switch (outcome.kind) {
      case 'deleted':
        return { status: 204, headers: {} };
      case 'missing':
        throw pipelineNotFound(name);
      case 'busy':
        throw pipelineBusy();
      case 'active': {
        const runs = outcome.count === 1 ? '1 run is' : `${outcome.count} runs are`;
        throw new ApiProblem(
          'ACTIVE_RUNS',
          `${runs} active; stop them first, or delete the pipeline with ?force=true.`,
        );
      }
    }
  },
});
