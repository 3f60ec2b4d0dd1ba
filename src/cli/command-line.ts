import type { Command, CommandOptions } from 'commander';
import type { Output } from './output.ts';

/** Adds a command below another one. What is wrong with its usage is told in one line that names its help. */
export function addCommand(parent: Command, usage: string, options: CommandOptions = {}): Command {
  const command = parent.command(usage, options);
  return command.configureOutput({ outputError: (text, write) => write(usageError(text, pathOf(command))) });
}

/** One error of commander's, which begins with `error: `, with a code and the next step. */
export function usageError(text: string, path: string): string {
  const what = text
    .replace(/^error: /, '')
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ');
  return `millrace: USAGE: ${what}${/[.?)]$/.test(what) ? '' : '.'} See \`${path} --help\`.`;
}

function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** Where commander writes to. */
export function commanderOutput(output: Output) {
  return {
    writeOut: (text: string) => output.line(text),
    writeErr: (text: string) => output.error(text),
    getOutHelpWidth: () => Math.min(HELP_WIDTH, output.columns()),
    getErrHelpWidth: () => Math.min(HELP_WIDTH, output.columns()),
  };
}

const HELP_WIDTH = 130;
