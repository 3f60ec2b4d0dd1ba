/** `millrace logs`: what an attempt wrote. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { z } from 'zod';
import { toNodePath } from '#http/node-path.ts';
import { type ApiAnswer, type ApiClient, createApiClient } from './api-client.ts';
import { pageShape } from './api-shapes.ts';
import { CliError } from './cli-error.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { type ServerOptions, withServerOptions } from './list-options.ts';
import { readRun, runPath, withQuery } from './millrace-api.ts';
import { oneLine } from './one-line.ts';
import { wholeNumberBetween } from './option-values.ts';
import { serverUrl } from './server-url.ts';

interface LogsOptions extends ServerOptions {
  readonly attempt?: number;
  readonly item?: number;
  readonly follow?: true;
}

/** How long `--follow` waits before it asks for more (ms). */
const FOLLOW_MS = 1_000;
const PAGE_LINES = 1_000;

const logsShape = pageShape(z.object({ at: z.string(), message: z.string() }));

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
      const api = createApiClient(serverUrl(options.url, context.env));
      for await (const { text, value } of pages(api, runId, node, options)) {
        if (options.json) context.output.line(text);
        else for (const { at, message } of value.items) context.output.line(`${at}  ${oneLine(message)}`);
      }
      context.exit(EXIT.ok);
    });
}

interface Page {
  readonly text: string;
  readonly value: z.output<typeof logsShape>;
}

/** The pages of a log that have a line, and the last one of all. */
async function* pages(api: ApiClient, runId: string, node: string, options: LogsOptions): AsyncGenerator<Page> {
  const { attempt, item, follow } = options;
  const base = `${runPath(runId)}/nodes/${toNodePath(node)}/logs`;
  let cursor: string | undefined;
  for (;;) {
    const call = { path: withQuery(base, { attempt, item, limit: PAGE_LINES, cursor }) };
    const answer = follow ? await sendOnceThere(api, runId, call) : await api.send(call);
    const page = toPage(api, answer);
    const isLast = page.value.nextCursor === undefined;
    const isAtEnd = isLast || page.value.items.length === 0;
    if (page.value.items.length > 0 || (isAtEnd && !follow) || isLast) yield page;
    if (isLast || (isAtEnd && !follow)) return;
    if (isAtEnd) await sleep(FOLLOW_MS);
    cursor = page.value.nextCursor;
  }
}

/** Waits for a log that is not there yet, for as long as its run goes on. */
async function sendOnceThere(api: ApiClient, runId: string, call: { readonly path: string }): Promise<ApiAnswer> {
  for (;;) {
    const { run } = await readRun(api, runId);
    try {
      return await api.send(call);
    } catch (error) {
      if (!(error instanceof CliError) || error.code !== 'LOGS_NOT_FOUND' || run.endedAt !== undefined) throw error;
    }
    await sleep(FOLLOW_MS);
  }
}

function toPage(api: ApiClient, { text, value }: ApiAnswer): Page {
  const read = logsShape.safeParse(value);
  if (read.success) return { text, value: read.data };
  throw new CliError('NOT_MILLRACE', `${api.url} answered something else than a log.`, { exitCode: EXIT.failed });
}
