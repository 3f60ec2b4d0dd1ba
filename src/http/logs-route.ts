/** The log of an attempt. */
import * as z from 'zod';
import type { CompiledNode } from '#domain/graph.ts';
import { toIsoTime } from '#domain/iso-time.ts';
import { logKey } from '#domain/log-mark.ts';
import { type AttemptStory, type ItemStory, type NodeStory, tellItems, tellStories } from '#domain/node-story.ts';
import type { RunScope } from '#domain/run-scope.ts';
import type { LogPlace } from '#ports/index.ts';
import { jsonResponse } from './api-message.ts';
import { functionOfAttempt } from './attempt-function.ts';
import { pageSchema } from './field-schemas.ts';
import { logLineSchema } from './log-schemas.ts';
import { fromCursor, toCursor } from './paging.ts';
import { attemptSchema, itemSchema } from './parameter-schemas.ts';
import { ApiProblem } from './problem.ts';
import { DEFAULT_LIMIT, paging } from './query-parameters.ts';
import { type ApiDeps, defineRoute } from './route.ts';
import { mapWithItem, nodeAt, readDecisions, readScope } from './run-reading.ts';

/** Clocks of two services differ by less than this. */
const CLOCK_SKEW_MS = 60_000;
/** How long lines may be on their way to the log. */
const LATE_LINES_MS = 10_000;

const placeSchema = z.strictObject({
  attempt: z.int(),
  stream: z.string(),
  requestId: z.string(),
  at: z.number(),
  seen: z.int(),
});

/** `GET /v1/runs/{runId}/nodes/{node}/logs` */
export const getLogsRoute = defineRoute({
  method: 'GET',
  path: '/v1/runs/{runId}/nodes/{node}/logs',
  operationId: 'getLogs',
  summary: 'What an attempt wrote to its log, oldest first; while it runs, there is always a cursor for what comes',
  query: {
    ...paging,
    attempt: { schema: attemptSchema, description: 'Number of the attempt. Default: the last one.' },
    item: { schema: itemSchema, description: 'Of this item of a map, by its index from 0.' },
  },
  answers: { 200: { description: 'A page', schema: pageSchema(logLineSchema) } },
  problems: [
    'INVALID_PARAMETER',
    'INVALID_PAGE_TOKEN',
    'RUN_NOT_FOUND',
    'NODE_NOT_FOUND',
    'ITEM_NOT_FOUND',
    'LOGS_NOT_FOUND',
    'THROTTLED',
    'DAMAGED_RUN',
    'NEWER_RUN',
  ],
  async handle({ deps, query, pathPart }) {
    const scope = await readScope(deps, pathPart('runId'));
    const node = nodeAt(scope, pathPart('node'));
    const { item, limit = DEFAULT_LIMIT } = query;
    const asked = query.attempt === undefined ? {} : { attempt: query.attempt };
    const listed = {
      list: 'logs',
      run: scope.run.id,
      node: node.index,
      ...(item !== undefined && { item }),
      ...asked,
    };
    const known = query.cursor === undefined ? undefined : fromCursor(query.cursor, listed, placeSchema);
    if (node.engine !== 'lambda') throw noFunction(node);
    // A page goes on with the attempt that it began with, though another may be the last one by now.
    const story = await attemptStory(deps, scope, node, { item, attempt: known?.attempt ?? query.attempt });
    const { attempt, startedAt = scope.run.createdAt } = story;
    const functionName = await functionOfAttempt(deps, scope, node, { item, attempt, at: startedAt });
    if (functionName === undefined) throw noFunction(node);
    const key = logKey({ run: scope.run.id, node: node.id, item, attempt });
    const place = known ?? (await findPlace(deps, functionName, key, startedAt - CLOCK_SKEW_MS));
    if (!place) throw notFound(functionName, attempt);
    const read = await deps.logs.read(functionName, place, limit);
    if (read.kind === 'unanswered') throw unanswered(read.message);
    if (read.kind === 'missing') throw notFound(functionName, attempt);
    const isSettled = story.end !== undefined && scope.now - story.end.at >= LATE_LINES_MS;
    const mayGoOn = !read.isOver && (!isSettled || read.lines.length > 0);
    return jsonResponse(200, {
      items: read.lines.map(({ at, text }) => ({ at: toIsoTime(at), message: text })),
      ...(mayGoOn && { nextCursor: toCursor(listed, { ...read.place, attempt }) }),
    });
  },
});

async function attemptStory(
  deps: ApiDeps,
  scope: RunScope,
  node: CompiledNode,
  of: { readonly item: number | undefined; readonly attempt: number | undefined },
): Promise<AttemptStory> {
  const decisions = await readDecisions(deps, scope.run);
  const story = tellStories(scope.run, decisions)[node.index] as NodeStory;
  const name = JSON.stringify(node.id);
  if (of.item === undefined && node.map) {
    throw new ApiProblem('LOGS_NOT_FOUND', `Node ${name} is a map: name one of its items with ?item=.`);
  }
  const map = of.item === undefined ? undefined : mapWithItem(scope, node, of.item);
  const told = map ? (tellItems(map, story, decisions)[of.item as number] as ItemStory) : story;
  const started = told.attempts.filter(({ startedAt }) => startedAt !== undefined);
  const found = of.attempt === undefined ? started.at(-1) : started.find(({ attempt }) => attempt === of.attempt);
  if (found) return found;
  const which = of.attempt === undefined ? 'no attempt' : `no attempt ${of.attempt}`;
  throw new ApiProblem(
    'LOGS_NOT_FOUND',
    `Node ${name} has had ${which}${of.item === undefined ? '' : ` of item ${of.item}`}.`,
  );
}

async function findPlace(
  deps: ApiDeps,
  functionName: string,
  key: string,
  since: number,
): Promise<LogPlace | undefined> {
  const found = await deps.logs.find(functionName, key, since);
  if (found.kind === 'unanswered') throw unanswered(found.message);
  return found.kind === 'read' ? found.place : undefined;
}

function noFunction({ id, engine }: CompiledNode): ApiProblem {
  const what =
    engine === 'lambda' ? 'its function cannot be told' : `it is of the engine ${engine}, whose logs are elsewhere`;
  return new ApiProblem('LOGS_NOT_FOUND', `Node ${JSON.stringify(id)} has no log here: ${what}.`);
}

function notFound(functionName: string, attempt: number): ApiProblem {
  const why =
    'it has not begun, its lines are on the way, they have expired, or the function is not wrapped by defineFunction';
  return new ApiProblem('LOGS_NOT_FOUND', `The log of ${functionName} has no line of attempt ${attempt} yet: ${why}.`);
}

function unanswered(message: string): ApiProblem {
  const detail = `The log cannot be read now: ${message}.`;
  return new ApiProblem('THROTTLED', detail, { headers: { 'retry-after': '1' } });
}
