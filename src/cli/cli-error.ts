import { EXIT } from './exit-codes.ts';

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
