/** Sends a request, again and again where the server is only busy or cannot be reached just now. */
import pRetry from 'p-retry';
import { ConnectionError, GatewayError, MillraceError, ProblemError } from './errors.ts';
import { pause } from './pause.ts';
import { type Received, readJson } from './read-answer.ts';

/** A request, as it goes out. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
}

/** Gives the headers that a request goes out with; asked anew each time that it is sent. */
export type Sign = (request: OutgoingRequest) => Promise<Readonly<Record<string, string>>>;

/** How a request is sent again that found a server busy, or none. */
export interface Retries {
  /** How often it is sent again. @default 9, in about 10 s */
  readonly limit?: number;
  /** How often in a row where nothing answers at all: mostly the address is wrong. @default 2 */
  readonly connectionLimit?: number;
  /** The least wait before the first time (ms); it doubles, and up to as much again is added by chance. @default 50 */
  readonly firstDelayMs?: number;
  /** The longest wait (ms). @default 2000 */
  readonly longestDelayMs?: number;
  /** A server that asks for a longer wait than this (ms) is not asked again. @default 30000 */
  readonly longestRetryAfterMs?: number;
}

/** How requests are sent. */
export interface Sending {
  readonly fetch: typeof globalThis.fetch;
  readonly token: string | (() => string | Promise<string>) | undefined;
  readonly sign: Sign | undefined;
  readonly retries: Required<Retries>;
  readonly timeoutMs: number;
}

/** What was answered. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The JSON of the text; nothing where the text is empty. */
  readonly value: unknown;
}

/** How one request is to be sent. */
export interface SendOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether it may be sent again where nobody knows if it was carried out. */
  readonly isRepeatable: boolean;
  /** Whether it is carried out already, by the answer to it when it is sent again. */
  readonly isDone?: (error: ProblemError) => boolean;
}

/**
 * Sends a request.
 * @throws MillraceError, or the reason of the signal
 */
export async function sendRequest(request: OutgoingRequest, sending: Sending, options: SendOptions): Promise<Answered> {
  try {
    return await sendUntilAnswered(request, sending, options);
  } catch (error) {
    // The reason need not be an error, and is given as it is.
    options.signal?.throwIfAborted();
    throw error;
  }
}

function sendUntilAnswered(
  request: OutgoingRequest,
  sending: Sending,
  { signal, isRepeatable, isDone }: SendOptions,
): Promise<Answered> {
  const { retries } = sending;
  let unanswered = 0;
  const isWorthIt = (error: Error) => isRepeatable && isPassing(error) && waitOf(error) <= retries.longestRetryAfterMs;
  return pRetry(
    async (attempt) => {
      try {
        return await sendOnce(request, sending, signal);
      } catch (error) {
        if (attempt > 1 && error instanceof ProblemError && isDone?.(error)) return DONE;
        throw error;
      }
    },
    {
      retries: retries.limit,
      minTimeout: retries.firstDelayMs,
      maxTimeout: retries.longestDelayMs,
      randomize: true,
      ...(signal && { signal }),
      shouldRetry({ error }) {
        unanswered = error instanceof ConnectionError ? unanswered + 1 : 0;
        return unanswered <= retries.connectionLimit && isWorthIt(error);
      },
      async onFailedAttempt({ error, retriesLeft }) {
        if (retriesLeft > 0 && isWorthIt(error) && waitOf(error) > 0) await pause(waitOf(error), signal);
      },
    },
  );
}

const DONE: Answered = { status: 204, headers: new Headers(), text: '', value: undefined };

/** Statuses by which a gateway or a function says that it could not do it now. */
const BUSY: ReadonlySet<number> = new Set([429, 503]);
/** A gateway has these where the function died, or was late. */
const LOST: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

/** Whether it may be otherwise in a moment. */
function isPassing(error: Error): boolean {
  if (error instanceof ProblemError) return BUSY.has(error.status);
  return error instanceof ConnectionError || (error instanceof GatewayError && LOST.has(error.status));
}

/** For how long the server wants to be left alone (ms). */
function waitOf(error: Error): number {
  return error instanceof MillraceError ? (error.retryAfterSeconds ?? 0) * 1000 : 0;
}

async function sendOnce(request: OutgoingRequest, sending: Sending, signal?: AbortSignal): Promise<Answered> {
  const { method, url } = request;
  const headers = await headersOf(request, sending);
  const timeout = AbortSignal.timeout(sending.timeoutMs);
  const limit = signal ? AbortSignal.any([signal, timeout]) : timeout;
  let response: Response;
  let text: string;
  try {
    response = await fetchOnce({ ...request, headers }, sending, limit);
    text = await response.text();
  } catch (error) {
    signal?.throwIfAborted();
    const why = timeout.aborted ? `no answer after ${sending.timeoutMs / 1000} s` : reasonOf(error);
    throw new ConnectionError(`nothing answers at ${url.origin} (${why}).`, { cause: error });
  }
  const { status } = response;
  if (status === 204) return { status, headers: response.headers, text, value: undefined };
  const received: Received = {
    request: `${method} ${url.href}`,
    status,
    contentType: response.headers.get('content-type'),
    retryAfter: response.headers.get('retry-after'),
    text,
  };
  return { status, headers: response.headers, text, value: readJson(received) };
}

async function headersOf(
  request: OutgoingRequest,
  { token, sign }: Sending,
): Promise<Readonly<Record<string, string>>> {
  if (sign) return sign(request);
  const bearer = typeof token === 'function' ? await token() : token;
  return bearer === undefined ? request.headers : { ...request.headers, authorization: `Bearer ${bearer}` };
}

/** Where a large output is, it is fetched without the signature: that is for the API alone, and is refused elsewhere. */
async function fetchOnce(request: OutgoingRequest, { fetch, sign }: Sending, signal: AbortSignal): Promise<Response> {
  const { method, url, headers, body } = request;
  const init = { method, headers, signal, ...(body !== undefined && { body }) };
  if (!sign) return fetch(url, init);
  const response = await fetch(url, { ...init, redirect: 'manual' });
  const location = response.headers.get('location');
  if (response.status !== 307 || location === null) return response;
  await response.body?.cancel();
  return fetch(new URL(location, url), { signal });
}

/** Why `fetch` failed: mostly in the cause of its error. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  return cause.message || ('code' in cause ? String(cause.code) : cause.name);
}
