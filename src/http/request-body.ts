/** Reads bodies: their size, their type, their text, and then their JSON, each refused with what would be right. */
import type * as z from 'zod';
import { formatPath, type PathSegment } from '#domain/definition-path.ts';
import type { Json } from '#domain/json.ts';
import { parseJsonStrict } from '#domain/json-text.ts';
import type { ApiRequest } from './api-message.ts';
import { toFieldProblems } from './field-problems.ts';
import { ApiProblem, isProblemCode } from './problem.ts';

/** Longest body (bytes), definitions apart. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** What may be wrong with a JSON body. */
export const BODY_PROBLEMS = [
  'INVALID_JSON',
  'INVALID_UNICODE',
  'DUPLICATE_KEY',
  'NUMBER_OUT_OF_RANGE',
  'TOO_DEEP',
  'FORBIDDEN_KEY',
  'BODY_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'INVALID_REQUEST',
] as const;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The media type of a body without its parameters, in lower case; the default where none is named.
 * @throws ApiProblem UNSUPPORTED_MEDIA_TYPE, also for a body that is compressed
 */
export function mediaTypeOf(request: ApiRequest, allowed: readonly string[]): string {
  refuseEncoding(request);
  const header = request.headers.get('content-type')?.trim();
  if (!header) return allowed[0] as string;
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice('charset='.length);
  const isUtf8 = charset === undefined || /^"?utf-?8"?$/.test(charset);
  if (allowed.includes(type) && isUtf8) return type;
  const detail = `The body is ${header}; this address takes ${allowed.join(' or ')} in UTF-8.`;
  throw new ApiProblem('UNSUPPORTED_MEDIA_TYPE', detail, { headers: { accept: allowed.join(', ') } });
}

function refuseEncoding({ headers }: ApiRequest): void {
  const encoding = headers.get('content-encoding')?.trim();
  if (!encoding || encoding.toLowerCase() === 'identity') return;
  const detail = `The body is encoded as ${encoding}; this address takes it as it is.`;
  throw new ApiProblem('UNSUPPORTED_MEDIA_TYPE', detail, { headers: { 'accept-encoding': 'identity' } });
}

/**
 * The text of a body.
 * @throws ApiProblem BODY_TOO_LARGE, INVALID_UNICODE
 */
export function textOf(request: ApiRequest, maxBytes: number): string {
  if (request.body.length > maxBytes) {
    throw new ApiProblem('BODY_TOO_LARGE', `The body has ${request.body.length} bytes; at most ${maxBytes} are taken.`);
  }
  const text = utf8Of(request.body);
  if (text === undefined || isPatched(request, text)) {
    throw new ApiProblem('INVALID_UNICODE', 'The body is not UTF-8 text.');
  }
  return text;
}

function utf8Of(body: Uint8Array): string | undefined {
  try {
    return utf8.decode(body);
  } catch {
    return undefined;
  }
}

/**
 * Whether a gateway put U+FFFD in the place of bytes that are no UTF-8: it hands bodies of text types on as text, so
 * all that is left to be seen is that the body is longer than the one that was sent.
 */
function isPatched({ headers, body }: ApiRequest, text: string): boolean {
  const sent = headers.get('content-length');
  return sent !== undefined && Number(sent) !== body.length && text.includes('\uFFFD');
}

/** Reads a JSON body by a schema. An empty body is an empty object. */
export function readJsonBody<T extends z.ZodObject>(request: ApiRequest, schema: T): z.output<T> {
  if (request.body.length === 0) return checkFields({}, schema);
  mediaTypeOf(request, ['application/json']);
  const parsed = parseJsonStrict(textOf(request, MAX_BODY_BYTES));
  if (!parsed.ok) {
    const first = parsed.errors[0];
    const code = first && isProblemCode(first.code) ? first.code : 'INVALID_JSON';
    throw new ApiProblem(code, first?.message ?? 'The body is not valid JSON.', { errors: parsed.errors });
  }
  refuseForbiddenKeys(parsed.value);
  return checkFields(parsed.value, schema);
}

function checkFields<T extends z.ZodObject>(value: Json, schema: T): z.output<T> {
  const checked = schema.safeParse(value);
  if (checked.success) return checked.data;
  const errors = toFieldProblems(checked.error, value, Object.keys(schema.shape));
  const first = errors[0];
  const detail = first ? `${first.path || 'The body'}: ${first.message}` : 'The body is not valid.';
  throw new ApiProblem('INVALID_REQUEST', detail, { errors });
}

/** Refuses keys by which a careless reader of the value would change the prototype of every object. */
export function refuseForbiddenKeys(value: Json): void {
  const path = findForbiddenKey(value);
  if (!path) return;
  const message = 'this key is not allowed, since programs that read it carelessly take it for more than data';
  const error = { path: formatPath(path), code: 'FORBIDDEN_KEY', message };
  throw new ApiProblem('FORBIDDEN_KEY', `${error.path}: ${message}.`, { errors: [error] });
}

/** The path of the first `__proto__`, or of a `constructor` that has a `prototype`. */
export function findForbiddenKey(value: Json): readonly PathSegment[] | undefined {
  const open: { value: Json; path: readonly PathSegment[] }[] = [{ value, path: [] }];
  for (let next = open.pop(); next; next = open.pop()) {
    if (typeof next.value !== 'object' || next.value === null) continue;
    const isList = Array.isArray(next.value);
    for (const [key, member] of Object.entries(next.value) as [string, Json][]) {
      const path = [...next.path, isList ? Number(key) : key];
      if (!isList && isForbidden(key, member)) return path;
      open.push({ value: member, path });
    }
  }
  return undefined;
}

function isForbidden(key: string, member: Json): boolean {
  if (key === '__proto__') return true;
  return key === 'constructor' && typeof member === 'object' && member !== null && Object.hasOwn(member, 'prototype');
}
