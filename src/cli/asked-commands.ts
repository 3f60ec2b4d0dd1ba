/** `millrace mark`, `answer` and `delete`: what people decide about nodes and runs by hand. */
import { Argument, type Command } from 'commander';
import { z } from 'zod';
import { MARK_STATES } from '#domain/run.ts';
import { toNodePath } from '#http/node-path.ts';
import { type ApiAnswer, createApiClient } from './api-client.ts';
import { CliError } from './cli-error.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { type ServerOptions, withServerOptions } from './list-options.ts';
import { runPath, withQuery } from './millrace-api.ts';
import { oneLine } from './one-line.ts';
import { readInput, wholeNumberBetween } from './option-values.ts';
import { serverUrl } from './server-url.ts';
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
      await ask(context, options, nodePath(runId, node, 'mark'), {
        state,
        ...(output !== undefined && { output: await readInput(output, context.cwd, '--output') }),
        ...(note !== undefined && { note }),
      });
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
      await ask(context, options, withQuery(nodePath(runId, node, 'answer'), { item }), {
        approve: approve === true,
        ...(output !== undefined && { output: await readInput(output, context.cwd, '--output') }),
        ...(comment !== undefined && { comment }),
      });
    });
}

function addDeleteCommand(program: Command, context: CliContext): void {
  withServerOptions(addCommand(program, 'delete <run>'))
    .summary('delete a run')
    .description('Deletes a run with all that it left: from the answer on it is not there any more.')
    .option('--force', 'stop it first, where it is active')
    .addHelpText('after', '\nExample:\n  millrace delete 4nwee6vv6paa4bafu3kgiuidb3')
    .action(async (runId: string, { url, json, force }: ServerOptions & { readonly force?: true }) => {
      const { output, env } = context;
      const path = withQuery(runPath(runId), { force: force && 'true' });
      await createApiClient(serverUrl(url, env)).send({ method: 'DELETE', path });
      if (!json) output.line(`Run ${output.style.bold(runId)} is deleted.`);
      context.exit(EXIT.ok);
    });
}

function nodePath(runId: string, node: string, command: 'mark' | 'answer'): string {
  return `${runPath(runId)}/nodes/${toNodePath(node)}/${command}`;
}

/** A node, or an item of a map, as far as one line shows it. */
const workShape = z.object({
  id: z.string().optional(),
  index: z.int().optional(),
  state: z.string(),
  message: z.string(),
});

async function ask(context: CliContext, { url, json }: ServerOptions, path: string, body: object): Promise<void> {
  const { output, env } = context;
  const answer: ApiAnswer = await createApiClient(serverUrl(url, env)).send({ method: 'POST', path, body });
  if (json) output.line(answer.text);
  else {
    const { id, index, state, message } = workShape.parse(answer.value);
    const name = id === undefined ? `Item ${index}` : `Node ${output.style.bold(oneLine(id))}`;
    output.line(`${name} is ${paintState(state, output.style)(state)}: ${oneLine(message)}`);
  }
  context.exit(EXIT.ok);
}
