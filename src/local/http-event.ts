import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { hostAccount } from '#local/cloud-address.ts';
import { type LoopbackAnswer, type LoopbackRequest, refusal } from '#local/loopback-server.ts';

/** An HTTP API as its events show it. */
export type ApiIdentity = { readonly apiId: string; readonly domainName: string };

/**
 * The event of payload format 2.0, as JSON text, for the route `$default` of the stage `$default`.
 * Undefined if the path is badly encoded.
 */
export function toHttpEvent(request: LoopbackRequest, api: ApiIdentity, now: number): string | undefined {
  const question = request.target.indexOf('?');
  const rawPath = decodePath(question < 0 ? request.target : request.target.slice(0, question));
  if (rawPath === undefined) return undefined;
  const rawQueryString = question < 0 ? '' : request.target.slice(question + 1);
  const headers = headersOf(request);
  const { cookie } = headers;
  const isText = isTextBody(headers);
  return JSON.stringify({
    version: '2.0',
    routeKey: '$default',
    rawPath,
    rawQueryString,
    ...(cookie === undefined ? {} : { cookies: cookie.split('; ') }),
    headers,
    ...(rawQueryString === '' ? {} : { queryStringParameters: queryOf(rawQueryString) }),
    requestContext: {
      accountId: hostAccount,
      apiId: api.apiId,
      domainName: api.domainName,
      domainPrefix: api.apiId,
      http: {
        method: request.method,
        path: rawPath,
        protocol: request.protocol,
        sourceIp: request.sourceIp,
        userAgent: headers['user-agent'] ?? '',
      },
      requestId: randomUUID(),
      routeKey: '$default',
      stage: '$default',
      time: logTime(now),
      timeEpoch: now,
    },
    ...(request.body.length === 0 ? {} : { body: request.body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: request.body.length > 0 && !isText,
  });
}

const proxyResponse = z.object({
  statusCode: z.union([z.int().min(100).max(599), z.string().regex(/^[1-5]\d\d$/)]),
  headers: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullish(),
  cookies: z.array(z.string()).nullish(),
  body: z.string().nullish(),
  isBase64Encoded: z.boolean().nullish(),
});

/** What API Gateway makes of the function's response (JSON text): a value without `statusCode` is a body of its own. */
export function toHttpAnswer(payload: string): LoopbackAnswer {
  const value: unknown = JSON.parse(payload);
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'statusCode')) {
    const body = typeof value === 'string' ? value : payload;
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  }
  const parsed = proxyResponse.safeParse(value);
  if (!parsed.success) return refusal(500, 'Internal Server Error');
  const { statusCode, headers, cookies, body, isBase64Encoded } = parsed.data;
  const given = Object.entries(headers ?? {}).map(([name, text]) => [name.toLowerCase(), String(text)] as const);
  return {
    status: Number(statusCode),
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      ...Object.fromEntries(given),
      ...(cookies ? { 'set-cookie': cookies } : {}),
    },
    body: isBase64Encoded === true ? Buffer.from(body ?? '', 'base64') : (body ?? ''),
  };
}

/** HTTP APIs decode the path once, so that `%2F` cannot be told from `/`. */
function decodePath(path: string): string | undefined {
  try {
    return decodeURIComponent(path);
  } catch {
    return undefined;
  }
}

function headersOf(request: LoopbackRequest): Record<string, string> {
  const entries = Object.entries(request.headers).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return [[name, typeof value === 'string' ? value : value.join(',')] as const];
  });
  return { ...Object.fromEntries(entries), 'x-forwarded-for': request.sourceIp, 'x-forwarded-proto': 'http' };
}

/** Everything that is not known to be text arrives in base64. */
function isTextBody(headers: Readonly<Record<string, string>>): boolean {
  if (headers['content-encoding'] !== undefined) return false;
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() ?? '';
  return /^text\/|^application\/(?:json|javascript|xml|[\w.-]+\+(?:json|xml))$/.test(type);
}

function queryOf(rawQueryString: string): Record<string, string> {
  const query = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(rawQueryString)) {
    const earlier = query.get(name);
    query.set(name, earlier === undefined ? value : `${earlier},${value}`);
  }
  return Object.fromEntries(query);
}

/** `12/Mar/2026:19:03:58 +0000`. */
function logTime(now: number): string {
  const [, day, month, year, time] = new Date(now).toUTCString().split(' ');
  return `${day}/${month}/${year}:${time} +0000`;
}
