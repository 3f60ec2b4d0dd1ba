import type { Command } from 'commander';
import { createApiClient } from './api-client.ts';
import type { NodeShape, RunShape } from './api-shapes.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { counted, countsText } from './counts-text.ts';
import { EXIT } from './exit-codes.ts';
import { type ServerOptions, withServerOptions } from './list-options.ts';
import type { Screen } from './live-view.ts';
import { readNodes, readRun } from './millrace-api.ts';
import { nodeTable } from './node-table.ts';
import { oneLine } from './one-line.ts';
import { screenOf } from './run-progress.ts';
import { serverUrl } from './server-url.ts';
import { isRunEnded, paintState } from './state-style.ts';
import { ago, duration, forHowLong, localTime } from './time-text.ts';

/** Adds `millrace status`. */
export function addStatusCommand(program: Command, context: CliContext): void {
  withServerOptions(addCommand(program, 'status <run>'))
    .summary('show a run and its nodes')
    .description('Shows how a run stands: its state and why, and its nodes.')
    .addHelpText(
      'after',
      `
Examples:
  millrace status 4nwee6vv6paa4bafu3kgiuidb3
  millrace status 4nwee6vv6paa4bafu3kgiuidb3 --json

With --json it is the run as the API gives it, without its nodes.`,
    )
    .action(async (runId: string, options: ServerOptions) => {
      await status(runId, options, context);
      context.exit(EXIT.ok);
    });
}

async function status(runId: string, { url, json }: ServerOptions, context: CliContext): Promise<void> {
  const { output, env } = context;
  const api = createApiClient(serverUrl(url, env));
  const { answer, run } = await readRun(api, runId);
  if (json) return output.line(answer.text);
  const { nodes } = await readNodes(api, runId);
  for (const line of statusLines(run, nodes, screenOf(context))) output.line(line);
}

/** How a run stands, in sentences and a table. */
export function statusLines(run: RunShape, nodes: readonly NodeShape[], screen: Screen): string[] {
  const { style, now } = screen;
  const { id, pipeline, revision, state, message, since, trigger, tags, createdAt, endedAt, output, outputRef } = run;
  const by = trigger.by === undefined ? '' : ` by ${trigger.by}`;
  const tagTexts = Object.entries(tags).map(([key, value]) => `${key}:${value}`);
  const isEnded = isRunEnded(state);
  const took = isEnded ? `after ${duration((endedAt ?? since) - createdAt)}` : forHowLong(since, now);
  const text = output === undefined ? outputRef && `at ${outputRef}` : JSON.stringify(output);
  return [
    `${style.bold(pipeline)}  run ${id}  revision ${revision}`,
    `  ${paintState(state, style)(state)} ${took}: ${oneLine(message)}`,
    `  started ${ago(createdAt, now)} (${localTime(createdAt)}), trigger ${oneLine(`${trigger.type}${by}`)}`,
    ...(tagTexts.length === 0 ? [] : [`  tags ${oneLine(tagTexts.join(', '))}`]),
    `  ${counted(nodes.length, 'node')}: ${countsText(run.counts)}`,
    '',
    ...nodeTable(nodes, screen),
    ...(text === undefined ? [] : ['', `  output ${oneLine(text, Math.max(100, screen.columns - 10))}`]),
    ...(isEnded ? [] : ['', style.dim(`  \`millrace explain ${id}\` says what each unfinished node waits for`)]),
  ];
}
