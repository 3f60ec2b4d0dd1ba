/** Problems (RFC 9457): the one table of codes and statuses, and the error that carries one through the handlers. */
import type { DefinitionError } from '#domain/definition.ts';

/** Where the documentation pages of the codes are. */
export const PROBLEM_PAGES = 'https://millrace.dev/errors/';

/** Every code that the API answers, with its status. Each has a page in `docs/errors/`. */
export const PROBLEMS = {
  INVALID_JSON: { status: 400, title: 'The body is not valid JSON' },
  INVALID_YAML: { status: 400, title: 'The body is not valid YAML' },
  INVALID_UNICODE: { status: 400, title: 'The body is not valid Unicode text' },
  DUPLICATE_KEY: { status: 400, title: 'An object has the same key twice' },
  NUMBER_OUT_OF_RANGE: { status: 400, title: 'A number cannot be kept exactly' },
  TOO_DEEP: { status: 400, title: 'The body is nested too deeply' },
  FORBIDDEN_KEY: { status: 400, title: 'A key is not allowed' },
  INVALID_PARAMETER: { status: 400, title: 'A query parameter is not valid' },
  INVALID_PAGE_TOKEN: { status: 400, title: 'The cursor does not belong to this list' },
  INVALID_KEY: { status: 400, title: 'The idempotency key is not valid' },
  INVALID_TOKEN: { status: 403, title: 'The token is not that of the attempt' },
  UNKNOWN_ROUTE: { status: 404, title: 'There is no such address' },
  PIPELINE_NOT_FOUND: { status: 404, title: 'There is no such pipeline' },
  REVISION_NOT_FOUND: { status: 404, title: 'The pipeline has no such revision' },
  RUN_NOT_FOUND: { status: 404, title: 'There is no such run' },
  NODE_NOT_FOUND: { status: 404, title: 'The run has no such node' },
  ITEM_NOT_FOUND: { status: 404, title: 'The node has no such item' },
  ENGINE_NOT_FOUND: { status: 404, title: 'There is no such engine' },
  POOL_NOT_FOUND: { status: 404, title: 'There is no such pool' },
  OUTPUT_NOT_FOUND: { status: 404, title: 'The node has no output' },
  LIVE_UPDATES_OFF: { status: 404, title: 'The installation has no live updates' },
  LOGS_NOT_FOUND: { status: 404, title: 'The attempt has no log that could be found' },
  METHOD_NOT_ALLOWED: { status: 405, title: 'The address does not take this method' },
  IDEMPOTENCY_CONFLICT: { status: 409, title: 'The idempotency key was used with another input' },
  RUN_ACTIVE: { status: 409, title: 'The run is not over' },
  NOTHING_TO_RUN: { status: 409, title: 'Nothing is left to run' },
  ACTIVE_RUNS: { status: 409, title: 'What is to be deleted is active' },
  NODE_FINISHED: { status: 409, title: 'The node is over, or decided already' },
  RUN_STOPPING: { status: 409, title: 'The run is being stopped' },
  NOT_WAITING: { status: 409, title: 'The node waits for no answer' },
  ATTEMPT_OVER: { status: 409, title: 'The attempt is over' },
  ALREADY_ANSWERED: { status: 409, title: 'The node was answered before' },
  TOO_MANY_BACKFILLS: { status: 409, title: 'Too many backfills of the pipeline are under way' },
  TOO_MANY_SUBSCRIPTIONS: { status: 409, title: 'A connection looks at too much' },
  PIPELINE_DELETING: { status: 409, title: 'The pipeline is being deleted' },
  BUILT_IN_ENGINE: { status: 409, title: 'The engine is built in' },
  REVISION_MISMATCH: { status: 412, title: 'The pipeline has another revision' },
  BODY_TOO_LARGE: { status: 413, title: 'The body is too large' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, title: 'The body has a type that is not taken here' },
  INVALID_DEFINITION: { status: 422, title: 'The definition is not valid' },
  INVALID_INPUT: { status: 422, title: 'The input of the run is not valid' },
  INVALID_ANSWER: { status: 422, title: 'The answer does not fit what was asked' },
  INVALID_BACKFILL: { status: 422, title: 'The backfill is not valid' },
  INVALID_REQUEST: { status: 422, title: 'The request is not valid' },
  OUTPUT_TOO_LARGE: { status: 422, title: 'The output is too large for one answer' },
  STATE_MACHINE_NOT_FOUND: { status: 422, title: 'There is no such state machine' },
  STATE_MACHINE_DENIED: { status: 422, title: 'The installation may not run this state machine' },
  UNKNOWN_NODE: { status: 422, title: 'The pipeline has no such node to run' },
  UNKNOWN_REVISION: { status: 422, title: 'The pipeline has no such revision to run' },
  THROTTLED: { status: 429, title: 'AWS throttles this installation' },
  INTERNAL_ERROR: { status: 500, title: 'Something went wrong inside Millrace' },
  DAMAGED_LIMIT: { status: 500, title: 'The record of the engine, pool or limit is damaged' },
  DAMAGED_PIPELINE: { status: 500, title: 'The record of the pipeline is damaged' },
  DAMAGED_RUN: { status: 500, title: 'The record of the run is damaged' },
  BUSY: { status: 503, title: 'Too many changes at once' },
  NEWER_LIMIT: { status: 503, title: 'The engine, pool or limit belongs to a newer version of Millrace' },
  NEWER_PIPELINE: { status: 503, title: 'The pipeline belongs to a newer version of Millrace' },
  NEWER_RUN: { status: 503, title: 'The run belongs to a newer version of Millrace' },
} as const satisfies Record<string, { readonly status: number; readonly title: string }>;

/** One of {@link PROBLEMS}. */
export type ProblemCode = keyof typeof PROBLEMS;

/** What every route may answer that reads the record of one engine or pool. */
export const LIMIT_PROBLEMS = ['DAMAGED_LIMIT', 'NEWER_LIMIT'] as const satisfies readonly ProblemCode[];

/** What every route may answer that reads the record of one pipeline. */
export const PIPELINE_PROBLEMS = ['DAMAGED_PIPELINE', 'NEWER_PIPELINE'] as const satisfies readonly ProblemCode[];

/** What may be said about one field. */
export type FieldProblem = DefinitionError;

/** Beside its code and detail, what a problem may carry. */
export interface ProblemOptions {
  readonly errors?: readonly FieldProblem[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** A problem on its way to the client. */
export class ApiProblem extends Error {
  readonly code: ProblemCode;
  readonly errors: readonly FieldProblem[];
  /** Headers of the answer: `Allow`, `Retry-After`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: ProblemCode, detail: string, options: ProblemOptions = {}) {
    super(detail, { cause: options.cause });
    this.name = 'ApiProblem';
    this.code = code;
    this.errors = options.errors ?? [];
    this.headers = options.headers ?? {};
  }
}

/** Tells a code of the table from any other text. */
export function isProblemCode(code: string): code is ProblemCode {
  return Object.hasOwn(PROBLEMS, code);
}
