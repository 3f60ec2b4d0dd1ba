/** Runs started again. */
import { isRunId } from '#domain/execution-name.ts';
import type { Json } from '#domain/json.ts';
import { rerunRun } from '#scheduler/rerun-run.ts';
import { checkMark } from './asked-schemas.ts';
import { BODY_PROBLEMS, readJsonBody } from './request-body.ts';
import { defineRoute } from './route.ts';
import { runNotFound } from './run-reading.ts';
import { rerunRequestSchema } from './run-schemas.ts';
import { answerStart, KEY_HEADER, START_ANSWERS } from './started-run.ts';

/** `POST /v1/runs/{runId}/rerun` */
export const rerunRoute = defineRoute({
  method: 'POST',
  path: '/v1/runs/{runId}/rerun',
  operationId: 'rerun',
  summary: 'Starts a run again: a new run, which takes over what needs not run again',
  headers: KEY_HEADER,
  body: { mediaTypes: ['application/json'], schema: rerunRequestSchema, required: true },
  answers: START_ANSWERS,
  problems: [
    ...BODY_PROBLEMS,
    'INVALID_KEY',
    'RUN_NOT_FOUND',
    'PIPELINE_NOT_FOUND',
    'IDEMPOTENCY_CONFLICT',
    'BUSY',
    'RUN_ACTIVE',
    'NOTHING_TO_RUN',
    'UNKNOWN_NODE',
    'UNKNOWN_REVISION',
    'INVALID_INPUT',
    'DAMAGED_RUN',
    'NEWER_RUN',
  ],
  async handle({ deps, request, pathPart }) {
    const runId = pathPart('runId');
    if (!isRunId(runId)) throw runNotFound(runId);
    const body = readJsonBody(request, rerunRequestSchema);
    const { from, revision, input, mark = {} } = body;
    for (const [id, one] of Object.entries(mark)) checkMark(one, ['mark', id]);
    const key = request.headers.get('idempotency-key');
    const marks = Object.entries(mark).map(
      ([id, { output, ...rest }]) => [id, { ...rest, output: output as Json }] as const,
    );
    const outcome = await rerunRun(deps, {
      runId,
      from,
      revision,
      input: input as Json | undefined,
      marks: new Map(marks),
      key,
      by: request.by,
    });
    return answerStart(deps, outcome, {
      key,
      runId,
      nodes: [
        ...(typeof from === 'string' ? [] : from.map((id, at) => [['from', at], id] as const)),
        ...Object.keys(mark).map((id) => [['mark', id], id] as const),
      ],
    });
  },
});
