/** Why a call has no answer. Every error of the client is a MillraceError with a `code` for programs. */
import { PROBLEMS, type ProblemCode } from '#http/problem.ts';
import type { ProblemDetails } from './resources.ts';

/** What all errors of the client have in common. */
export abstract class MillraceError extends Error {
  /** For programs: upper case with underscores. */
  abstract readonly code: string;
  /** Seconds after which the server wants to be asked again, where it said so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(message: string, { retryAfterSeconds, ...options }: AfterOptions = {}) {
    super(message, options);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

interface AfterOptions extends ErrorOptions {
  readonly retryAfterSeconds?: number | undefined;
}

/** The API refused: it said why in a problem document. {@link problems} has a class of it for each code. */
export class ProblemError<Code extends string = string> extends MillraceError {
  override readonly name = 'ProblemError';
  override readonly code: Code;
  readonly status: number;
  /** Address of the documentation page of the code. */
  readonly type: string;
  readonly title: string;
  /** What is wrong with each field, where fields are. */
  readonly errors: NonNullable<ProblemDetails['errors']>;
  /** Under this id the log of the server has more. */
  readonly requestId: string;

  constructor({ code, ...problem }: Omit<ProblemDetails, 'code'> & { readonly code: Code }, options?: AfterOptions) {
    super(problem.detail, options);
    this.code = code;
    this.status = problem.status;
    this.type = problem.type;
    this.title = problem.title;
    this.errors = problem.errors ?? [];
    this.requestId = problem.requestId;
  }
}

/** The class of one problem. */
export type ProblemClass<Code extends string> = new (
  ...parameters: ConstructorParameters<typeof ProblemError<Code>>
) => ProblemError<Code>;

/**
 * A class for each code that the API answers.
 *
 * @example
 * try {
 *   await client.runs.get(id);
 * } catch (error) {
 *   if (error instanceof problems.RUN_NOT_FOUND) return undefined;
 *   throw error;
 * }
 */
export const problems = Object.fromEntries(
  Object.keys(PROBLEMS).map((code) => [code, class extends ProblemError<string> {}]),
) as unknown as { readonly [Code in ProblemCode]: ProblemClass<Code> };

/** The problem as an error of its class; a code that this client does not know yet has none of its own. */
export function toProblemError(problem: ProblemDetails, options?: AfterOptions): ProblemError {
  const known: Readonly<Record<string, unknown>> = problems;
  const Class = Object.hasOwn(known, problem.code) ? (known[problem.code] as ProblemClass<string>) : ProblemError;
  return new Class(problem, options);
}

/**
 * Whether an error is a problem with one of some codes, or with any.
 *
 * @example
 * if (isProblem(error, 'RUN_NOT_FOUND', 'NODE_NOT_FOUND')) return undefined;
 */
export function isProblem<Code extends ProblemCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is ProblemError<Code> {
  return error instanceof ProblemError && (codes.length === 0 || (codes as readonly string[]).includes(error.code));
}

/** What was to be called has no address: a name is empty, or `.` or `..`, which mean folders in addresses. Nothing was sent. */
export class InvalidNameError extends MillraceError {
  override readonly name = 'InvalidNameError';
  override readonly code = 'INVALID_NAME';
}

/** Nothing answered: there is no server, the connection broke, or it took too long. */
export class ConnectionError extends MillraceError {
  override readonly name = 'ConnectionError';
  override readonly code = 'SERVER_UNREACHABLE';
}

/**
 * What stands before the API let the call not pass: `NOT_AUTHENTICATED` (401) does not know who calls, `FORBIDDEN` (403) does
 * not let them, or does not take their credentials.
 */
export class AccessError extends MillraceError {
  override readonly name = 'AccessError';
  override readonly code: 'NOT_AUTHENTICATED' | 'FORBIDDEN';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
    this.code = status === 401 ? 'NOT_AUTHENTICATED' : 'FORBIDDEN';
  }
}

/** What stands before the API could not get an answer of it; the code is `HTTP_` and the status. */
export class GatewayError extends MillraceError {
  override readonly name = 'GatewayError';
  override readonly code: `HTTP_${number}`;
  readonly status: number;

  constructor(status: number, message: string, options?: AfterOptions) {
    super(message, options);
    this.status = status;
    this.code = `HTTP_${status}`;
  }
}

/** Something answered that is no Millrace API, or one of another version. */
export class NotMillraceError extends MillraceError {
  override readonly name = 'NotMillraceError';
  override readonly code = 'NOT_MILLRACE';
}
