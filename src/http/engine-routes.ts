/** Engines: registered, drained, removed, listed, and what their owners report. */
import * as z from 'zod';
import { NAME_PATTERN } from '#domain/definition-schema.ts';
import { type LimitRecord, limitName } from '#domain/limit.ts';
import { drainEngine, type EngineOutcome, putEngine, removeEngine, reportHeartbeat } from '#scheduler/engines.ts';
import { type ApiResponse, jsonResponse } from './api-message.ts';
import { checkEngineName, checkRegistration, refuseBuiltIn } from './engine-registration.ts';
import { engineLineSchema, engineRequestSchema, engineSchema } from './engine-schemas.ts';
import { viewBuiltIn, viewEngine, viewEngineLine } from './engine-view.ts';
import { emptyRequestSchema, pageSchema } from './field-schemas.ts';
import { listNamed } from './named-limits.ts';
import { fromCursor, toCursor } from './paging.ts';
import { ApiProblem, LIMIT_PROBLEMS } from './problem.ts';
import { DEFAULT_LIMIT, paging } from './query-parameters.ts';
import { BODY_PROBLEMS, readJsonBody } from './request-body.ts';
import { type ApiDeps, defineRoute, type Route } from './route.ts';
import { readSlots } from './slot-reading.ts';

/** `PUT /v1/engines/{name}` */
export const putEngineRoute = defineRoute({
  method: 'PUT',
  path: '/v1/engines/{name}',
  operationId: 'putEngine',
  summary: 'Registers an engine, or changes the one that is there; it takes work from then on',
  body: { mediaTypes: ['application/json'], schema: engineRequestSchema, required: true },
  answers: {
    200: { description: 'It was there', schema: engineSchema },
    201: { description: 'It is registered', schema: engineSchema },
  },
  problems: [
    ...BODY_PROBLEMS,
    'BUILT_IN_ENGINE',
    'STATE_MACHINE_NOT_FOUND',
    'STATE_MACHINE_DENIED',
    'BUSY',
    'THROTTLED',
    ...LIMIT_PROBLEMS,
  ],
  async handle({ deps, request, pathPart }) {
    const name = pathPart('name');
    checkEngineName(deps, name);
    const registration = await checkRegistration(deps, readJsonBody(request, engineRequestSchema));
    const outcome = await putEngine(deps, name, registration);
    return engineResponse(deps, name, outcome, outcome.kind === 'created' ? 201 : 200);
  },
});

/** `DELETE /v1/engines/{name}` */
export const removeEngineRoute = defineRoute({
  method: 'DELETE',
  path: '/v1/engines/{name}',
  operationId: 'removeEngine',
  summary: 'Takes an engine away; what runs on it finishes, what waits for it waits on',
  answers: { 204: { description: 'It is gone' } },
  problems: ['BUILT_IN_ENGINE', 'ENGINE_NOT_FOUND', 'BUSY', ...LIMIT_PROBLEMS],
  async handle({ deps, pathPart }) {
    const name = pathPart('name');
    refuseBuiltIn(deps, name);
    const { kind } = NAME_PATTERN.test(name) ? await removeEngine(deps, name) : { kind: 'missing' as const };
    if (kind !== 'removed') throw notDone(name, kind);
    return { status: 204, headers: {} };
  },
});

/** `POST /v1/engines/{name}/drain` */
export const drainEngineRoute = commandRoute(
  'drain',
  drainEngine,
  'Lets an engine take no new work, until it is put again',
);

/** `POST /v1/engines/{name}/heartbeat` */
export const heartbeatEngineRoute = commandRoute(
  'heartbeat',
  reportHeartbeat,
  'The owner of an engine reports that it is there',
);

function commandRoute(
  word: 'drain' | 'heartbeat',
  command: (deps: ApiDeps, name: string) => Promise<EngineOutcome>,
  summary: string,
): Route {
  return defineRoute({
    method: 'POST',
    path: `/v1/engines/{name}/${word}`,
    operationId: `${word}Engine`,
    summary,
    body: { mediaTypes: ['application/json'], schema: emptyRequestSchema, required: false },
    answers: { 200: { description: 'The engine as it is now', schema: engineSchema } },
    problems: [...BODY_PROBLEMS, 'BUILT_IN_ENGINE', 'ENGINE_NOT_FOUND', 'BUSY', ...LIMIT_PROBLEMS],
    async handle({ deps, request, pathPart }) {
      const name = pathPart('name');
      readJsonBody(request, emptyRequestSchema);
      refuseBuiltIn(deps, name);
      if (!NAME_PATTERN.test(name)) throw notDone(name, 'missing');
      return engineResponse(deps, name, await command(deps, name), 200);
    },
  });
}

function engineResponse(deps: ApiDeps, name: string, outcome: EngineOutcome, status: number): ApiResponse {
  if (!('engine' in outcome)) throw notDone(name, outcome.kind);
  return jsonResponse(status, viewEngine(outcome.limit, outcome.engine, deps.clock.now()));
}

/** `GET /v1/engines/{name}` */
export const getEngineRoute = defineRoute({
  method: 'GET',
  path: '/v1/engines/{name}',
  operationId: 'getEngine',
  summary: 'An engine, who holds its slots and who waits for it',
  answers: { 200: { description: 'The engine', schema: engineSchema } },
  problems: ['ENGINE_NOT_FOUND', ...LIMIT_PROBLEMS],
  async handle({ deps, pathPart }) {
    const name = pathPart('name');
    const builtIn = viewBuiltIn(deps, name);
    if (builtIn) return jsonResponse(200, builtIn);
    const limit = NAME_PATTERN.test(name) ? await deps.limits.readLimit(limitName('engine', name)) : undefined;
    if (!limit?.engine) throw notDone(name, 'missing');
    const slots = await readSlots(deps, limit);
    return jsonResponse(200, { ...viewEngine(limit, limit.engine, deps.clock.now()), ...slots });
  },
});

/** `GET /v1/engines` */
export const listEnginesRoute = defineRoute({
  method: 'GET',
  path: '/v1/engines',
  operationId: 'listEngines',
  summary: 'Lists engines by name, built-in ones too',
  query: paging,
  answers: { 200: { description: 'A page', schema: pageSchema(engineLineSchema) } },
  problems: ['INVALID_PARAMETER', 'INVALID_PAGE_TOKEN'],
  async handle({ deps, query }) {
    const listed = { list: 'engines' };
    const after = query.cursor === undefined ? undefined : fromCursor(query.cursor, listed, z.string());
    const now = deps.clock.now();
    const view = (limit: LimitRecord) => (limit.engine ? viewEngineLine(limit, limit.engine, now) : undefined);
    const { items, last } = await listNamed(deps, 'engine', {
      limit: query.limit ?? DEFAULT_LIMIT,
      after,
      view,
      others: [...deps.engines.keys()].flatMap((name) => viewBuiltIn(deps, name) ?? []),
    });
    return jsonResponse(200, { items, ...(last !== undefined && { nextCursor: toCursor(listed, last) }) });
  },
});

function notDone(name: string, kind: 'missing' | 'busy'): ApiProblem {
  if (kind === 'missing') return new ApiProblem('ENGINE_NOT_FOUND', `There is no engine ${JSON.stringify(name)}.`);
  return new ApiProblem('BUSY', 'Others keep changing this engine; try again.', { headers: { 'retry-after': '1' } });
}
