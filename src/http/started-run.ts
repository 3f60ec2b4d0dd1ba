/** What a request that starts a run is answered: the run, or why there is none. */
import { nearMiss, shownValue } from '#domain/definition-errors.ts';
import { formatPath } from '#domain/definition-path.ts';
import type { RunRecord } from '#domain/run.ts';
import type { RerunOutcome } from '#scheduler/rerun-run.ts';
import { inputErrorsInWords } from '#scheduler/start-run.ts';
import { type ApiResponse, jsonResponse } from './api-message.ts';
import { pipelineNotFound } from './pipeline-routes.ts';
import { ApiProblem } from './problem.ts';
import type { ApiDeps } from './route.ts';
import { readRunView, runNotFound, scopeOf } from './run-reading.ts';
import { runSchema } from './run-schemas.ts';

/** The header by which a repeated request finds the first run. */
export const KEY_HEADER = {
  'Idempotency-Key': '1 to 255 printable characters; the same key finds the first run again.',
};

/** The answers of a request that starts a run. */
export const START_ANSWERS = {
  201: { description: 'A new run', schema: runSchema, headers: { Location: 'Address of the run' } },
  200: {
    description: 'The run that the first request with this key started',
    schema: runSchema,
    headers: { 'Idempotent-Replayed': 'true' },
  },
};

/** What the request said, to name it in problems. */
export interface Asked {
  readonly pipeline?: string;
  readonly key?: string | undefined;
  readonly revision?: string | undefined;
  /** The run to take results from. */
  readonly runId?: string | undefined;
  /** Fields that name nodes, by their paths. */
  readonly nodes?: readonly (readonly [path: readonly (string | number)[], id: string])[];
}

/**
 * Answers with the run.
 * @throws ApiProblem where there is none
 */
export async function answerStart(deps: ApiDeps, outcome: RerunOutcome, asked: Asked): Promise<ApiResponse> {
  const run = startedRun(outcome, asked);
  const view = await readRunView(deps, await scopeOf(deps, run));
  const location = { location: `/v1/runs/${run.id}` };
  if (outcome.kind === 'started') return jsonResponse(201, view, location);
  return jsonResponse(200, view, { ...location, 'idempotent-replayed': 'true' });
}

function startedRun(outcome: RerunOutcome, asked: Asked): RunRecord {
  switch (outcome.kind) {
    case 'started':
    case 'replayed':
      if (outcome.run.deleted) throw deleting(outcome.run);
      return outcome.run;
    case 'conflict': {
      const detail = `The key ${JSON.stringify(asked.key)} started run ${outcome.run.id} with another input.`;
      throw new ApiProblem('IDEMPOTENCY_CONFLICT', detail);
    }
    case 'noPipeline':
      throw pipelineNotFound(asked.pipeline ?? '');
    case 'pipelineGone':
      throw pipelineNotFound(outcome.run.pipeline);
    case 'noRevision':
      throw unknownRevision(asked);
    case 'invalidInput': {
      const { errors } = outcome;
      throw new ApiProblem('INVALID_INPUT', `The input is not valid: ${inputErrorsInWords(errors)}.`, { errors });
    }
    case 'invalidKey':
      throw new ApiProblem(
        'INVALID_KEY',
        `Idempotency-Key has ${asked.key?.length} characters; 1 to 255 printable ones are taken.`,
      );
    case 'noEarlierRun':
      throw runNotFound(asked.runId ?? '');
    case 'otherPipeline':
      throw otherPipeline(asked);
    case 'unknownNodes':
      throw unknownNodes(outcome, asked);
    case 'nothingToRun':
      throw new ApiProblem('NOTHING_TO_RUN', 'Every node is decided already; no run was started.');
    case 'active':
      throw runActive(outcome.run);
  }
}

/** A key can make a run anew once nothing is left of the one that it made before. */
function deleting({ id }: RunRecord): ApiProblem {
  const detail = `Run ${id}, which this key started, is being deleted; try again.`;
  return new ApiProblem('BUSY', detail, { headers: { 'retry-after': '1' } });
}

function runActive({ id, state }: RunRecord): ApiProblem {
  return new ApiProblem('RUN_ACTIVE', `Run ${id} is ${state}; it can be started again once it is over.`);
}

function otherPipeline({ runId = '', pipeline }: Asked): ApiProblem {
  const message = `run ${runId} is of another pipeline than ${JSON.stringify(pipeline)}`;
  const errors = [{ path: 'reuse.runId', code: 'INVALID_FIELD' as const, message, value: runId }];
  return new ApiProblem('INVALID_REQUEST', `reuse.runId: ${message}.`, { errors });
}

function unknownRevision({ pipeline, revision }: Asked): ApiProblem {
  const message = `the pipeline ${JSON.stringify(pipeline)} has no such revision`;
  const errors = [{ path: 'revision', code: 'INVALID_FIELD' as const, message, ...(revision && { value: revision }) }];
  return new ApiProblem('UNKNOWN_REVISION', `revision: ${message}.`, { errors });
}

function unknownNodes(
  { ids, pipeline }: Extract<RerunOutcome, { kind: 'unknownNodes' }>,
  { nodes = [] }: Asked,
): ApiProblem {
  const unknown = new Set(ids);
  const known = pipeline.nodes.map(({ id }) => id);
  const errors = nodes
    .filter(([, id]) => unknown.has(id))
    .map(([path, id]) => {
      const suggestion = nearMiss(id, known);
      const message = `revision ${pipeline.revision} has no node ${JSON.stringify(id)}`;
      return {
        path: formatPath(path),
        code: 'INVALID_FIELD',
        message,
        value: shownValue(id),
        ...(suggestion && { suggestion }),
      };
    });
  const [first] = errors;
  return new ApiProblem('UNKNOWN_NODE', `${first?.path}: ${first?.message}.`, { errors });
}
