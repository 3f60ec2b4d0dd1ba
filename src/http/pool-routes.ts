/** Pools: named limits that nodes of any pipeline share. */
import * as z from 'zod';
import { NAME_PATTERN } from '#domain/definition-schema.ts';
import { heldSlots, type LimitRecord, limitName, parseLimitName } from '#domain/limit.ts';
import { putPool } from '#scheduler/pools.ts';
import { jsonResponse } from './api-message.ts';
import { pageSchema } from './field-schemas.ts';
import { checkName, listNamed } from './named-limits.ts';
import { fromCursor, toCursor } from './paging.ts';
import { poolLineSchema, poolRequestSchema, poolSchema } from './pool-schemas.ts';
import { ApiProblem, LIMIT_PROBLEMS } from './problem.ts';
import { DEFAULT_LIMIT, paging } from './query-parameters.ts';
import { BODY_PROBLEMS, readJsonBody } from './request-body.ts';
import { defineRoute } from './route.ts';
import { readSlots } from './slot-reading.ts';

/** `PUT /v1/pools/{name}` */
export const putPoolRoute = defineRoute({
  method: 'PUT',
  path: '/v1/pools/{name}',
  operationId: 'putPool',
  summary: 'Makes a pool, or changes its number of slots; fewer slots stop nobody',
  body: { mediaTypes: ['application/json'], schema: poolRequestSchema, required: true },
  answers: { 200: { description: 'The pool', schema: poolSchema } },
  problems: [...BODY_PROBLEMS, 'BUSY', ...LIMIT_PROBLEMS],
  async handle({ deps, request, pathPart }) {
    const name = pathPart('name');
    checkName(name);
    const outcome = await putPool(deps, name, readJsonBody(request, poolRequestSchema).slots);
    if (outcome.kind === 'busy') {
      const headers = { 'retry-after': '1' };
      throw new ApiProblem('BUSY', 'Others keep changing this pool; try again.', { headers });
    }
    return jsonResponse(200, viewPool(outcome.limit));
  },
});

/** `GET /v1/pools/{name}` */
export const getPoolRoute = defineRoute({
  method: 'GET',
  path: '/v1/pools/{name}',
  operationId: 'getPool',
  summary: 'A pool, who holds its slots and who waits for them',
  answers: { 200: { description: 'The pool', schema: poolSchema } },
  problems: ['POOL_NOT_FOUND', ...LIMIT_PROBLEMS],
  async handle({ deps, pathPart }) {
    const name = pathPart('name');
    const limit = NAME_PATTERN.test(name) ? await deps.limits.readLimit(limitName('pool', name)) : undefined;
    const view = limit && viewPool(limit);
    if (!view) throw new ApiProblem('POOL_NOT_FOUND', `There is no pool ${JSON.stringify(name)}.`);
    return jsonResponse(200, { ...view, ...(await readSlots(deps, limit)) });
  },
});

/** `GET /v1/pools` */
export const listPoolsRoute = defineRoute({
  method: 'GET',
  path: '/v1/pools',
  operationId: 'listPools',
  summary: 'Lists pools by name',
  query: paging,
  answers: { 200: { description: 'A page', schema: pageSchema(poolLineSchema) } },
  problems: ['INVALID_PARAMETER', 'INVALID_PAGE_TOKEN'],
  async handle({ deps, query }) {
    const listed = { list: 'pools' };
    const after = query.cursor === undefined ? undefined : fromCursor(query.cursor, listed, z.string());
    const page = { limit: query.limit ?? DEFAULT_LIMIT, after, view: viewPool };
    const { items, last } = await listNamed(deps, 'pool', page);
    return jsonResponse(200, { items, ...(last !== undefined && { nextCursor: toCursor(listed, last) }) });
  },
});

/** A pool that was put; nothing for one that nodes only name. */
function viewPool(limit: LimitRecord) {
  if (limit.slots === undefined) return undefined;
  return { name: parseLimitName(limit.name).name, slots: limit.slots, held: heldSlots(limit) };
}
