/** `millrace logs`: what an attempt wrote. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { type Answer, isProblem, isRunOver, type LogLine, type MillraceClient, type Page } from '#client/index.ts';
import { addCommand } from './command-line.ts';
import { connect } from './connect.ts';
import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { type ServerOptions, withServerOptions } from './list-options.ts';
import { oneLine } from './one-line.ts';
import { wholeNumberBetween } from './option-values.ts';

interface LogsOptions extends ServerOptions {
  readonly attempt?: number;
  readonly item?: number;
  readonly follow?: true;
}

/** How long `--follow` waits before it asks for more (ms). */
const FOLLOW_MS = 1_000;
const PAGE_LINES = 1_000;

/** Adds `millrace logs`. */
export function addLogsCommand(program: Command, context: CliContext): void {
  withServerOptions(addCommand(program, 'logs <run> <node>'))
    .summary('show what an attempt wrote to its log')
    .description(
      'Shows what the function of a node wrote to its log in one attempt: the last one, unless told otherwise.',
    )
    .option('--attempt <n>', 'of this attempt, counted from 1', wholeNumberBetween(1, 99_999))
    .option('--item <n>', 'of this item of a map, by its index from 0', wholeNumberBetween(0, 999_999))
    .option('--follow', 'wait for what it has still to write, until it is over')
    .addHelpText(
      'after',
      `
Examples:
  millrace logs 4nwee6vv6paa4bafu3kgiuidb3 extract --follow
  millrace logs 4nwee6vv6paa4bafu3kgiuidb3 load --item 12 --attempt 1`,
    )
    .action(async (runId: string, node: string, options: LogsOptions) => {
      const client = connect(options, context.env);
      for await (const { text, value } of pages(client, runId, node, options)) {
        if (options.json) context.output.line(text);
        else for (const { at, message } of value.items) context.output.line(`${at}  ${oneLine(message)}`);
      }
      context.exit(EXIT.ok);
    });
}

type LogPage = Answer<Page<LogLine>>;

/** The pages of a log that have a line, and the last one of all. */
async function* pages(
  client: MillraceClient,
  runId: string,
  node: string,
  { attempt, item, follow }: LogsOptions,
): AsyncGenerator<LogPage> {
  let cursor: string | undefined;
  for (;;) {
    const query = { attempt, item, limit: PAGE_LINES, cursor };
    const read = () => client.call('getLogs', { path: { runId, node }, query });
    const page = follow ? await onceThere(client, runId, read) : await read();
    const { items, nextCursor } = page.value;
    const isLast = nextCursor === undefined;
    const isAtEnd = isLast || items.length === 0;
    if (items.length > 0 || (isAtEnd && !follow) || isLast) yield page;
    if (isLast || (isAtEnd && !follow)) return;
    if (isAtEnd) await sleep(FOLLOW_MS);
    cursor = nextCursor;
  }
}

/** Waits for a log that is not there yet, for as long as its run goes on. */
async function onceThere(client: MillraceClient, runId: string, read: () => Promise<LogPage>): Promise<LogPage> {
  for (;;) {
    const run = await client.runs.get(runId);
    try {
      return await read();
    } catch (error) {
      if (!isProblem(error, 'LOGS_NOT_FOUND') || isRunOver(run)) throw error;
    }
    await sleep(FOLLOW_MS);
  }
}
