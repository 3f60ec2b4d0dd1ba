import { type Command, Option } from 'commander';
import { isRunOver, type RunLine } from '#client/index.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { type ListOptions, withListOptions } from './list-options.ts';
import type { Screen } from './live-view.ts';
import { oneLine } from './one-line.ts';
import { collect } from './option-values.ts';
import { pageLines, printAnswer } from './printed-answers.ts';
import { stateCell } from './state-style.ts';
import { tableLines } from './table.ts';
import { ago, duration, toMs } from './time-text.ts';

const DEFAULT_LIMIT = 20;

interface RunsOptions extends ListOptions {
  readonly pipeline?: string;
  readonly state?: readonly string[];
  readonly tag?: readonly string[];
}

/** Adds `millrace runs`. */
export function addRunsCommand(program: Command, context: CliContext): void {
  withListOptions(addCommand(program, 'runs'), DEFAULT_LIMIT)
    .summary('list runs, newest first')
    .description('Lists the runs of a server, newest first.')
    .option('--pipeline <name>', 'only runs of this pipeline')
    .addOption(new Option('--state <state>', 'only runs in this state; may be given several times').argParser(collect))
    .addOption(
      new Option('--tag <key:value>', 'only runs with this tag; may be given several times').argParser(collect),
    )
    .addHelpText(
      'after',
      `
Examples:
  millrace runs
  millrace runs --pipeline etl --state FAILED --state TIMED_OUT
  millrace runs --limit 1000 --json`,
    )
    .action(async (options: RunsOptions) => {
      await list(options, context);
      context.exit(EXIT.ok);
    });
}

function list(options: RunsOptions, context: CliContext): Promise<void> {
  const { pipeline, tag, limit, cursor } = options;
  const state = options.state?.map((one) => one.toUpperCase());
  const query = { pipeline, state, tag, limit, cursor };
  return printAnswer(context, options, ['listRuns', { query }], pageLines(runTable));
}

/** The list of runs. */
export function runTable(runs: readonly RunLine[], { style, columns, now }: Screen): string[] {
  if (runs.length === 0) return ['No runs.'];
  return tableLines(
    [
      { title: 'run' },
      { title: 'pipeline' },
      { title: 'state' },
      { title: 'started' },
      { title: 'took', align: 'right' },
      { title: 'by' },
    ],
    runs.map((run) => [
      run.id,
      run.pipeline,
      stateCell(run.state, style),
      ago(run.createdAt, now),
      tookText(run, now),
      oneLine(
        [run.trigger.type, run.trigger.by, ...Object.entries(run.tags).map(([key, value]) => `${key}:${value}`)]
          .filter(Boolean)
          .join(' '),
      ),
    ]),
    { style, maxWidth: columns },
  );
}

function tookText({ state, createdAt, startedAt = createdAt, endedAt }: RunLine, now: number): string {
  if (endedAt !== undefined) return duration(toMs(endedAt) - toMs(startedAt));
  return isRunOver({ state }) ? '' : duration(now - toMs(startedAt));
}
