import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { PipelineDefinition } from '#authoring/index.ts';
import { CliError } from './cli-error.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { counted } from './counts-text.ts';
import { definitionErrorLine, looksLikeFile, readDefinitionFile } from './definition-file.ts';
import { EXIT } from './exit-codes.ts';
import { parseNodeIds } from './node-options.ts';
import { DEFAULT_TICK, parseSeed, parseTick, readInput } from './option-values.ts';
import { runEmbedded } from './run-embedded.ts';
import { runOnServer } from './run-on-server.ts';

/** The options of `millrace run`. */
export interface RunOptions {
  readonly input?: string;
  readonly only?: readonly string[];
  readonly reuse?: string;
  readonly wait?: true;
  readonly json?: true;
  readonly url?: string;
  readonly functions?: string;
  readonly data?: string;
  readonly tick?: number;
  readonly chaos?: string;
  readonly seed?: number;
}

/** Options that say how a host is to be, and so have no meaning for a server that runs already. */
const HOST_OPTIONS = ['functions', 'data', 'tick', 'chaos', 'seed'] as const;

/** Adds `millrace run`. */
export function addRunCommand(program: Command, context: CliContext): void {
  addCommand(program, 'run <file|name>')
    .summary('run a pipeline and show how it goes')
    .description(
      'Runs a pipeline. With a FILE and no --url it starts a development host of its own, puts the pipeline there, runs it to its ' +
        'end and shows each node as it goes. With --url (or MILLRACE_URL), or the NAME of a pipeline, it starts the run on that server.',
    )
    .option('--input <json>', 'input of the run: JSON, or @FILE with JSON in it (default: {})')
    .option('--only <ids>', 'run only these nodes, as ID,ID, and the ancestors that they need', parseNodeIds)
    .option('--reuse <run>', 'take successes of this run of the pipeline for nodes that need not run')
    .option('--functions <dir>', 'folder of the functions that nodes call (default: functions/ beside FILE)')
    .option('--wait', 'on a server: wait for the end of the run (a host of its own always does)')
    .option('--json', 'print one JSON document at the end: the run with its nodes and counters')
    .option('--data <dir>', 'keep the state of the host here (default: a temporary folder)')
    .option('--tick <time>', `time between two ticks of the host (default: ${DEFAULT_TICK.text})`, parseTick)
    .option('--chaos <spec>', 'troubles for the host to make: drop-events=P, kill=scheduler:P, …')
    .option('--seed <n>', 'makes --chaos choose the same again', parseSeed)
    .option('--url <url>', 'server to run on (default: MILLRACE_URL)')
    .addHelpText(
      'after',
      `
Examples:
  millrace run examples/retry/pipeline.yaml
  millrace run etl.yaml --input '{"day": "2026-11-30"}' --json
  millrace run etl.yaml --chaos kill=scheduler:0.3,repeat-events=1 --seed 7
  millrace run etl --url http://127.0.0.1:8787 --wait

Ctrl-C stops the run and waits for its end; a second one leaves at once.
Exit codes: 0 SUCCEEDED, 1 any other end, 2 wrong usage or an invalid definition.`,
    )
    .action(async (target: string, options: RunOptions) => {
      context.exit(await run(target, options, context));
    });
}

async function run(target: string, options: RunOptions, context: CliContext): Promise<number> {
  const isFile = looksLikeFile(target);
  const isRemote = !isFile || options.url !== undefined || (context.env['MILLRACE_URL'] ?? '') !== '';
  const misplaced = HOST_OPTIONS.find((name) => options[name] !== undefined);
  if (isRemote && misplaced !== undefined) {
    const why = isFile ? 'a server is named by --url or MILLRACE_URL' : `${JSON.stringify(target)} is no file`;
    throw new CliError('USAGE', `--${misplaced} is for a host that this command starts, but ${why}.`, {
      next: 'Leave it out, or give a FILE and no server.',
    });
  }
  const definition = isFile ? await readDefinition(target, context) : undefined;
  if (isFile && definition === undefined) return EXIT.usage;
  const input = options.input === undefined ? undefined : await readInput(options.input, context.cwd);
  const { only, reuse } = options;
  const name = definition?.name ?? target;
  const job = { definition, name, input, only, reuse, json: options.json === true };
  if (isRemote) {
    return runOnServer({ ...job, url: options.url, wait: options.wait === true }, context);
  }
  const functionsDir = functionsFolder(target, options.functions, context.cwd);
  return runEmbedded({ ...job, definition: definition as PipelineDefinition, functionsDir, options }, context);
}

async function readDefinition(file: string, { cwd, output }: CliContext): Promise<PipelineDefinition | undefined> {
  const result = await readDefinitionFile(file, cwd);
  if (result.ok) return result.definition;
  for (const error of result.errors) output.error(definitionErrorLine(file, error));
  output.error(
    `millrace: INVALID_DEFINITION: ${counted(result.errors.length, 'error')} in ${file}; nothing was started.`,
  );
  return undefined;
}

function functionsFolder(file: string, given: string | undefined, cwd: string): string | undefined {
  if (given !== undefined) return resolve(cwd, given);
  const beside = join(dirname(resolve(cwd, file)), 'functions');
  return existsSync(beside) ? beside : undefined;
}
