/** Nodes of a run, and their outputs. */
import * as z from 'zod';
import type { CompiledNode } from '#domain/graph.ts';
import { itemState } from '#domain/item-view.ts';
import { statusOf } from '#domain/node-status.ts';
import { decidingAttempt, type ItemStory, type NodeStory, tellItems, tellStories } from '#domain/node-story.ts';
import { indexRun } from '#domain/run-index.ts';
import type { RunScope } from '#domain/run-scope.ts';
import { readMapOutput } from '#scheduler/map-output.ts';
import { jsonResponse } from './api-message.ts';
import { pageSchema } from './field-schemas.ts';
import { answerOutput, orProblem, REDIRECT_TO_OUTPUT } from './large-output.ts';
import { nodeSchema } from './node-schemas.ts';
import { fillPage } from './page-filling.ts';
import { fromCursor, toCursor } from './paging.ts';
import { itemSchema } from './parameter-schemas.ts';
import { ApiProblem } from './problem.ts';
import { DEFAULT_LIMIT, nodeState, paging } from './query-parameters.ts';
import { type ApiDeps, defineRoute } from './route.ts';
import { mapWithItem, nodeAt, readDecisions, readNodeViews, readScope, readStories } from './run-reading.ts';

/** `GET /v1/runs/{runId}/nodes` */
export const listNodesRoute = defineRoute({
  method: 'GET',
  path: '/v1/runs/{runId}/nodes',
  operationId: 'listNodes',
  summary: 'The nodes of a run, in the order of the definition',
  query: { ...paging, state: nodeState },
  answers: { 200: { description: 'A page', schema: pageSchema(nodeSchema) } },
  problems: ['INVALID_PARAMETER', 'INVALID_PAGE_TOKEN', 'RUN_NOT_FOUND', 'DAMAGED_RUN', 'NEWER_RUN'],
  async handle({ deps, query, pathPart }) {
    const scope = await readScope(deps, pathPart('runId'));
    const states = query.state && [...new Set(query.state)].sort();
    const listed = { list: 'nodes', run: scope.run.id, ...(states && { states }) };
    const start = query.cursor === undefined ? 0 : fromCursor(query.cursor, listed, z.int().nonnegative());
    const page = await readPage(deps, scope, start, query.limit ?? DEFAULT_LIMIT, states && new Set(states));
    return jsonResponse(200, {
      items: page.items,
      ...(page.next !== undefined && { nextCursor: toCursor(listed, page.next) }),
    });
  },
});

/** Reads nodes from a place in the definition on, until the page is full or too large; `next` is the place after it. */
async function readPage(
  deps: ApiDeps,
  scope: RunScope,
  start: number,
  limit: number,
  states: ReadonlySet<string> | undefined,
) {
  const { definitionOrder, nodes } = scope.pipeline;
  const stories = await readStories(deps, scope.run);
  const wanted = definitionOrder
    .map((index, place) => ({ node: nodes[index] as CompiledNode, place }))
    .filter(({ node, place }) => place >= start && (!states || states.has(stateOf(scope, node))));
  return fillPage(wanted, limit, (chunk) => {
    const chosen = chunk.map(({ node }) => node);
    return readNodeViews(deps, scope, stories, chosen, false);
  });
}

function stateOf(scope: RunScope, node: CompiledNode): string {
  return statusOf(scope.run.nodes.charCodeAt(node.index)).state;
}

/** `GET /v1/runs/{runId}/nodes/{node}` */
export const getNodeRoute = defineRoute({
  method: 'GET',
  path: '/v1/runs/{runId}/nodes/{node}',
  operationId: 'getNode',
  summary: 'A node of a run, with its output',
  answers: { 200: { description: 'The node', schema: nodeSchema } },
  problems: ['RUN_NOT_FOUND', 'NODE_NOT_FOUND', 'DAMAGED_RUN', 'NEWER_RUN'],
  async handle({ deps, pathPart }) {
    const scope = await readScope(deps, pathPart('runId'));
    const node = nodeAt(scope, pathPart('node'));
    const [view] = await readNodeViews(deps, scope, await readStories(deps, scope.run), [node], true);
    return jsonResponse(200, view);
  },
});

/** `GET /v1/runs/{runId}/nodes/{node}/output` */
export const getOutputRoute = defineRoute({
  method: 'GET',
  path: '/v1/runs/{runId}/nodes/{node}/output',
  operationId: 'getOutput',
  summary: 'The output of a node, as it is; of a map, the list of the outputs of its items',
  query: { item: { schema: itemSchema, description: 'The output of this item of a map, by its index from 0.' } },
  answers: { 200: { description: 'The output', schema: z.unknown() }, 307: REDIRECT_TO_OUTPUT },
  problems: [
    'INVALID_PARAMETER',
    'RUN_NOT_FOUND',
    'NODE_NOT_FOUND',
    'ITEM_NOT_FOUND',
    'OUTPUT_NOT_FOUND',
    'OUTPUT_TOO_LARGE',
    'DAMAGED_RUN',
    'NEWER_RUN',
  ],
  async handle({ deps, query, pathPart }) {
    const scope = await readScope(deps, pathPart('runId'));
    const node = nodeAt(scope, pathPart('node'));
    const name = JSON.stringify(node.id);
    if (query.item === undefined) return answerOutput(deps, await readOutput(deps, scope, node), `node ${name}`);
    return answerOutput(deps, await readItemOutput(deps, scope, node, query.item), `item ${query.item} of ${name}`);
  },
});

async function readOutput(deps: ApiDeps, scope: RunScope, node: CompiledNode): Promise<string> {
  const { state, reason } = statusOf(scope.run.nodes.charCodeAt(node.index));
  const map = indexRun(scope.run).maps.get(node.index);
  if (map && state === 'SUCCEEDED' && reason !== 'MarkedByUser') {
    return orProblem(() => readMapOutput(deps.runs, scope.run, map), `map ${JSON.stringify(node.id)}`);
  }
  const story = (await readStories(deps, scope.run))[node.index];
  const attempt = story && decidingAttempt(story);
  const result =
    attempt === undefined || state !== 'SUCCEEDED'
      ? undefined
      : await deps.runs.readResult(scope.run, node.index, attempt);
  return result?.output ?? refuseOutput(`Node ${JSON.stringify(node.id)} is ${state}`);
}

async function readItemOutput(deps: ApiDeps, scope: RunScope, node: CompiledNode, item: number): Promise<string> {
  const { run } = scope;
  const map = mapWithItem(scope, node, item);
  const decisions = await readDecisions(deps, run);
  const story = tellItems(map, tellStories(run, decisions)[node.index] as NodeStory, decisions)[item] as ItemStory;
  const state = itemState(scope, map, item, story);
  const attempt = decidingAttempt(story);
  const result =
    attempt === undefined || state !== 'SUCCEEDED'
      ? undefined
      : await deps.runs.readResult(run, node.index, attempt, item);
  return result?.output ?? refuseOutput(`Item ${item} of map ${JSON.stringify(node.id)} is ${state}`);
}

function refuseOutput(what: string): never {
  throw new ApiProblem('OUTPUT_NOT_FOUND', `${what} and has no output.`);
}
