/** The function behind the HTTP API: the router, within a stack that logs one line a request and answers every error. */
import middy, { type MiddlewareObj } from '@middy/core';
import type { Context } from 'aws-lambda';
import { withoutBody } from '#http/api-message.ts';
import { fromGatewayEvent, type GatewayResponse, toGatewayResponse } from '#http/gateway-event.ts';
import { problemResponse, toProblem } from '#http/problem-response.ts';
import type { ApiDeps } from '#http/route.ts';
import { createRouter } from '#http/router.ts';
import { ROUTES } from '#http/routes.ts';

/** Where the lines go. */
export interface RequestLog {
  info(message: string, fields: Readonly<Record<string, unknown>>): void;
  error(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** What the function works with. */
export interface ApiHandlerDeps {
  readonly api: ApiDeps;
  readonly logger: RequestLog;
}

type ApiMiddleware = MiddlewareObj<unknown, GatewayResponse, Error, Context>;

/** Makes the handler. */
export function createHandler({ api, logger }: ApiHandlerDeps) {
  const route = createRouter(ROUTES, api);
  return middy<unknown, GatewayResponse, Error, Context>()
    .use(requestLine(api, logger))
    .use(problems())
    .handler(async (event) => {
      const request = fromGatewayEvent(event);
      return toGatewayResponse(await route(request), request.requestId);
    });
}

/** One line a request, whatever became of it. */
function requestLine(api: ApiDeps, logger: RequestLog): ApiMiddleware {
  const begun = new WeakMap<object, number>();
  const write = (request: Parameters<NonNullable<ApiMiddleware['after']>>[0]) => {
    const { method, path, by, requestId } = fromGatewayEvent(request.event);
    const status = request.response?.statusCode;
    const ms = api.clock.now() - (begun.get(request) ?? api.clock.now());
    const fields = { requestId, method, path, status, ms, ...(by !== undefined && { by }) };
    if (!request.error) {
      logger.info('request', fields);
      return;
    }
    const { code, cause } = toProblem(request.error);
    if (status !== undefined && status >= 500)
      logger.error('request', { ...fields, code, error: cause ?? request.error });
    else logger.info('request', { ...fields, code });
  };
  return {
    before: (request) => void begun.set(request, api.clock.now()),
    after: write,
    onError: write,
  };
}

/** Turns every error into a problem for the client. */
function problems(): ApiMiddleware {
  return {
    onError(request) {
      const { requestId, method } = fromGatewayEvent(request.event);
      const response = problemResponse(toProblem(request.error), requestId);
      request.response = toGatewayResponse(method === 'HEAD' ? withoutBody(response) : response, requestId);
    },
  };
}
