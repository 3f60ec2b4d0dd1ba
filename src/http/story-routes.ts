/** What happened in a run, and what it waits for. */
import * as z from 'zod';
import { explainUnfinished, listUnfinished } from '#domain/explain.ts';
import { viewHistory } from '#domain/history-view.ts';
import { toIsoTime } from '#domain/iso-time.ts';
import type { NodeStory } from '#domain/node-story.ts';
import { isUnderWay } from '#domain/run.ts';
import { indexRun } from '#domain/run-index.ts';
import { explainRun } from '#domain/run-view.ts';
import { limitsInTheWay, limitsOfRunView } from '#domain/waiting-for.ts';
import { jsonResponse } from './api-message.ts';
import { pageSchema } from './field-schemas.ts';
import { fromCursor, sliceFrom, toCursor } from './paging.ts';
import { flagSchema } from './parameter-schemas.ts';
import { DEFAULT_LIMIT, paging } from './query-parameters.ts';
import { readReport } from './report-reading.ts';
import { defineRoute } from './route.ts';
import { readDecisions, readScope, readStories } from './run-reading.ts';
import { explanationSchema, historyEntrySchema } from './story-schemas.ts';
import { withLimits } from './waiting-reading.ts';

const PROBLEMS_OF_A_LIST = [
  'INVALID_PARAMETER',
  'INVALID_PAGE_TOKEN',
  'RUN_NOT_FOUND',
  'DAMAGED_RUN',
  'NEWER_RUN',
] as const;

/** `GET /v1/runs/{runId}/history` */
export const getHistoryRoute = defineRoute({
  method: 'GET',
  path: '/v1/runs/{runId}/history',
  operationId: 'getHistory',
  summary: 'What happened in a run, in order',
  query: {
    ...paging,
    items: {
      schema: flagSchema,
      description: 'Whether it tells of the items of maps: true or false. Default true.',
    },
  },
  answers: { 200: { description: 'A page', schema: pageSchema(historyEntrySchema) } },
  problems: PROBLEMS_OF_A_LIST,
  async handle({ deps, query, pathPart }) {
    const scope = await readScope(deps, pathPart('runId'));
    const withItems = query.items ?? true;
    const listed = { list: 'history', run: scope.run.id, withItems };
    const start = query.cursor === undefined ? 0 : fromCursor(query.cursor, listed, z.int().nonnegative());
    const entries = viewHistory(scope, await readDecisions(deps, scope.run), withItems);
    const { items, next } = sliceFrom(entries, start, query.limit ?? DEFAULT_LIMIT);
    return jsonResponse(200, { items, ...(next !== undefined && { nextCursor: toCursor(listed, next) }) });
  },
});

/** `GET /v1/runs/{runId}/explain` */
export const explainRoute = defineRoute({
  method: 'GET',
  path: '/v1/runs/{runId}/explain',
  operationId: 'explainRun',
  summary: 'Everything unfinished: why, since when, and what would move it',
  query: paging,
  answers: { 200: { description: 'A page', schema: explanationSchema } },
  problems: PROBLEMS_OF_A_LIST,
  async handle({ deps, query, pathPart }) {
    const looked = await readScope(deps, pathPart('runId'));
    const { run } = looked;
    const listed = { list: 'explain', run: run.id };
    const start = query.cursor === undefined ? 0 : fromCursor(query.cursor, listed, z.int().nonnegative());
    const limit = query.limit ?? DEFAULT_LIMIT;
    const stories = await readStories(deps, run);
    const { flights } = indexRun(run);
    const unfinished = listUnfinished(looked).filter(({ place }) => place >= start);
    const shown = unfinished.slice(0, limit);
    const waiting = limitsInTheWay(
      looked,
      shown.map(({ node }) => node),
    );
    const scope = await withLimits(deps, looked, [...new Set([...limitsOfRunView(looked), ...waiting])]);
    const items = await Promise.all(
      shown.map(async ({ node }) => {
        const flight = flights.get(node.index);
        const failed =
          flight && !isUnderWay(flight) ? await deps.runs.readResult(run, node.index, flight.attempt) : undefined;
        const report = await readReport(deps, scope, flight);
        return explainUnfinished(scope, node, { story: stories[node.index] as NodeStory, lastResult: failed, report });
      }),
    );
    const next = unfinished[limit]?.place;
    return jsonResponse(200, {
      run: { id: run.id, state: run.state, ...explainRun(scope), since: toIsoTime(run.since) },
      items,
      ...(next !== undefined && { nextCursor: toCursor(listed, next) }),
    });
  },
});
