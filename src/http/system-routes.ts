/** The API about itself. */
import * as z from 'zod';
import { toIsoTime } from '#domain/iso-time.ts';
import { jsonResponse } from './api-message.ts';
import { defineRoute, type Route } from './route.ts';
import { healthSchema } from './system-schemas.ts';

/** `GET /v1/health`: answers whenever the function can; it asks no other service, since none is needed to answer. */
export const healthRoute = defineRoute({
  method: 'GET',
  path: '/v1/health',
  operationId: 'getHealth',
  summary: 'Whether the API answers',
  answers: { 200: { description: 'It does', schema: healthSchema } },
  problems: [],
  async handle({ deps }) {
    const time = toIsoTime(deps.clock.now());
    return jsonResponse(200, { status: 'ok', installation: deps.installation, time });
  },
});

/**
 * `GET /v1/openapi.json`
 * @param routes all routes, this one among them
 */
export function openApiRoute(routes: () => readonly Route[]): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/openapi.json',
    operationId: 'getOpenApi',
    summary: 'This document',
    answers: { 200: { description: 'OpenAPI 3.1', schema: z.unknown() } },
    problems: [],
    async handle() {
      // Loaded when it is asked for: no other call needs it.
      const { buildOpenApi } = await import('./openapi.ts');
      return jsonResponse(200, buildOpenApi(routes()));
    },
  });
}
