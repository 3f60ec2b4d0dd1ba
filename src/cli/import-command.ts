import { writeFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import type { Command } from 'commander';
import type { PipelineDefinition } from '#authoring/index.ts';
import { CliError } from './cli-error.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { counted } from './counts-text.ts';
import { definitionErrorLine } from './definition-file.ts';
import { EXIT } from './exit-codes.ts';
import { parseFactor } from './option-values.ts';
import { readTextFile } from './text-file.ts';

interface ImportOptions {
  readonly out?: string;
  readonly timeScale: number;
  readonly function: string;
}

/** Adds `millrace import`. */
export function addImportCommand(program: Command, context: CliContext): void {
  const importing = addCommand(program, 'import').summary('turn a workflow of another system into a pipeline');
  addCommand(importing, 'wfcommons <file>')
    .summary('import a recorded workflow in WfFormat 1.5')
    .description(
      'Turns a WfFormat 1.5 file (wfcommons.org) into a pipeline: a node for each task, which calls a function that takes as long as ' +
        'the task was recorded to take, times --time-scale.',
    )
    .option('-o, --out <file>', 'write to this .yaml or .json file (default: YAML to standard output)')
    .option('--time-scale <factor>', 'factor on the recorded run times', parseFactor, 1)
    .option('--function <name>', 'function that takes {seconds, task}', 'work')
    .addHelpText(
      'after',
      `
Examples:
  millrace import wfcommons montage.json --time-scale 0.001 -o montage.yaml
  millrace run montage.yaml --functions examples/wfcommons/functions`,
    )
    .action(async (file: string, options: ImportOptions) => {
      context.exit(await importFile(file, options, context));
    });
}

async function importFile(file: string, options: ImportOptions, { cwd, output }: CliContext): Promise<number> {
  const text = await readText(file, cwd);
  const { importWfCommons, InvalidDefinitionError } = await import('#authoring/index.ts');
  let definition: PipelineDefinition;
  try {
    definition = importWfCommons(text, { timeScale: options.timeScale, functionName: options.function });
  } catch (error) {
    if (!(error instanceof InvalidDefinitionError)) throw error;
    for (const one of error.errors) output.error(definitionErrorLine(file, one));
    output.error(
      `millrace: INVALID_WFFORMAT: ${counted(error.errors.length, 'error')} in ${file}; nothing was written.`,
    );
    return EXIT.usage;
  }
  const { out } = options;
  const written = await textOf(definition, out);
  if (out === undefined) {
    output.line(written);
    return EXIT.ok;
  }
  await writeFile(resolve(cwd, out), written);
  output.line(`${out}: ${definition.name}, ${counted(definition.nodes.length, 'node')}`);
  return EXIT.ok;
}

/** Records say much that a definition does not: they may be larger. */
const MAX_RECORD_BYTES = 64 * 1024 * 1024;

async function readText(name: string, cwd: string): Promise<string> {
  const file = await readTextFile(resolve(cwd, name), MAX_RECORD_BYTES);
  if (file.ok) return file.text;
  throw new CliError(file.code, `${name}: ${file.message}.`);
}

async function textOf(definition: PipelineDefinition, out: string | undefined): Promise<string> {
  if (out !== undefined && extname(out).toLowerCase() === '.json') return `${JSON.stringify(definition, null, 2)}\n`;
  const { stringify } = await import('yaml');
  return stringify(definition, { lineWidth: 120, aliasDuplicateObjects: false });
}
