import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { problemShape } from './api-shapes.ts';
import { CliError } from './cli-error.ts';
import { EXIT } from './exit-codes.ts';

/** One call of the API. */
export interface ApiCall {
  readonly method?: 'GET' | 'PUT' | 'POST' | 'DELETE';
  /** Path and query, from `/v1` on. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the API answered with. */
export interface ApiAnswer {
  readonly status: number;
  /** As it came. */
  readonly text: string;
  readonly value: unknown;
}

/** Calls the API of one server. */
export interface ApiClient {
  readonly url: string;
  /** Requests that were sent so far. */
  readonly requests: number;
  /**
   * Sends a request, again and again where the server is only busy: every call that the commands make may be repeated.
   * @throws CliError with the server's code, `SERVER_UNREACHABLE` or `NOT_MILLRACE`
   */
  send(call: ApiCall): Promise<ApiAnswer>;
  /** Sends a request and reads its answer by a shape. */
  read<Shape extends z.ZodType>(shape: Shape, call: ApiCall): Promise<z.output<Shape>>;
}

const TIMEOUT_MS = 45_000;
const FIRST_DELAY_MS = 50;
const LONGEST_DELAY_MS = 1000;
const USUAL_TRIES = 10;
/** Answers of a gateway or a function that could not do it now. */
const BUSY: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Makes a client of the server at an address.
 * @param tries how often a request is sent to a server that cannot do it now @default 10, in about 6 s
 */
export function createApiClient(url: string, tries = USUAL_TRIES): ApiClient {
  let requests = 0;
  async function send(call: ApiCall): Promise<ApiAnswer> {
    for (let sent = 1; ; sent++) {
      requests += 1;
      const response = await sendOnce(url, call);
      const answer = await toAnswer(response);
      if (response.ok && answer !== undefined) return answer;
      const problem = problemShape.safeParse(answer?.value).data;
      if (sent >= tries || !isPassing(response.status, problem !== undefined)) {
        throw refusalOf(url, call, response, problem, answer);
      }
      await sleep(delayOf(sent, response.headers.get('retry-after')));
    }
  }
  return {
    url,
    get requests() {
      return requests;
    },
    send,
    async read(shape, call) {
      const { value } = await send(call);
      const read = shape.safeParse(value);
      if (read.success) return read.data;
      throw notMillrace(url, `${call.path} answered something else than expected: ${z.prettifyError(read.error)}`);
    },
  };
}

async function sendOnce(url: string, { method = 'GET', path, body, headers }: ApiCall): Promise<Response> {
  try {
    return await fetch(`${url}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  } catch (error) {
    throw unreachable(url, error);
  }
}

async function toAnswer(response: Response): Promise<ApiAnswer | undefined> {
  const text = await response.text();
  if (response.status === 204) return { status: response.status, text, value: undefined };
  try {
    return { status: response.status, text, value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** A 500 that is no problem document comes from the gateway: the function died, and the next one may not. */
function isPassing(status: number, isProblem: boolean): boolean {
  return BUSY.has(status) || (status === 500 && !isProblem);
}

function delayOf(sent: number, retryAfter: string | null): number {
  const asked = /^\d{1,3}$/.test(retryAfter ?? '') ? Number(retryAfter) * 1000 : 0;
  return Math.min(LONGEST_DELAY_MS, Math.max(asked, FIRST_DELAY_MS * 2 ** (sent - 1)));
}

/** Statuses that say that what was given on the command line is wrong. */
const WRONG_INPUT: ReadonlySet<number> = new Set([400, 413, 415, 422]);

const NEXT_STEPS: ReadonlyMap<string, string> = new Map([
  ['PIPELINE_NOT_FOUND', '`millrace pipelines` lists those that are there.'],
  ['ENGINE_NOT_FOUND', '`millrace engines` lists those that are there.'],
  ['POOL_NOT_FOUND', '`millrace pools` lists those that are there.'],
  ['RUN_NOT_FOUND', '`millrace runs` lists those that are there.'],
  ['UNKNOWN_ROUTE', 'The server may be of another version than this command line.'],
]);

function refusalOf(
  url: string,
  { method = 'GET', path }: ApiCall,
  response: Response,
  problem: z.output<typeof problemShape> | undefined,
  answer: ApiAnswer | undefined,
): CliError {
  if (problem !== undefined) {
    const next = NEXT_STEPS.get(problem.code);
    const more = problem.errors.slice(1).map((error) => `${error.path}: ${error.message} [${error.code}]`);
    const message = [problem.detail, ...more].join(' · ');
    const exitCode = WRONG_INPUT.has(response.status) ? EXIT.usage : EXIT.failed;
    return new CliError(problem.code, message, { exitCode, ...(next !== undefined && { next }) });
  }
  const gateway = z.object({ message: z.string() }).safeParse(answer?.value).data;
  if (gateway !== undefined) {
    const message = `${method} ${url}${path}: ${gateway.message}.`;
    return new CliError(`HTTP_${response.status}`, message, { exitCode: EXIT.failed });
  }
  const type = response.headers.get('content-type') ?? 'nothing';
  return notMillrace(url, `${method} ${path} answered ${response.status} with ${type}`);
}

function notMillrace(url: string, what: string): CliError {
  const next = 'Name the address of a Millrace API with --url or MILLRACE_URL.';
  return new CliError('NOT_MILLRACE', `${url} is no Millrace API: ${what}.`, { exitCode: EXIT.failed, next });
}

const causeShape = z.object({ cause: z.object({ code: z.string().optional(), message: z.string() }) });

function unreachable(url: string, error: unknown): CliError {
  const cause = causeShape.safeParse(error).data?.cause;
  const isTimeout = error instanceof Error && error.name === 'TimeoutError';
  const why = isTimeout ? `no answer after ${TIMEOUT_MS / 1000} s` : cause?.message || cause?.code || String(error);
  const next = 'Start a server with `millrace dev`, or name another one with --url or MILLRACE_URL.';
  const message = `nothing answers at ${url} (${why}).`;
  return new CliError('SERVER_UNREACHABLE', message, { exitCode: EXIT.failed, next, cause: error });
}
