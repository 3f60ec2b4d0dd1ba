/** Nodes of a run, their outputs and attempts. */
import * as z from 'zod';
import { viewAttempts } from '#domain/attempt-view.ts';
import type { CompiledNode } from '#domain/graph.ts';
import { statusOf } from '#domain/node-status.ts';
import type { NodeStory } from '#domain/node-story.ts';
import type { NodeView } from '#domain/node-view.ts';
import { flightsByNode, type RunScope } from '#domain/run-scope.ts';
import { jsonResponse } from './api-message.ts';
import { fromCursor, sliceFrom, toCursor } from './paging.ts';
import { ApiProblem } from './problem.ts';
import { DEFAULT_LIMIT, nodeState, paging } from './query-parameters.ts';
import { type ApiDeps, defineRoute } from './route.ts';
import { nodeAt, readNodeViews, readScope, readStories } from './run-reading.ts';
import { attemptSchema, nodeSchema, pageSchema } from './schemas.ts';

/** A page ends at this size (bytes of its JSON text), since an answer has to fit into an invocation. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
/** Nodes that are read before the size of the page is looked at again. */
const CHUNK = 50;

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
): Promise<{ items: NodeView[]; next?: number }> {
  const { definitionOrder, nodes } = scope.pipeline;
  const stories = await readStories(deps, scope.run);
  const wanted = definitionOrder
    .map((index, place) => ({ node: nodes[index] as CompiledNode, place }))
    .filter(({ node, place }) => place >= start && (!states || states.has(stateOf(scope, node))));
  const items: NodeView[] = [];
  let bytes = 0;
  for (let at = 0; at < wanted.length && at < limit; at += CHUNK) {
    const chunk = wanted.slice(at, Math.min(at + CHUNK, limit));
    const views = await readNodeViews(
      deps,
      scope,
      stories,
      chunk.map(({ node }) => node),
      false,
    );
    for (const [offset, view] of views.entries()) {
      bytes += Buffer.byteLength(JSON.stringify(view));
      if (bytes > MAX_PAGE_BYTES && items.length > 0)
        return { items, next: (chunk[offset] as { place: number }).place };
      items.push(view);
    }
  }
  const next = wanted[items.length]?.place;
  return next === undefined ? { items } : { items, next };
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
  summary: 'The output of a node, as it is',
  answers: { 200: { description: 'The output', schema: z.unknown() } },
  problems: ['RUN_NOT_FOUND', 'NODE_NOT_FOUND', 'OUTPUT_NOT_FOUND', 'DAMAGED_RUN', 'NEWER_RUN'],
  async handle({ deps, pathPart }) {
    const scope = await readScope(deps, pathPart('runId'));
    const node = nodeAt(scope, pathPart('node'));
    const text = stateOf(scope, node) === 'SUCCEEDED' ? await readOutput(deps, scope, node) : undefined;
    if (text === undefined) {
      const detail = `Node ${JSON.stringify(node.id)} is ${stateOf(scope, node)} and has no output.`;
      throw new ApiProblem('OUTPUT_NOT_FOUND', detail);
    }
    return { status: 200, headers: { 'content-type': 'application/json' }, body: text };
  },
});

async function readOutput(deps: ApiDeps, { run }: RunScope, node: CompiledNode): Promise<string | undefined> {
  const attempt = (await readStories(deps, run))[node.index]?.attempts.at(-1)?.attempt;
  return attempt === undefined ? undefined : (await deps.runs.readResult(run, node.index, attempt))?.output;
}

/** `GET /v1/runs/{runId}/nodes/{node}/attempts` */
export const listAttemptsRoute = defineRoute({
  method: 'GET',
  path: '/v1/runs/{runId}/nodes/{node}/attempts',
  operationId: 'listAttempts',
  summary: 'Every attempt of a node, the first one first',
  query: paging,
  answers: { 200: { description: 'A page', schema: pageSchema(attemptSchema) } },
  problems: ['INVALID_PARAMETER', 'INVALID_PAGE_TOKEN', 'RUN_NOT_FOUND', 'NODE_NOT_FOUND', 'DAMAGED_RUN', 'NEWER_RUN'],
  async handle({ deps, query, pathPart }) {
    const scope = await readScope(deps, pathPart('runId'));
    const node = nodeAt(scope, pathPart('node'));
    const listed = { list: 'attempts', run: scope.run.id, node: node.index };
    const start = query.cursor === undefined ? 0 : fromCursor(query.cursor, listed, z.int().nonnegative());
    const story = (await readStories(deps, scope.run))[node.index] as NodeStory;
    const results = await deps.runs.listResults(scope.run, node.index);
    const flight = flightsByNode(scope.run).get(node.index);
    const all = viewAttempts(scope, node, { story, flight, results });
    const { items, next } = sliceFrom(all, start, query.limit ?? DEFAULT_LIMIT);
    return jsonResponse(200, { items, ...(next !== undefined && { nextCursor: toCursor(listed, next) }) });
  },
});
