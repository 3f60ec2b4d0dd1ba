import type { Command } from 'commander';
import { type Explanation, isRunOver } from '#client/index.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { type ListOptions, moreLine, withListOptions } from './list-options.ts';
import type { Screen } from './live-view.ts';
import { oneLine } from './one-line.ts';
import { printAnswer } from './printed-answers.ts';
import { paintState } from './state-style.ts';
import { forHowLong } from './time-text.ts';

const DEFAULT_LIMIT = 30;

/** Adds `millrace explain`. */
export function addExplainCommand(program: Command, context: CliContext): void {
  withListOptions(addCommand(program, 'explain <run>'), DEFAULT_LIMIT)
    .summary('say what a run waits for')
    .description('Says of everything unfinished in a run why it is so, since when, and what would move it.')
    .addHelpText(
      'after',
      `
Example:
  millrace explain 4nwee6vv6paa4bafu3kgiuidb3`,
    )
    .action(async (runId: string, options: ListOptions) => {
      const { limit, cursor } = options;
      const call = ['explainRun', { path: { runId }, query: { limit, cursor } }] as const;
      await printAnswer(context, options, call, explanationLines);
      context.exit(EXIT.ok);
    });
}

/** What a run waits for, a paragraph for each unfinished node. */
export function explanationLines({ run, items, nextCursor }: Explanation, { style, now }: Screen): string[] {
  const head = `Run ${style.bold(run.id)} is ${paintState(run.state, style)(run.state)} (${run.reason}): ${oneLine(run.message)}`;
  const heads = [head, ...(run.movedBy === undefined ? [] : [`  ${style.dim('→')} ${oneLine(run.movedBy)}`])];
  if (items.length === 0)
    return [...heads, isRunOver(run) ? '  It is over; nothing waits.' : '  No node is unfinished.'];
  const paragraphs = items.flatMap(({ id, state, reason, message, since, movedBy }) => [
    '',
    `  ${style.bold(oneLine(id))}  ${paintState(state, style)(state)} (${reason}) ${forHowLong(since, now)}`,
    `    ${oneLine(message)}`,
    `    ${style.dim('→')} ${oneLine(movedBy)}`,
  ]);
  return [...heads, ...paragraphs, ...moreLine(nextCursor)];
}
