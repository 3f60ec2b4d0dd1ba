import { createHash } from 'node:crypto';
import type { LoopbackAnswer, LoopbackRequest } from '#local/loopback-server.ts';

/** A request that failed, in the words of S3. */
export class ObjectError extends Error {
  override readonly name = 'ObjectError';
  /** The exception's name, as a client's `error.name` shows it. */
  readonly code: string;
  /** HTTP status. */
  readonly status: number;

  constructor(code: string, message: string, status: number) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** A request for one object. */
export type ObjectRequest = {
  readonly api: 'PutObject' | 'GetObject' | 'HeadObject';
  readonly bucket: string;
  readonly key: string;
  /** Bucket and key: what tells objects apart. */
  readonly id: string;
  /** The content, for PutObject. */
  readonly body: Buffer;
  readonly contentType: string;
  /** What a presigned address asks to be answered as content type. */
  readonly responseContentType: string | undefined;
};

const apis: ReadonlyMap<string, ObjectRequest['api']> = new Map([
  ['PUT', 'PutObject'],
  ['GET', 'GetObject'],
  ['HEAD', 'HeadObject'],
]);

/** Query parameters that do not change what a request is; any other one asks for what is not hosted. */
const plainParameters = /^(?:x-id|response-content-type|x-amz-.*)$/i;

/**
 * Reads a path-style request.
 * @param now for the expiry of presigned addresses; ms since 1970
 * @throws {ObjectError}
 */
export function readObjectRequest({ method, target, headers, body }: LoopbackRequest, now: number): ObjectRequest {
  const { pathname, searchParams } = new URL(target, 'http://host');
  const [, bucket = '', key = ''] = /^\/([^/]+)\/(.+)$/.exec(decoded(pathname)) ?? [];
  const api = apis.get(method);
  const odd = [...searchParams.keys()].find((name) => !plainParameters.test(name));
  if (api === undefined || key === '' || odd !== undefined || header(headers, 'content-encoding') === 'aws-chunked') {
    const what = `${method} ${pathname}${odd === undefined ? '' : `?${odd}`}`;
    throw new ObjectError('NotImplemented', `The development host does not know this request of S3: ${what}`, 501);
  }
  if (isExpired(searchParams, now)) throw new ObjectError('AccessDenied', 'Request has expired', 403);
  checkDigest(header(headers, 'x-amz-checksum-sha256'), body);
  return {
    api,
    bucket,
    key,
    id: `${bucket}/${key}`,
    body,
    contentType: header(headers, 'content-type') ?? 'binary/octet-stream',
    responseContentType: searchParams.get('response-content-type') ?? undefined,
  };
}

function decoded(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    throw new ObjectError('InvalidURI', 'Could not parse the specified URI.', 400);
  }
}

function header(headers: LoopbackRequest['headers'], name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** `X-Amz-Date` is written like 20261130T120000Z. */
function isExpired(parameters: URLSearchParams, now: number): boolean {
  const [date, seconds] = [parameters.get('X-Amz-Date'), parameters.get('X-Amz-Expires')];
  if (date === null || seconds === null) return false;
  const iso = date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z');
  return !(now <= Date.parse(iso) + Number(seconds) * 1000);
}

function checkDigest(expected: string | undefined, body: Buffer): void {
  if (expected === undefined || createHash('sha256').update(body).digest('base64') === expected) return;
  throw new ObjectError('BadDigest', 'The SHA256 you specified did not match the calculated checksum.', 400);
}

/** What is told of an object. */
export type ObjectHead = { readonly etag: string; readonly contentType?: string; readonly modified?: number };

/** An answer about an object, with its content if it was asked for. Of a HEAD, the listener sends the headers alone. */
export function objectAnswer(
  { etag, contentType, modified }: ObjectHead,
  content: Buffer | string = '',
): LoopbackAnswer {
  return {
    status: 200,
    headers: {
      etag,
      ...(contentType === undefined ? {} : { 'content-type': contentType }),
      ...(modified === undefined ? {} : { 'last-modified': new Date(modified).toUTCString() }),
    },
    body: content,
  };
}

/** The answer that makes a client throw `error`; anything that is no {@link ObjectError} becomes an `InternalError`. */
export function objectFailure(error: unknown): LoopbackAnswer {
  const known = error instanceof ObjectError ? error : new ObjectError('InternalError', String(error), 500);
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${known.code}</Code><Message>${escaped(known.message)}</Message></Error>`;
  return { status: known.status, headers: { 'content-type': 'application/xml' }, body };
}

function escaped(text: string): string {
  return text.replace(/[<>&]/g, (character) => `&#${character.charCodeAt(0)};`);
}
