/** `millrace stop`, `pause` and `resume`: what people ask of a run. */
import type { Command } from 'commander';
import type { CommandAnswer } from '#client/index.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { type ServerOptions, withServerOptions } from './list-options.ts';
import { oneLine } from './one-line.ts';
import type { Style } from './output.ts';
import { printAnswer } from './printed-answers.ts';
import { paintState } from './state-style.ts';

const COMMANDS = {
  stop: {
    summary: 'stop a run',
    description:
      'Stops a run: from the answer on nothing of it starts, and what is under way is ended. Stopping it twice does no harm.',
  },
  pause: {
    summary: 'pause a run',
    description:
      'Pauses a run: from the answer on nothing of it starts; what is under way finishes. It waits until `millrace resume`.',
  },
  resume: { summary: 'go on with a paused run', description: 'Goes on with a run that was paused.' },
} as const;

/** Adds `millrace stop`, `millrace pause` and `millrace resume`. */
export function addControlCommands(program: Command, context: CliContext): void {
  for (const name of Object.keys(COMMANDS) as (keyof typeof COMMANDS)[]) {
    const { summary, description } = COMMANDS[name];
    withServerOptions(addCommand(program, `${name} <run>`))
      .summary(summary)
      .description(description)
      .addHelpText(
        'after',
        `
Example:
  millrace ${name} 4nwee6vv6paa4bafu3kgiuidb3`,
      )
      .action(async (runId: string, options: ServerOptions) => {
        await printAnswer(context, options, [`${name}Run`, { path: { runId } }], (answer, { style }) => [
          commandLine(answer, style),
        ]);
        context.exit(EXIT.ok);
      });
  }
}

/** What became of a command to a run, in one line. */
export function commandLine({ message, run }: CommandAnswer, style: Style): string {
  return `Run ${style.bold(run.id)} is ${paintState(run.state, style)(run.state)}: ${oneLine(message)}`;
}
