import {
  AccessError,
  ConnectionError,
  InvalidNameError,
  type MillraceError,
  NotMillraceError,
  ProblemError,
} from '#client/index.ts';
import { CliError } from './cli-error.ts';
import { EXIT } from './exit-codes.ts';

/** Statuses that say that what was given on the command line is wrong. */
const WRONG_INPUT: ReadonlySet<number> = new Set([400, 413, 415, 422]);

const NEXT_STEPS: ReadonlyMap<string, string> = new Map([
  ['PIPELINE_NOT_FOUND', '`millrace pipelines` lists those that are there.'],
  ['ENGINE_NOT_FOUND', '`millrace engines` lists those that are there.'],
  ['POOL_NOT_FOUND', '`millrace pools` lists those that are there.'],
  ['RUN_NOT_FOUND', '`millrace runs` lists those that are there.'],
  ['UNKNOWN_ROUTE', 'The server may be of another version than this command line.'],
]);

const ANOTHER_SERVER = 'Name the address of a Millrace API with --url or MILLRACE_URL.';
const CREDENTIALS =
  'Are the credentials those of the right account, not expired, and allowed to call it? Requests are signed with AWS ' +
  'credentials where MILLRACE_AUTH=iam is set or the host is one of execute-api; MILLRACE_TOKEN sends a token.';

/** Why a call has no answer, as the command line tells it. */
export function toCliError(error: MillraceError): CliError {
  const { code, message } = error;
  const failed = { exitCode: EXIT.failed, cause: error };
  if (error instanceof ProblemError) {
    const next = NEXT_STEPS.get(code);
    const more = error.errors.slice(1).map((one) => `${one.path}: ${one.message} [${one.code}]`);
    const exitCode = WRONG_INPUT.has(error.status) ? EXIT.usage : EXIT.failed;
    return new CliError(code, [message, ...more].join(' · '), { ...failed, exitCode, ...(next && { next }) });
  }
  if (error instanceof ConnectionError) {
    const next = 'Start a server with `millrace dev`, or name another one with --url or MILLRACE_URL.';
    return new CliError(code, message, { ...failed, next });
  }
  if (error instanceof AccessError) return new CliError(code, `${message}.`, { ...failed, next: CREDENTIALS });
  if (error instanceof NotMillraceError) {
    return new CliError(code, `this is no Millrace API: ${message}`, { ...failed, next: ANOTHER_SERVER });
  }
  if (error instanceof InvalidNameError) return new CliError(code, `${message}.`, { cause: error });
  return new CliError(code, `${message}.`, failed);
}
