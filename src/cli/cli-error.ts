import { EXIT } from './exit-codes.ts';
import { oneLine } from './one-line.ts';

/** What goes with an error beside its code and message. */
export interface CliErrorOptions extends ErrorOptions {
  /** What to do about it, as a sentence. @default nothing is said */
  readonly next?: string;
  /** What the process ends with. @default 2 */
  readonly exitCode?: number;
}

/** An error that is told to people in one line, without a stack. */
export class CliError extends Error {
  override readonly name = 'CliError';
  /** For programs: upper case with underscores. */
  readonly code: string;
  readonly next: string | undefined;
  readonly exitCode: number;

  constructor(code: string, message: string, { next, exitCode = EXIT.usage, ...options }: CliErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.next = next;
    this.exitCode = exitCode;
  }
}

/**
 * Says for any error what people read of it and what the process ends with. Errors of the host, its disk and the
 * synthesis carry a code and say themselves what to do; anything else is a fault of ours and keeps its stack.
 */
export function describeError(error: unknown): { readonly text: string; readonly exitCode: number } {
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
    return { text: `${error.code}: ${error.message}`, exitCode: EXIT.usage };
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    text: `INTERNAL_ERROR: this is a fault of Millrace; please report it with what follows.\n${stack}`,
    exitCode: EXIT.failed,
  };
}

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
