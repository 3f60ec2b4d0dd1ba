import type { Output } from './output.ts';

/** What a command gets from the process that it runs in. */
export interface CliContext {
  readonly output: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Paths on the command line count from here. */
  readonly cwd: string;
  /** Milliseconds since 1970. */
  now(): number;
  /** Says what the process is to end with; see exit-codes.ts. */
  exit(code: number): void;
}
