import type { Command } from 'commander';
import type { DefinitionResult } from '#authoring/index.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { counted } from './counts-text.ts';
import { definitionErrorLine, readDefinitionFile } from './definition-file.ts';
import { EXIT } from './exit-codes.ts';

/** Adds `millrace validate`. */
export function addValidateCommand(program: Command, context: CliContext): void {
  addCommand(program, 'validate <file...>')
    .summary('check pipeline definitions')
    .description(
      'Checks definitions (YAML, JSON or TypeScript) and tells all errors at once. Nothing is stored and no server is asked.',
    )
    .option('--json', 'print one JSON document: {valid, files: [{file, valid, nodes, edges | errors}]}')
    .addHelpText(
      'after',
      `
Examples:
  millrace validate etl.yaml
  millrace validate pipelines/*.yaml --json

Exit codes: 0 all are valid, 2 not all are.`,
    )
    .action(async (files: readonly string[], options: { readonly json?: true }) => {
      context.exit(await validate(files, options.json === true, context));
    });
}

interface Checked {
  readonly file: string;
  readonly result: DefinitionResult;
}

async function validate(files: readonly string[], json: boolean, context: CliContext): Promise<number> {
  const checked: Checked[] = [];
  for (const file of files) checked.push({ file, result: await readDefinitionFile(file, context.cwd) });
  const isValid = checked.every(({ result }) => result.ok);
  if (json) {
    context.output.line(JSON.stringify({ valid: isValid, files: checked.map(toJson) }, null, 2));
  } else {
    for (const line of checked.flatMap((one) => toLines(one, context))) context.output.line(line);
  }
  return isValid ? EXIT.ok : EXIT.usage;
}

function toJson({ file, result }: Checked) {
  return result.ok ? { file, valid: true, ...sizeOf(result) } : { file, valid: false, errors: result.errors };
}

function sizeOf({ definition }: DefinitionResult & { readonly ok: true }) {
  const { name, nodes } = definition;
  return { name, nodes: nodes.length, edges: nodes.reduce((sum, { dependsOn = [] }) => sum + dependsOn.length, 0) };
}

function toLines({ file, result }: Checked, { output: { style } }: CliContext): string[] {
  if (!result.ok) return result.errors.map((error) => definitionErrorLine(file, error));
  const { name, nodes, edges } = sizeOf(result);
  return [`${file}: ${style.green('valid')}: ${name}, ${counted(nodes, 'node')}, ${counted(edges, 'edge')}`];
}
