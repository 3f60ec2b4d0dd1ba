/** Items of maps, and the attempts of nodes and items. */
import pMap from 'p-map';
import * as z from 'zod';
import { type AttemptView, viewAttempt } from '#domain/attempt-view.ts';
import type { CompiledNode } from '#domain/graph.ts';
import { itemState } from '#domain/item-view.ts';
import { type AttemptStory, type NodeStory, tellItems, tellStories } from '#domain/node-story.ts';
import type { Decision } from '#domain/run.ts';
import { indexRun } from '#domain/run-index.ts';
import type { RunScope } from '#domain/run-scope.ts';
import { jsonResponse } from './api-message.ts';
import { pageSchema } from './field-schemas.ts';
import { attemptSchema, mapItemSchema } from './node-schemas.ts';
import { fillPage } from './page-filling.ts';
import { fromCursor, sliceFrom, toCursor } from './paging.ts';
import { itemSchema } from './parameter-schemas.ts';
import { DEFAULT_LIMIT, nodeState, paging } from './query-parameters.ts';
import { readReport } from './report-reading.ts';
import { type ApiDeps, defineRoute } from './route.ts';
import { mapAt, mapWithItem, nodeAt, readDecisions, readItemViews, readScope } from './run-reading.ts';

/** Results that are read at the same time. */
const PARALLEL_READS = 20;

const PROBLEMS = [
  'INVALID_PARAMETER',
  'INVALID_PAGE_TOKEN',
  'RUN_NOT_FOUND',
  'NODE_NOT_FOUND',
  'ITEM_NOT_FOUND',
  'DAMAGED_RUN',
  'NEWER_RUN',
] as const;

/** `GET /v1/runs/{runId}/nodes/{node}/items` */
export const listItemsRoute = defineRoute({
  method: 'GET',
  path: '/v1/runs/{runId}/nodes/{node}/items',
  operationId: 'listItems',
  summary: 'The items of a map, in the order of its list',
  query: { ...paging, state: nodeState },
  answers: { 200: { description: 'A page; empty as long as the map has no list', schema: pageSchema(mapItemSchema) } },
  problems: PROBLEMS,
  async handle({ deps, query, pathPart }) {
    const scope = await readScope(deps, pathPart('runId'));
    const node = nodeAt(scope, pathPart('node'));
    const states = query.state && [...new Set(query.state)].sort();
    const listed = { list: 'items', run: scope.run.id, node: node.index, ...(states && { states }) };
    const start = query.cursor === undefined ? 0 : fromCursor(query.cursor, listed, z.int().nonnegative());
    const map = mapAt(scope, node);
    if (!map) return jsonResponse(200, { items: [] });
    const decisions = await readDecisions(deps, scope.run);
    const mapStory = tellStories(scope.run, decisions)[node.index] as NodeStory;
    const wanted = tellItems(map, mapStory, decisions)
      .map((story, item) => ({ story, item, place: item, mapStory }))
      .filter(({ story, item }) => item >= start && (!states || states.includes(itemState(scope, map, item, story))));
    const page = await fillPage(wanted, query.limit ?? DEFAULT_LIMIT, (chunk) =>
      readItemViews(deps, scope, map, chunk),
    );
    return jsonResponse(200, {
      items: page.items,
      ...(page.next !== undefined && { nextCursor: toCursor(listed, page.next) }),
    });
  },
});

/** `GET /v1/runs/{runId}/nodes/{node}/attempts` */
export const listAttemptsRoute = defineRoute({
  method: 'GET',
  path: '/v1/runs/{runId}/nodes/{node}/attempts',
  operationId: 'listAttempts',
  summary: 'Every attempt of a node, the first one first; of a map, item by item',
  query: { ...paging, item: { schema: itemSchema, description: 'Only those of this item of a map, by its index.' } },
  answers: { 200: { description: 'A page', schema: pageSchema(attemptSchema) } },
  problems: PROBLEMS,
  async handle({ deps, query, pathPart }) {
    const scope = await readScope(deps, pathPart('runId'));
    const node = nodeAt(scope, pathPart('node'));
    const { item } = query;
    if (item !== undefined) mapWithItem(scope, node, item);
    const listed = { list: 'attempts', run: scope.run.id, node: node.index, ...(item !== undefined && { item }) };
    const start = query.cursor === undefined ? 0 : fromCursor(query.cursor, listed, z.int().nonnegative());
    const all = attemptsOf(scope, node, await readDecisions(deps, scope.run), item);
    const { items, next } = sliceFrom(all, start, query.limit ?? DEFAULT_LIMIT);
    const views = await pMap(items, (told) => readAttempt(deps, scope, node, told), { concurrency: PARALLEL_READS });
    return jsonResponse(200, { items: views, ...(next !== undefined && { nextCursor: toCursor(listed, next) }) });
  },
});

interface ToldAttempt {
  readonly item?: number;
  readonly story: AttemptStory;
}

function* attemptsOf(
  scope: RunScope,
  node: CompiledNode,
  decisions: readonly Decision[],
  only: number | undefined,
): Generator<ToldAttempt, void, undefined> {
  const story = tellStories(scope.run, decisions)[node.index] as NodeStory;
  const map = indexRun(scope.run).maps.get(node.index);
  if (!map) {
    for (const attempt of story.attempts) yield { story: attempt };
    return;
  }
  for (const [item, { attempts }] of tellItems(map, story, decisions).entries()) {
    if (only !== undefined && item !== only) continue;
    for (const attempt of attempts) yield { item, story: attempt };
  }
}

async function readAttempt(
  deps: ApiDeps,
  scope: RunScope,
  node: CompiledNode,
  { item, story }: ToldAttempt,
): Promise<AttemptView> {
  const { flights, itemFlights } = indexRun(scope.run);
  const flight = item === undefined ? flights.get(node.index) : itemFlights.get(node.index)?.get(item);
  const result = story.end && (await deps.runs.readResult(scope.run, node.index, story.attempt, item));
  const report = story.end ? undefined : await readReport(deps, scope, flight);
  return viewAttempt(scope, node, story, { item, flight, report }, result);
}
