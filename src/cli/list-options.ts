import type { Command } from 'commander';
import { parseLimit } from './option-values.ts';

/** Options of a command that calls a server. */
export interface ServerOptions {
  readonly url?: string;
  readonly json?: true;
}

/** Options of a command that shows a list. */
export interface ListOptions extends ServerOptions {
  readonly limit: number;
  readonly cursor?: string;
}

/** Adds `--url` and `--json`. */
export function withServerOptions(command: Command): Command {
  return command
    .option('--url <url>', 'address of the server (default: MILLRACE_URL, else http://127.0.0.1:8787)')
    .option('--json', "print the API's JSON unchanged");
}

/** Adds `--limit` and `--cursor`, too. */
export function withListOptions(command: Command, limit: number): Command {
  return withServerOptions(command)
    .option('--limit <n>', 'how many entries, at most 1000', parseLimit, limit)
    .option('--cursor <cursor>', 'go on where an earlier page ended');
}

/** What to say where a list goes on. */
export function moreLine(nextCursor: string | undefined): string[] {
  return nextCursor === undefined ? [] : ['', `  There are more: add --cursor ${nextCursor}`];
}
