import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import { CliError } from './cli-error.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import type { BarePackage } from './init/package-file.ts';

interface InitOptions {
  readonly force?: true;
  readonly json?: true;
}

/** Adds `millrace init`. */
export function addInitCommand(program: Command, context: CliContext): void {
  addCommand(program, 'init <dir>')
    .summary('make a small project: a pipeline, two functions, a test, a CDK app')
    .description(
      'Makes a project in the folder DIR: a pipeline, two functions that it calls, a test of it and a CDK app that deploys it all. ' +
        'Where a file of it is there already nothing is written, unless --force says so; a package.json that names nothing but ' +
        'dependencies is completed.',
    )
    .option('--force', 'write over files of the same names')
    .option('--json', 'print one JSON document: {dir, name, millrace, files, next}')
    .addHelpText(
      'after',
      `
Examples:
  millrace init orders
  npm install millrace && npx millrace init .

Exit codes: 0 it is written, 2 it is not.`,
    )
    .action(async (dir: string, options: InitOptions) => {
      context.exit(await init(dir, options, context));
    });
}

async function init(dir: string, { force, json }: InitOptions, { cwd, output }: CliContext): Promise<number> {
  const folder = resolve(cwd, dir);
  const [{ millraceDependency }, { projectFiles }, { projectNames }] = await Promise.all([
    import('./init/millrace-dependency.ts'),
    import('./init/project-files.ts'),
    import('./init/project-names.ts'),
  ]);
  const names = projectNames(folder);
  const millrace = await millraceDependency(folder);
  const present = await barePackage(folder);
  const files = projectFiles(names, millrace, present);
  const paths = [...files.keys()];
  if (force !== true) refuseToOverwrite(dir, folder, present ? paths.filter((path) => path !== PACKAGE) : paths);
  await writeFiles(folder, files);
  const next = nextCommands(relative(cwd, folder));
  if (json === true) {
    output.line(JSON.stringify({ dir: folder, name: names.project, millrace, files: paths, next }, null, 2));
    return EXIT.ok;
  }
  for (const path of paths) output.line(join(dir, path));
  output.line();
  output.line('Next:');
  for (const command of next) output.line(`  ${command}`);
  return EXIT.ok;
}

const PACKAGE = 'package.json';

async function barePackage(folder: string): Promise<BarePackage | undefined> {
  const file = join(folder, PACKAGE);
  if (!existsSync(file)) return undefined;
  const { readBarePackage } = await import('./init/package-file.ts');
  return readBarePackage(await readFile(file, 'utf8'));
}

function refuseToOverwrite(dir: string, folder: string, paths: readonly string[]): void {
  const present = paths.filter((path) => existsSync(join(folder, path)));
  if (present.length === 0) return;
  throw new CliError('FILES_EXIST', `${dir} has ${present.join(', ')} already; nothing was written.`, {
    next: 'Name another folder, or give --force to write over them.',
  });
}

async function writeFiles(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, text] of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
}

/** What makes the project run, pass its test and become a template, in that order. */
function nextCommands(way: string): readonly string[] {
  const install =
    way === '' ? 'npm install' : `cd ${/^[\w./-]+$/.test(way) ? way : JSON.stringify(way)} && npm install`;
  return [install, 'npx millrace run pipeline.yaml', 'npm test'];
}
