/** The answer of a person or a system to an `approval` node, or to an item of a map of them. */

import * as z from 'zod';
import { isApproval } from '#domain/approvals.ts';
import { attemptToken } from '#domain/attempt-token.ts';
import type { AnswerCommand } from '#domain/facts.ts';
import type { CompiledNode } from '#domain/graph.ts';
import { canonicalJson, isJsonObject, type Json } from '#domain/json.ts';
import type { AttemptStory, ItemStory, NodeStory } from '#domain/node-story.ts';
import { tellItems } from '#domain/node-story.ts';
import type { Flight } from '#domain/run.ts';
import { indexRun } from '#domain/run-index.ts';
import type { RunScope } from '#domain/run-scope.ts';
import { answerAttempt } from '#scheduler/ask-run.ts';
import { checkInput } from '#scheduler/input-check.ts';
import { jsonResponse } from './api-message.ts';
import { answerRequestSchema, checkGivenOutput } from './asked-schemas.ts';
import { COMMAND_PROBLEMS, commandedRun } from './command-outcome.ts';
import { mapItemSchema, nodeSchema } from './node-schemas.ts';
import { itemSchema } from './parameter-schemas.ts';
import { ApiProblem } from './problem.ts';
import { BODY_PROBLEMS, readJsonBody } from './request-body.ts';
import { type ApiDeps, defineRoute } from './route.ts';
import {
  mapWithItem,
  nodeAt,
  readDecisions,
  readItemViews,
  readNodeViews,
  readScope,
  readStories,
  scopeOf,
} from './run-reading.ts';

type Said = z.output<typeof answerRequestSchema>;

/** What an answer is about. */
interface Asked {
  readonly scope: RunScope;
  readonly node: CompiledNode;
  readonly item: number | undefined;
}

/** `POST /v1/runs/{runId}/nodes/{node}/answer` */
export const answerRoute = defineRoute({
  method: 'POST',
  path: '/v1/runs/{runId}/nodes/{node}/answer',
  operationId: 'answerNode',
  summary: 'Answers a node that waits for an approval; the first answer stands',
  query: { item: { schema: itemSchema, description: 'Answers this item of a map, by its index from 0.' } },
  body: { mediaTypes: ['application/json'], schema: answerRequestSchema, required: true },
  answers: {
    200: { description: 'The node, or the item, with this answer', schema: z.union([nodeSchema, mapItemSchema]) },
  },
  problems: [
    ...BODY_PROBLEMS,
    ...COMMAND_PROBLEMS,
    'INVALID_PARAMETER',
    'NODE_NOT_FOUND',
    'ITEM_NOT_FOUND',
    'INVALID_ANSWER',
    'NOT_WAITING',
    'ALREADY_ANSWERED',
  ],
  async handle({ deps, request, query, pathPart }) {
    const runId = pathPart('runId');
    const said = readJsonBody(request, answerRequestSchema);
    if (said.output !== undefined) checkGivenOutput(said.output as Json, said.approve, 'an approval');
    const scope = await readScope(deps, runId);
    const node = nodeAt(scope, pathPart('node'));
    const asked: Asked = { scope, node, item: query.item };
    checkPlace(asked);
    checkFit(node, said);
    const flight = waitingFlight(asked, said);
    if (!flight) return replay(deps, asked, said, request.by);
    const { run, answer } = commandedRun(await answerAttempt(deps, runId, toCommand(flight, said, request.by)), runId);
    const after: Asked = { ...asked, scope: await scopeOf(deps, run) };
    return answer === 'accepted' ? jsonResponse(200, await viewOf(deps, after)) : replay(deps, after, said, request.by);
  },
});

/** @throws ApiProblem NOT_WAITING, ITEM_NOT_FOUND, INVALID_PARAMETER */
function checkPlace({ scope, node, item }: Asked): void {
  const name = JSON.stringify(node.id);
  if (node.engine !== 'approval') {
    throw new ApiProblem('NOT_WAITING', `Node ${name} is of the engine ${node.engine}; only an approval is answered.`);
  }
  if (item !== undefined) mapWithItem(scope, node, item);
  else if (node.map) {
    const message = 'is missing: the items of a map are answered one by one';
    throw new ApiProblem('INVALID_PARAMETER', `item ${message}.`, {
      errors: [{ path: 'item', code: 'INVALID_FIELD', message }],
    });
  }
}

/** @throws ApiProblem INVALID_ANSWER where the output does not fit the schema that the node asks for */
function checkFit({ params }: CompiledNode, { approve, output }: Said): void {
  const schema = params['output'];
  if (!approve || schema === undefined || !isJsonObject(schema)) return;
  const errors = checkInput(schema, (output ?? null) as Json, 'the output');
  const [first] = errors;
  if (!first) return;
  const detail = `output${first.path === '' ? '' : ` at ${first.path}`}: ${first.message}.`;
  throw new ApiProblem('INVALID_ANSWER', detail, { errors });
}

/** The attempt that the answer is for; nothing where none waits, or the token is of another. */
function waitingFlight({ scope, node, item }: Asked, { token }: Said): Flight | undefined {
  const { flights, itemFlights } = indexRun(scope.run);
  const flight = item === undefined ? flights.get(node.index) : itemFlights.get(node.index)?.get(item);
  if (!flight || !isApproval(scope.run, flight) || flight.phase !== 'running' || flight.answer) return undefined;
  if (token === undefined || token === attemptToken(scope.run, flight)) return flight;
  throw new ApiProblem('NOT_WAITING', `The token is not that of attempt ${flight.attempt}, which waits.`);
}

function toCommand(
  flight: Flight,
  { approve, output, comment }: Said,
  by: string | undefined,
): Omit<AnswerCommand, 'kind'> {
  const { node, item, attempt } = flight;
  return {
    node,
    item,
    attempt,
    approve,
    ...(output !== undefined && { output: output as Json }),
    ...(comment !== undefined && { comment }),
    ...(by !== undefined && { by }),
  };
}

/**
 * Answers whom it was too late for: as the first time, if this very answer was given before by the same caller.
 * @throws ApiProblem ALREADY_ANSWERED, NOT_WAITING
 */
async function replay(deps: ApiDeps, asked: Asked, said: Said, by: string | undefined) {
  const known = await answerOf(deps, asked);
  const view = await viewOf(deps, asked);
  const name =
    asked.item === undefined ? JSON.stringify(asked.node.id) : `${JSON.stringify(asked.node.id)}, item ${asked.item}`;
  if (!known) {
    throw new ApiProblem('NOT_WAITING', `Node ${name} waits for no answer. ${view.state}: ${view.message}`);
  }
  const output = said.approve ? canonicalJson((said.output ?? null) as Json) : undefined;
  if (known.approve === said.approve && known.by === by && known.output === output) return jsonResponse(200, view);
  const who = known.by === undefined ? '' : ` by ${known.by}`;
  throw new ApiProblem('ALREADY_ANSWERED', `Node ${name} was ${known.approve ? 'approved' : 'denied'}${who} before.`);
}

interface KnownAnswer {
  readonly approve: boolean;
  readonly by: string | undefined;
  /** JSON text, of an approval. */
  readonly output: string | undefined;
}

/** The answer that the last attempt got, whether or not the run has been decided from it. */
async function answerOf(deps: ApiDeps, asked: Asked): Promise<KnownAnswer | undefined> {
  const { run } = asked.scope;
  const { node, item } = asked;
  const { flights, itemFlights } = indexRun(run);
  const flight = item === undefined ? flights.get(node.index) : itemFlights.get(node.index)?.get(item);
  if (flight?.answer) {
    const { approve, by, output } = flight.answer;
    const text = output === undefined ? 'null' : await deps.runs.readValue(run, output);
    return { approve, by, output: approve ? text : undefined };
  }
  const last = await lastAttempt(deps, asked);
  const result = last?.end && (await deps.runs.readResult(run, node.index, last.attempt, item));
  if (!last?.end || !result || !isAnswer(result.status, result.error?.name)) return undefined;
  return { approve: result.status === 'SUCCEEDED', by: last.end.by, output: result.output };
}

function isAnswer(status: string, errorName: string | undefined): boolean {
  return status === 'SUCCEEDED' || errorName === 'Millrace.ApprovalDenied';
}

async function lastAttempt(deps: ApiDeps, asked: Asked): Promise<AttemptStory | undefined> {
  return (await storyOf(deps, asked)).story.attempts.at(-1);
}

async function storyOf(
  deps: ApiDeps,
  { scope, node, item }: Asked,
): Promise<{
  readonly story: NodeStory | ItemStory;
  readonly mapStory: NodeStory;
  readonly all: readonly NodeStory[];
}> {
  const all = await readStories(deps, scope.run);
  const mapStory = all[node.index] as NodeStory;
  if (item === undefined) return { story: mapStory, mapStory, all };
  const map = mapWithItem(scope, node, item);
  const items = tellItems(map, mapStory, await readDecisions(deps, scope.run));
  return { story: items[item] as ItemStory, mapStory, all };
}

async function viewOf(deps: ApiDeps, asked: Asked) {
  const { scope, node, item } = asked;
  const { story, mapStory, all } = await storyOf(deps, asked);
  const views =
    item === undefined
      ? await readNodeViews(deps, scope, all, [node], true)
      : await readItemViews(deps, scope, mapWithItem(scope, node, item), [{ item, story, mapStory }]);
  return views[0] as (typeof views)[number];
}
