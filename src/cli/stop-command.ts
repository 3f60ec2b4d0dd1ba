import type { Command } from 'commander';
import { createApiClient } from './api-client.ts';
import { type StopShape, stopShape } from './api-shapes.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { type ServerOptions, withServerOptions } from './list-options.ts';
import { stopRun } from './millrace-api.ts';
import { oneLine } from './one-line.ts';
import type { Style } from './output.ts';
import { serverUrl } from './server-url.ts';
import { paintState } from './state-style.ts';

/** Adds `millrace stop`. */
export function addStopCommand(program: Command, context: CliContext): void {
  withServerOptions(addCommand(program, 'stop <run>'))
    .summary('stop a run')
    .description(
      'Stops a run: from the answer on nothing of it starts, and what is under way is ended. Stopping it twice does no harm.',
    )
    .addHelpText(
      'after',
      `
Example:
  millrace stop 4nwee6vv6paa4bafu3kgiuidb3`,
    )
    .action(async (runId: string, { url, json }: ServerOptions) => {
      const { output, env } = context;
      const { text, value } = await stopRun(createApiClient(serverUrl(url, env)), runId);
      output.line(json ? text : stopLine(stopShape.parse(value), output.style));
      context.exit(EXIT.ok);
    });
}

/** What became of a stop, in one line. */
export function stopLine({ message, run }: StopShape, style: Style): string {
  return `Run ${style.bold(run.id)} is ${paintState(run.state, style)(run.state)}: ${oneLine(message)}`;
}
