import { MillraceError } from '#client/index.ts';
import { CliError } from './cli-error.ts';
import { EXIT } from './exit-codes.ts';
import { oneLine } from './one-line.ts';
import { toCliError } from './server-error.ts';

/**
 * Says for any error what people read of it and what the process ends with. Errors of the client, the host, its disk and the
 * synthesis carry a code and say themselves what to do; anything else is a fault of ours and keeps its stack.
 */
export function describeError(error: unknown): { readonly text: string; readonly exitCode: number } {
  if (error instanceof MillraceError) return describeError(toCliError(error));
  if (error instanceof CliError) {
    const text = [`${error.code}: ${oneLine(error.message)}`, ...(error.next === undefined ? [] : [error.next])];
    return { text: text.join(' '), exitCode: error.exitCode };
  }
  if (isSystemError(error)) {
    const about = error.path === undefined ? '' : ` (${error.path})`;
    const what = SYSTEM_ERRORS.get(error.code) ?? error.message;
    return { text: `${error.code}: ${oneLine(what)}${about}`, exitCode: EXIT.usage };
  }
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
    const next = NEXT_STEPS.get(error.code);
    return { text: `${error.code}: ${error.message}${next ? ` ${next}` : ''}`, exitCode: EXIT.usage };
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    text: `INTERNAL_ERROR: this is a fault of Millrace; please report it with what follows.\n${stack}`,
    exitCode: EXIT.failed,
  };
}

const NEXT_STEPS: ReadonlyMap<string, string> = new Map([
  [
    'NO_CREDENTIALS',
    'Log in (`aws sso login`), or name a profile with AWS_PROFILE; MILLRACE_TOKEN sends a token instead.',
  ],
  ['NO_REGION', 'Or set MILLRACE_AUTH=none, if the server wants no signature.'],
]);

const SYSTEM_ERRORS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'there is no such file or folder'],
  ['EACCES', 'access to it is not allowed; choose another place, or change its permissions'],
  ['EPERM', 'this is not allowed; choose another place, or change its permissions'],
  ['EROFS', 'it lies on a read-only disk; choose another place'],
  ['ENOSPC', 'the disk is full; free some room, or choose another place'],
  ['ENOTDIR', 'a part of its path is a file, not a folder'],
  ['EEXIST', 'a file of that name is in the way; choose another place'],
  ['EISDIR', 'it is a folder, not a file'],
]);

function isSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && 'errno' in error && 'syscall' in error && 'code' in error;
}
