/** Runs: start, list, get. */
import * as z from 'zod';
import { NAME_PATTERN } from '#domain/definition-schema.ts';
import { isRunId } from '#domain/execution-name.ts';
import type { Json } from '#domain/json.ts';
import { isRunOver } from '#domain/run.ts';
import type { RunScope } from '#domain/run-scope.ts';
import type { RunHeader } from '#ports/index.ts';
import { startPart } from '#scheduler/start-part.ts';
import { type StartRequest, startRun } from '#scheduler/start-run.ts';
import { jsonResponse } from './api-message.ts';
import { pageSchema } from './field-schemas.ts';
import { answerOutput, REDIRECT_TO_OUTPUT } from './large-output.ts';
import { fromCursor, toCursor } from './paging.ts';
import { instantSchema, waitSchema } from './parameter-schemas.ts';
import { pipelineNotFound } from './pipeline-routes.ts';
import { ApiProblem, PIPELINE_PROBLEMS } from './problem.ts';
import { DEFAULT_LIMIT, paging, runState } from './query-parameters.ts';
import { BODY_PROBLEMS, readJsonBody } from './request-body.ts';
import { type ApiDeps, defineRoute, type QueryParameter } from './route.ts';
import { toRunLine } from './run-line.ts';
import { readRunView, readScope, runNotFound } from './run-reading.ts';
import { runLineSchema, runSchema, startRequestSchema } from './run-schemas.ts';
import { answerStart, KEY_HEADER, START_ANSWERS } from './started-run.ts';

/** Time between two looks at a run that somebody waits for (ms). */
const WAIT_STEP_MS = 250;

/** `POST /v1/pipelines/{name}/runs` */
export const startRunRoute = defineRoute({
  method: 'POST',
  path: '/v1/pipelines/{name}/runs',
  operationId: 'startRun',
  summary: 'Starts a run',
  headers: KEY_HEADER,
  body: { mediaTypes: ['application/json'], schema: startRequestSchema, required: false },
  answers: START_ANSWERS,
  problems: [
    ...BODY_PROBLEMS,
    'INVALID_KEY',
    'PIPELINE_NOT_FOUND',
    'RUN_NOT_FOUND',
    'IDEMPOTENCY_CONFLICT',
    'BUSY',
    'NOTHING_TO_RUN',
    'UNKNOWN_NODE',
    'UNKNOWN_REVISION',
    'INVALID_INPUT',
    'DAMAGED_RUN',
    'NEWER_RUN',
    ...PIPELINE_PROBLEMS,
  ],
  async handle({ deps, request, pathPart }) {
    const name = pathPart('name');
    const body = readJsonBody(request, startRequestSchema);
    if (!NAME_PATTERN.test(name)) throw pipelineNotFound(name);
    const key = request.headers.get('idempotency-key');
    const { revision, only, reuse } = body;
    if (reuse && !isRunId(reuse.runId)) throw runNotFound(reuse.runId);
    const asked: StartRequest = {
      pipeline: name,
      input: body.input as Json | undefined,
      revision,
      tags: Object.entries(body.tags ?? {}),
      cause: key === undefined ? undefined : { kind: 'key', key },
      trigger: { type: 'api', ...(request.by !== undefined && { by: request.by }) },
    };
    const outcome =
      only || reuse ? await startPart(deps, { ...asked, only, reuse: reuse?.runId }) : await startRun(deps, asked);
    const nodes = only?.map((id, at) => [['only', at], id] as const);
    return answerStart(deps, outcome, { pipeline: name, key, revision, runId: reuse?.runId, ...(nodes && { nodes }) });
  },
});

const listQuery = {
  ...paging,
  pipeline: { schema: z.string(), description: 'Only runs of this pipeline.' },
  state: runState,
  tag: {
    schema: z.array(z.string().regex(/^[^:]+:/, 'has the form key:value')),
    description: 'Only runs with this tag, `key:value`; of several, all are asked for.',
    repeatable: true,
  } as QueryParameter<string[]>,
  from: { schema: instantSchema, description: 'Only runs created then or later.' },
  to: { schema: instantSchema, description: 'Only runs created before.' },
};

/** `GET /v1/runs` */
export const listRunsRoute = defineRoute({
  method: 'GET',
  path: '/v1/runs',
  operationId: 'listRuns',
  summary: 'Lists runs, newest first',
  query: listQuery,
  answers: { 200: { description: 'A page', schema: pageSchema(runLineSchema) } },
  problems: ['INVALID_PARAMETER', 'INVALID_PAGE_TOKEN'],
  async handle({ deps, query }) {
    const filter = toFilter(query);
    const listed = { list: 'runs', ...filter } as unknown as Json;
    const position = z.strictObject({ createdAt: z.number(), id: z.string() });
    const after = query.cursor === undefined ? undefined : fromCursor(query.cursor, listed, position);
    const limit = query.limit ?? DEFAULT_LIMIT;
    const { items, last } = await deps.runs.listRuns({ ...filter, limit, ...(after && { after }) });
    return jsonResponse(200, {
      items: items.map(toRunLine),
      ...(last && { nextCursor: toCursor(listed, { createdAt: last.createdAt, id: last.id }) }),
    });
  },
});

interface ListQuery {
  readonly pipeline: string | undefined;
  readonly state: RunHeader['state'][] | undefined;
  readonly tag: string[] | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

function toFilter({ pipeline, state, tag, from, to }: ListQuery) {
  return {
    ...(pipeline !== undefined && { pipeline }),
    ...(state && { states: [...new Set(state)].sort() }),
    ...(tag && { tags: [...new Set(tag)].sort().map(toTag) }),
    ...(from !== undefined && { from: Date.parse(from) }),
    ...(to !== undefined && { to: Date.parse(to) }),
  };
}

function toTag(text: string): readonly [string, string] {
  const colon = text.indexOf(':');
  return [text.slice(0, colon), text.slice(colon + 1)];
}

/** `GET /v1/runs/{runId}` */
export const getRunRoute = defineRoute({
  method: 'GET',
  path: '/v1/runs/{runId}',
  operationId: 'getRun',
  summary: 'A run; waits for its end if asked to',
  query: { wait: { schema: waitSchema, description: 'Seconds to wait for its end, at most 20. Default 0.' } },
  answers: { 200: { description: 'The run', schema: runSchema } },
  problems: ['INVALID_PARAMETER', 'RUN_NOT_FOUND', 'DAMAGED_RUN', 'NEWER_RUN'],
  async handle({ deps, query, pathPart }) {
    const scope = await readScope(deps, pathPart('runId'));
    const ended = await untilOver(deps, scope, query.wait ?? 0);
    return jsonResponse(200, await readRunView(deps, ended));
  },
});

/** `GET /v1/runs/{runId}/output` */
export const getRunOutputRoute = defineRoute({
  method: 'GET',
  path: '/v1/runs/{runId}/output',
  operationId: 'getRunOutput',
  summary: 'The output of a run, as it is',
  answers: { 200: { description: 'The output', schema: z.unknown() }, 307: REDIRECT_TO_OUTPUT },
  problems: ['RUN_NOT_FOUND', 'OUTPUT_NOT_FOUND', 'OUTPUT_TOO_LARGE', 'DAMAGED_RUN', 'NEWER_RUN'],
  async handle({ deps, pathPart }) {
    const { run } = await readScope(deps, pathPart('runId'));
    const text = run.outputKey === undefined ? undefined : await deps.runs.readValue(run, run.outputKey);
    if (text === undefined)
      throw new ApiProblem('OUTPUT_NOT_FOUND', `Run ${run.id} is ${run.state} and has no output.`);
    return answerOutput(deps, text, `run ${run.id}`);
  },
});

async function untilOver(deps: ApiDeps, scope: RunScope, seconds: number): Promise<RunScope> {
  const until = scope.now + seconds * 1000;
  let current = scope;
  while (!isRunOver(current.run.state) && deps.clock.now() < until) {
    await deps.sleep(Math.min(WAIT_STEP_MS, until - deps.clock.now()));
    current = await readScope(deps, scope.run.id);
  }
  return current;
}
