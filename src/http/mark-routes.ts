/** What users decide by hand: a node's end, and that a run goes. */
import { isRunId } from '#domain/execution-name.ts';
import type { MarkCommand } from '#domain/facts.ts';
import { canonicalJson, type Json } from '#domain/json.ts';
import { MARKED_ATTEMPT, type RunRecord } from '#domain/run.ts';
import { deleteRun, markNode } from '#scheduler/ask-run.ts';
import { jsonResponse } from './api-message.ts';
import { checkMark, markRequestSchema } from './asked-schemas.ts';
import { COMMAND_PROBLEMS, commandedRun } from './command-outcome.ts';
import { fromNodePath } from './node-path.ts';
import { nodeSchema } from './node-schemas.ts';
import { flagSchema } from './parameter-schemas.ts';
import { ApiProblem } from './problem.ts';
import { BODY_PROBLEMS, readJsonBody } from './request-body.ts';
import { type ApiDeps, defineRoute } from './route.ts';
import { nodeAt, readNodeViews, readStories, runNotFound, scopeOf } from './run-reading.ts';

/** `POST /v1/runs/{runId}/nodes/{node}/mark` */
export const markNodeRoute = defineRoute({
  method: 'POST',
  path: '/v1/runs/{runId}/nodes/{node}/mark',
  operationId: 'markNode',
  summary: 'Decides an unfinished node by hand; what is under way of it is stopped first',
  body: { mediaTypes: ['application/json'], schema: markRequestSchema, required: true },
  answers: {
    200: { description: 'It is marked, and decided once nothing of it is under way any more', schema: nodeSchema },
  },
  problems: [...BODY_PROBLEMS, ...COMMAND_PROBLEMS, 'NODE_NOT_FOUND', 'NODE_FINISHED', 'RUN_STOPPING'],
  async handle({ deps, request, pathPart }) {
    const runId = pathPart('runId');
    const mark = readJsonBody(request, markRequestSchema);
    checkMark(mark);
    const { state, output, note } = mark;
    if (!isRunId(runId)) throw runNotFound(runId);
    const command: Omit<MarkCommand, 'kind'> = {
      node: fromNodePath(pathPart('node')) ?? '',
      state,
      ...(output !== undefined && { output: output as Json }),
      ...(note !== undefined && { note }),
      ...(request.by !== undefined && { by: request.by }),
    };
    const { run, answer } = commandedRun(await markNode(deps, runId, command), runId);
    const scope = await scopeOf(deps, run);
    const node = nodeAt(scope, pathPart('node'));
    const name = JSON.stringify(node.id);
    if (answer === 'stopping') {
      throw new ApiProblem('RUN_STOPPING', `Run ${run.id} is being stopped; none of its nodes is marked any more.`);
    }
    const isSame = answer === 'already' && (await isMarkedAlike(deps, run, node.index, command));
    const [view] = await readNodeViews(deps, scope, await readStories(deps, run), [node], true);
    if (answer !== 'accepted' && !isSame) {
      throw new ApiProblem('NODE_FINISHED', `Node ${name} cannot be marked ${state}. ${view?.state}: ${view?.message}`);
    }
    return jsonResponse(200, view);
  },
});

/** Whether the mark that a node has already gives it the very same output. */
async function isMarkedAlike(
  deps: ApiDeps,
  run: RunRecord,
  node: number,
  { state, output = null }: Omit<MarkCommand, 'kind'>,
): Promise<boolean> {
  if (state !== 'SUCCEEDED') return true;
  const key = run.marks?.find((mark) => mark.node === node)?.output;
  const known =
    key === undefined
      ? (await deps.runs.readResult(run, node, MARKED_ATTEMPT))?.output
      : await deps.runs.readValue(run, key);
  return known === canonicalJson(output);
}

/** `DELETE /v1/runs/{runId}` */
export const deleteRunRoute = defineRoute({
  method: 'DELETE',
  path: '/v1/runs/{runId}',
  operationId: 'deleteRun',
  summary: 'Deletes a run: from the answer on it is not there any more',
  query: { force: { schema: flagSchema, description: 'Whether an active run is stopped first. Default false.' } },
  answers: { 204: { description: 'It is deleted' } },
  problems: ['INVALID_PARAMETER', ...COMMAND_PROBLEMS, 'ACTIVE_RUNS'],
  async handle({ deps, request, query, pathPart }) {
    const runId = pathPart('runId');
    if (!isRunId(runId)) throw runNotFound(runId);
    const order = { isForced: query.force ?? false, ...(request.by !== undefined && { by: request.by }) };
    const { run, answer } = commandedRun(await deleteRun(deps, runId, order), runId);
    if (answer === 'accepted' || answer === 'already') return { status: 204, headers: {} };
    throw new ApiProblem('ACTIVE_RUNS', `Run ${run.id} is ${run.state}; stop it first, or delete it with ?force=true.`);
  },
});
