/** Requests as an HTTP API hands them to a function (payload version 2.0), and answers as it takes them back. */
import * as z from 'zod';
import type { ApiRequest, ApiResponse } from './api-message.ts';

/** What of an event is read. https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html */
const gatewayEventSchema = z.object({
  rawPath: z.string(),
  rawQueryString: z.string().default(''),
  headers: z.record(z.string(), z.string()).default({}),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().default(false),
  requestContext: z.object({
    requestId: z.string(),
    http: z.object({ method: z.string() }),
    authorizer: z.object({ iam: z.object({ userArn: z.string().nullish() }).nullish() }).nullish(),
  }),
});

/** An answer in the form of the gateway. */
export interface GatewayResponse {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/**
 * Reads an event.
 * @throws z.ZodError for what is no event of an HTTP API: the function is wired wrongly
 */
export function fromGatewayEvent(event: unknown): ApiRequest {
  const { rawPath, rawQueryString, headers, body, isBase64Encoded, requestContext } = gatewayEventSchema.parse(event);
  const by = requestContext.authorizer?.iam?.userArn;
  return {
    method: requestContext.http.method.toUpperCase(),
    path: rawPath,
    query: new URLSearchParams(rawQueryString),
    headers: new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    body: Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8'),
    requestId: requestContext.requestId,
    ...(by && { by }),
  };
}

/** Writes an answer; every one carries the id of its request. */
export function toGatewayResponse({ status, headers, body }: ApiResponse, requestId: string): GatewayResponse {
  return {
    statusCode: status,
    headers: { ...headers, 'x-request-id': requestId },
    ...(body !== undefined && { body }),
  };
}
