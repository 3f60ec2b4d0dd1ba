/** `millrace rerun`: starts a run again. */
import type { Command } from 'commander';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { type ServerOptions, withServerOptions } from './list-options.ts';
import { collectMark, type MarkOption, parseFrom } from './node-options.ts';
import { readInput } from './option-values.ts';
import { printAnswer } from './printed-answers.ts';
import { startedText } from './run-summary.ts';

interface RerunOptions extends ServerOptions {
  readonly from: ReturnType<typeof parseFrom>;
  readonly latest?: true;
  readonly input?: string;
  readonly mark?: readonly MarkOption[];
}

/** Adds `millrace rerun`. */
export function addRerunCommand(program: Command, context: CliContext): void {
  withServerOptions(addCommand(program, 'rerun <run>'))
    .summary('start a run again')
    .description(
      'Starts a run that is over again: a new run, which takes over what needs not run again. What runs again takes everything ' +
        'below it along.',
    )
    .option('--from <what>', 'failed: what did not succeed; all; or the ids of nodes, as ID,ID', parseFrom, 'failed')
    .option('--latest', 'on the newest revision of the pipeline (default: on the revision that the run had)')
    .option('--input <json>', 'another input: JSON, or @FILE with JSON in it (default: the input that the run had)')
    .option('--mark <id=state>', 'decide a node by hand: ID=SUCCEEDED[:JSON], ID=FAILED or ID=SKIPPED', collectMark)
    .addHelpText(
      'after',
      `
Examples:
  millrace rerun 4nwee6vv6paa4bafu3kgiuidb3
  millrace rerun 4nwee6vv6paa4bafu3kgiuidb3 --from load,check --latest
  millrace rerun 4nwee6vv6paa4bafu3kgiuidb3 --mark 'extract=SUCCEEDED:{"rows": 3}'`,
    )
    .action(async (runId: string, options: RerunOptions) => {
      const call = ['rerun', { path: { runId }, body: await toBody(options, context.cwd) }] as const;
      await printAnswer(context, options, call, (run, { style }) => [startedText(run, style)]);
      context.exit(EXIT.ok);
    });
}

async function toBody({ from, latest, input, mark }: RerunOptions, cwd: string) {
  const marks = await Promise.all(
    (mark ?? []).map(async ({ node, state, output }) => {
      const given = output === undefined ? {} : { output: await readInput(output, cwd, `--mark ${node}`) };
      return [node, { state, ...given }] as const;
    }),
  );
  return {
    from,
    revision: latest ? 'latest' : 'original',
    ...(input !== undefined && { input: await readInput(input, cwd) }),
    ...(marks.length > 0 && { mark: Object.fromEntries(marks) }),
  };
}
