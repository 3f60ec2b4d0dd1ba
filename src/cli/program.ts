import { Command, CommanderError } from 'commander';
import { addAskedCommands } from './asked-commands.ts';
import { addBackfillCommand } from './backfill-command.ts';
import { commanderOutput, usageError } from './command-line.ts';
import { addCompletionCommand } from './completion-command.ts';
import type { CliContext } from './context.ts';
import { addControlCommands } from './control-commands.ts';
import { describeError } from './describe-error.ts';
import { addDevCommand } from './dev-command.ts';
import { addEnginesCommand } from './engines-command.ts';
import { EXIT } from './exit-codes.ts';
import { addExplainCommand } from './explain-command.ts';
import { addHistoryCommand } from './history-command.ts';
import { addImportCommand } from './import-command.ts';
import { addInitCommand } from './init-command.ts';
import { addLogsCommand } from './logs-command.ts';
import { addPipelinesCommand } from './pipelines-command.ts';
import { addPoolsCommand } from './pools-command.ts';
import { addRerunCommand } from './rerun-command.ts';
import { addRunCommand } from './run-command.ts';
import { addRunsCommand } from './runs-command.ts';
import { addStatusCommand } from './status-command.ts';
import { addValidateCommand } from './validate-command.ts';

const COMMANDS = [
  addInitCommand,
  addDevCommand,
  addRunCommand,
  addValidateCommand,
  addImportCommand,
  addPipelinesCommand,
  addBackfillCommand,
  addRunsCommand,
  addStatusCommand,
  addExplainCommand,
  addHistoryCommand,
  addLogsCommand,
  addControlCommands,
  addAskedCommands,
  addRerunCommand,
  addEnginesCommand,
  addPoolsCommand,
  addCompletionCommand,
];

/** What a command gets, but for the exit code, which {@link runCli} gives back. */
export type CliSurroundings = Omit<CliContext, 'exit'>;

/** Runs one command line; gives what the process is to end with. Never throws. */
export async function runCli(argv: readonly string[], version: string, around: CliSurroundings): Promise<number> {
  let exitCode: number = EXIT.ok;
  const context: CliContext = {
    ...around,
    exit(code) {
      exitCode = code;
    },
  };
  try {
    await createProgram(version, context).parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    const told = describeError(error);
    around.output.error(`${around.output.errorStyle.red('millrace:')} ${told.text}`);
    return told.exitCode;
  }
}

function createProgram(version: string, context: CliContext): Command {
  const program = new Command('millrace')
    .description('Durable DAG pipelines in your own AWS account, and on your own machine.')
    .version(version)
    .exitOverride()
    .configureOutput({
      ...commanderOutput(context.output),
      outputError: (text, write) => write(usageError(text, 'millrace')),
    })
    .addHelpText(
      'after',
      `
Start here:
  millrace init hello                           make a small project of your own
  millrace run pipeline.yaml                    run a pipeline on this machine
  millrace dev                                  keep a host running, and use the commands below with it
  millrace help COMMAND                         options and examples of a command

Environment:
  MILLRACE_URL      address of the server
  MILLRACE_TOKEN    token that is sent to it
  MILLRACE_AUTH     iam: sign requests with AWS credentials; none: never
  NO_COLOR          no colours`,
    );
  for (const add of COMMANDS) add(program, context);
  return program;
}
