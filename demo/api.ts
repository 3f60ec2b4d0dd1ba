import pRetry from 'p-retry';
import { z } from 'zod';

/** How often a call that met a function that died is tried again. */
const TRIES_AGAIN = 8;

const time = z.iso.datetime().transform((text) => Date.parse(text));
const error = z.object({ name: z.string(), message: z.string() });

const run = z.object({
  id: z.string(),
  state: z.string(),
  reason: z.string(),
  message: z.string(),
  output: z.unknown().optional(),
});
/** A run, as far as the demo shows it. */
export type Run = z.infer<typeof run>;

const node = z.object({
  id: z.string(),
  state: z.string(),
  reason: z.string(),
  /** Since when it stands so. */
  since: time,
  attempt: z.int(),
  /** Of its first attempt. */
  startedAt: time.optional(),
  endedAt: time.optional(),
  nextAttemptAt: time.optional(),
  error: error.optional(),
});
/** A node of a run, as far as the demo shows it; times in milliseconds since 1970. */
export type Node = z.infer<typeof node>;

const problem = z.object({ code: z.string(), detail: z.string().optional() });

/** The HTTP API answered with an error. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
}

/** The few calls of the HTTP API that the demo makes. */
export class Api {
  readonly #url: string;
  /** How many requests were sent. */
  requests = 0;

  constructor(url: string) {
    this.#url = url;
  }

  /** Stores a definition, given as YAML or JSON text; returns its revision. */
  async putPipeline(name: string, text: string, type: 'application/yaml' | 'application/json'): Promise<string> {
    const answer = await this.#call('PUT', `/v1/pipelines/${name}`, text, type);
    return z.object({ revision: z.string() }).parse(answer).revision;
  }

  /** Starts a run; the same key starts it only once. */
  async startRun(pipeline: string, input: unknown, idempotencyKey: string): Promise<Run> {
    const body = JSON.stringify({ input });
    return run.parse(
      await this.#call('POST', `/v1/pipelines/${pipeline}/runs`, body, 'application/json', idempotencyKey),
    );
  }

  /** The run as it is now. */
  async run(id: string): Promise<Run> {
    return run.parse(await this.#call('GET', `/v1/runs/${id}`));
  }

  /** Its nodes in the order of the definition. */
  async nodes(id: string): Promise<Node[]> {
    return z.object({ items: z.array(node) }).parse(await this.#call('GET', `/v1/runs/${id}/nodes?limit=1000`)).items;
  }

  async #call(method: string, path: string, body?: string, type?: string, idempotencyKey?: string): Promise<unknown> {
    const headers = new Headers();
    if (type) headers.set('content-type', type);
    if (idempotencyKey) headers.set('idempotency-key', idempotencyKey);
    const request = { method, headers, ...(body !== undefined && { body }) };
    const response = await pRetry(() => this.#send(path, request), {
      retries: TRIES_AGAIN,
      minTimeout: 100,
      maxTimeout: 1000,
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text);
    const known = problem.safeParse(parseOrText(text));
    const what = known.success ? `${known.data.code}: ${known.data.detail ?? ''}` : text.slice(0, 500);
    throw new ApiError(`${method} ${path} answered ${response.status}: ${what}`);
  }

  /** Every call of the demo may be repeated, so one that met a function that died is. */
  async #send(path: string, request: RequestInit): Promise<Response> {
    this.requests += 1;
    const response = await fetch(`${this.#url}${path}`, request);
    if (response.status < 500) return response;
    throw new ApiError(
      `${request.method} ${path} answered ${response.status}: ${(await response.text()).slice(0, 500)}`,
    );
  }
}

function parseOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
