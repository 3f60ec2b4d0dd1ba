/** `millrace mark`, `answer` and `delete`: what people decide about nodes and runs by hand. */
import { Argument, type Command } from 'commander';
import type { CallInput, MapItem, RunNode } from '#client/index.ts';
import { MARK_STATES } from '#domain/run.ts';
import { CliError } from './cli-error.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { type ServerOptions, withServerOptions } from './list-options.ts';
import { oneLine } from './one-line.ts';
import { readInput, wholeNumberBetween } from './option-values.ts';
import type { Style } from './output.ts';
import { printAnswer } from './printed-answers.ts';
import { paintState } from './state-style.ts';

interface MarkOptions extends ServerOptions {
  readonly output?: string;
  readonly note?: string;
}

interface AnswerOptions extends ServerOptions {
  readonly approve?: true;
  readonly deny?: true;
  readonly output?: string;
  readonly comment?: string;
  readonly item?: number;
}

/** Adds `millrace mark`, `millrace answer` and `millrace delete`. */
export function addAskedCommands(program: Command, context: CliContext): void {
  addMarkCommand(program, context);
  addAnswerCommand(program, context);
  addDeleteCommand(program, context);
}

function addMarkCommand(program: Command, context: CliContext): void {
  withServerOptions(addCommand(program, 'mark <run> <node>'))
    .addArgument(new Argument('<state>', 'what becomes of the node').choices(MARK_STATES))
    .summary('decide an unfinished node by hand')
    .description(
      'Decides an unfinished node by hand: what is under way of it is stopped first, and the run goes on from there.',
    )
    .option('--output <json>', 'output of a node that is marked SUCCEEDED: JSON, or @FILE (default: null)')
    .option('--note <text>', 'why; kept in the history')
    .addHelpText(
      'after',
      `
Examples:
  millrace mark 4nwee6vv6paa4bafu3kgiuidb3 extract SUCCEEDED --output '{"rows": 3}' --note 'loaded by hand'
  millrace mark 4nwee6vv6paa4bafu3kgiuidb3 report SKIPPED`,
    )
    .action(async (runId: string, node: string, state: string, options: MarkOptions) => {
      const { output, note } = options;
      const body = {
        state,
        ...(output !== undefined && { output: await readInput(output, context.cwd, '--output') }),
        ...(note !== undefined && { note }),
      };
      const call = ['markNode', { path: { runId, node }, body }] as const;
      await printAnswer(context, options, call, (marked, { style }) => [workLine(marked, style)]);
      context.exit(EXIT.ok);
    });
}

function addAnswerCommand(program: Command, context: CliContext): void {
  withServerOptions(addCommand(program, 'answer <run> <node>'))
    .summary('answer a node that waits for an approval')
    .description('Answers a node of the engine `approval`. The first answer stands.')
    .option('--approve', 'the node succeeds')
    .option('--deny', 'the node fails with Millrace.ApprovalDenied')
    .option('--output <json>', 'output of an approved node: JSON, or @FILE (default: null)')
    .option('--comment <text>', 'kept in the history')
    .option('--item <n>', 'answer this item of a map, by its index from 0', wholeNumberBetween(0, 999_999))
    .addHelpText(
      'after',
      `
Examples:
  millrace answer 4nwee6vv6paa4bafu3kgiuidb3 release --approve --comment 'seen by the team'
  millrace answer 4nwee6vv6paa4bafu3kgiuidb3 release --deny`,
    )
    .action(async (runId: string, node: string, options: AnswerOptions) => {
      const { approve, deny, output, comment, item } = options;
      if ((approve === true) === (deny === true)) {
        throw new CliError('USAGE', 'answer takes either --approve or --deny.', {
          next: '`millrace status RUN` shows what is asked.',
        });
      }
      const body = {
        approve: approve === true,
        ...(output !== undefined && { output: await readInput(output, context.cwd, '--output') }),
        ...(comment !== undefined && { comment }),
      };
      const input: CallInput<'answerNode'> = { path: { runId, node }, query: { item }, body };
      await printAnswer(context, options, ['answerNode', input], (answered, { style }) => [workLine(answered, style)]);
      context.exit(EXIT.ok);
    });
}

function addDeleteCommand(program: Command, context: CliContext): void {
  withServerOptions(addCommand(program, 'delete <run>'))
    .summary('delete a run')
    .description('Deletes a run with all that it left: from the answer on it is not there any more.')
    .option('--force', 'stop it first, where it is active')
    .addHelpText('after', '\nExample:\n  millrace delete 4nwee6vv6paa4bafu3kgiuidb3')
    .action(async (runId: string, options: ServerOptions & { readonly force?: true }) => {
      const call = ['deleteRun', { path: { runId }, query: { force: options.force } }] as const;
      await printAnswer(context, options, call, (_nothing, { style }) => [`Run ${style.bold(runId)} is deleted.`]);
      context.exit(EXIT.ok);
    });
}

/** A node, or an item of a map, in one line. */
function workLine(work: RunNode | MapItem, style: Style): string {
  const { state, message } = work;
  const name = 'index' in work ? `Item ${work.index}` : `Node ${style.bold(oneLine(work.id))}`;
  return `${name} is ${paintState(state, style)(state)}: ${oneLine(message)}`;
}
