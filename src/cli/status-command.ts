import type { Command } from 'commander';
import { isRunOver, type Run, type RunNode } from '#client/index.ts';
import { addCommand } from './command-line.ts';
import { connect } from './connect.ts';
import type { CliContext } from './context.ts';
import { counted, countsText } from './counts-text.ts';
import { EXIT } from './exit-codes.ts';
import { listenForInterrupts } from './interrupts.ts';
import { type ServerOptions, withServerOptions } from './list-options.ts';
import type { Screen } from './live-view.ts';
import { nodeTable } from './node-table.ts';
import { oneLine } from './one-line.ts';
import { screenOf } from './run-progress.ts';
import { paintState } from './state-style.ts';
import { ago, duration, forHowLong, localTime, toMs } from './time-text.ts';
import { updateLines, watchedRun } from './watched-run.ts';

interface StatusOptions extends ServerOptions {
  readonly watch?: true;
}

/** Adds `millrace status`. */
export function addStatusCommand(program: Command, context: CliContext): void {
  withServerOptions(addCommand(program, 'status <run>'))
    .option('--watch', 'tell each change until the run is over')
    .summary('show a run and its nodes')
    .description('Shows how a run stands: its state and why, and its nodes.')
    .addHelpText(
      'after',
      `
Examples:
  millrace status 4nwee6vv6paa4bafu3kgiuidb3
  millrace status 4nwee6vv6paa4bafu3kgiuidb3 --watch
  millrace status 4nwee6vv6paa4bafu3kgiuidb3 --json

With --json it is the run as the API gives it, without its nodes; with --watch, too, a line for each change.`,
    )
    .action(async (runId: string, options: StatusOptions) => {
      context.exit(await (options.watch ? watch : status)(runId, options, context));
    });
}

async function status(runId: string, options: ServerOptions, context: CliContext): Promise<number> {
  const { output, env } = context;
  const client = connect(options, env);
  const { text, value: run } = await client.call('getRun', { path: { runId } });
  if (options.json) {
    output.line(text);
    return EXIT.ok;
  }
  const nodes = await client.nodes.list(runId, { limit: 1000 }).all();
  for (const line of statusLines(run, nodes, screenOf(context))) output.line(line);
  return EXIT.ok;
}

async function watch(runId: string, options: ServerOptions, context: CliContext): Promise<number> {
  const { output, env } = context;
  const client = connect(options, env);
  const linesOf = options.json ? (update: unknown) => [JSON.stringify(update)] : updateLines(output.style);
  const interrupts = listenForInterrupts();
  try {
    for await (const update of watchedRun(client, runId, interrupts.signal)) {
      for (const line of linesOf(update)) output.line(line);
    }
  } catch (error) {
    if (!interrupts.happened) throw error;
    return EXIT.interrupted;
  } finally {
    interrupts.release();
  }
  const { state } = await client.runs.get(runId);
  return state === 'SUCCEEDED' ? EXIT.ok : EXIT.failed;
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
