import type { Command } from 'commander';
import { isRunOver, type Run, type RunNode } from '#client/index.ts';
import { addCommand } from './command-line.ts';
import { connect } from './connect.ts';
import type { CliContext } from './context.ts';
import { counted, countsText } from './counts-text.ts';
import { EXIT } from './exit-codes.ts';
import { type ServerOptions, withServerOptions } from './list-options.ts';
import type { Screen } from './live-view.ts';
import { nodeTable } from './node-table.ts';
import { oneLine } from './one-line.ts';
import { screenOf } from './run-progress.ts';
import { paintState } from './state-style.ts';
import { ago, duration, forHowLong, localTime, toMs } from './time-text.ts';

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

async function status(runId: string, options: ServerOptions, context: CliContext): Promise<void> {
  const { output, env } = context;
  const client = connect(options, env);
  const { text, value: run } = await client.call('getRun', { path: { runId } });
  if (options.json) return output.line(text);
  const nodes = await client.nodes.list(runId, { limit: 1000 }).all();
  for (const line of statusLines(run, nodes, screenOf(context))) output.line(line);
}

/** How a run stands, in sentences and a table. */
export function statusLines(run: Run, nodes: readonly RunNode[], screen: Screen): string[] {
  const { style, now } = screen;
  const { id, pipeline, revision, state, message, since, trigger, tags, createdAt, endedAt, output, outputRef } = run;
  const by = trigger.by === undefined ? '' : ` by ${trigger.by}`;
  const tagTexts = Object.entries(tags).map(([key, value]) => `${key}:${value}`);
  const isEnded = isRunOver(run);
  const took = isEnded ? `after ${duration(toMs(endedAt ?? since) - toMs(createdAt))}` : forHowLong(since, now);
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
