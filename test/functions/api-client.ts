/** Calls the api function as the gateway would, and holds every answer against the schema that describes it. */
import { expect } from 'vitest';
import type { z } from 'zod';
import type { Json } from '#domain/json.ts';
import { PROBLEMS } from '#http/problem.ts';
import { problemSchema } from '#http/problem-schema.ts';
import { ROUTES } from '#http/routes.ts';
import { createHandler, type RequestLog } from '../../functions/api/handler.ts';
import { type Behaviour, CONTEXT, createInstallation } from './installation.ts';

/** An answer. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read bodies whose shape the schema has checked
  readonly body: any;
}

/** What a call sends beside its address. */
export interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, or a text as it is. */
  readonly body?: Json | { readonly text: string } | { readonly base64: string };
  readonly by?: string;
}

/** A line of the log. */
export interface LogLine {
  readonly level: 'info' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** An installation with a client of its API. */
export function createApi(behave?: Behaviour) {
  const installation = createInstallation(behave);
  const lines: LogLine[] = [];
  const logger: RequestLog = {
    info: (message, fields) => void lines.push({ level: 'info', message, fields }),
    error: (message, fields) => void lines.push({ level: 'error', message, fields }),
  };
  const handler = createHandler({ api: installation.deps, logger });
  const call = async (method: string, address: string, sent: Sent = {}): Promise<Answer> => {
    const response = await handler(toEvent(method, address, sent), CONTEXT);
    return checked(method, address, response);
  };
  return {
    ...installation,
    lines,
    call,
    get: (address: string) => call('GET', address),
    post: (address: string, body?: Json, headers?: Sent['headers']) =>
      call('POST', address, { ...(body !== undefined && { body }), ...(headers && { headers }) }),
    put: (definition: Json & { readonly name: string }) =>
      call('PUT', `/v1/pipelines/${definition.name}`, { body: definition }),
  };
}

/** An installation with a client. */
export type Api = ReturnType<typeof createApi>;

function toEvent(method: string, address: string, { headers, body, by }: Sent) {
  const [path = '', query = ''] = address.split('?');
  return {
    version: '2.0',
    rawPath: decodeURIComponent(path),
    rawQueryString: query,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...toBody(body),
    requestContext: {
      requestId: 'request-1',
      http: { method },
      ...(by !== undefined && { authorizer: { iam: { userArn: by } } }),
    },
  };
}

function toBody(body: Sent['body']): { body?: string; isBase64Encoded: boolean } {
  if (body === undefined) return { isBase64Encoded: false };
  const special = body as { text?: string; base64?: string };
  if (typeof body === 'object' && body !== null && typeof special.base64 === 'string') {
    return { body: special.base64, isBase64Encoded: true };
  }
  if (typeof body === 'object' && body !== null && typeof special.text === 'string') {
    return { body: special.text, isBase64Encoded: false };
  }
  return { body: JSON.stringify(body), isBase64Encoded: false };
}

function checked(
  method: string,
  address: string,
  response: { statusCode: number; headers: Readonly<Record<string, string>>; body?: string },
): Answer {
  const { statusCode: status, headers, body: text = '' } = response;
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  expect(headers['x-request-id']).toBe('request-1');
  if (method === 'HEAD') expect(text).toBe('');
  else if (status >= 400) checkProblem(status, headers, body);
  else schemaOf(method, address, status)?.parse(body);
  return { status, headers, text, body };
}

function checkProblem(status: number, headers: Readonly<Record<string, string>>, body: unknown): void {
  expect(headers['content-type']).toBe('application/problem+json');
  const problem = problemSchema.parse(body);
  expect(problem.status).toBe(status);
  expect(PROBLEMS[problem.code as keyof typeof PROBLEMS].status).toBe(status);
  expect(problem.type).toBe(`https://millrace.dev/errors/${problem.code}`);
  expect(problem.requestId).toBe('request-1');
}

function schemaOf(method: string, address: string, status: number): z.ZodType | undefined {
  const path = decodeURIComponent(address.split('?')[0] ?? '');
  const route = ROUTES.find((candidate) => {
    const pattern = candidate.path.replaceAll(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.');
    return candidate.method === method && new RegExp(`^${pattern}$`).test(path);
  });
  expect(route?.answers, `${method} ${path} has a route`).toBeDefined();
  expect(Object.keys(route?.answers ?? {}), `${method} ${path} answers ${status}`).toContain(String(status));
  return route?.answers[status]?.schema;
}
