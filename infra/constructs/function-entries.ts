import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { BundleEntry } from './bundle.ts';
import { SynthesisError } from './synthesis-error.ts';

const SOURCE = '.ts';
const NOT_A_FUNCTION = /\.(d|test|spec)\.ts$/;

/**
 * What may be functions in a directory: each `<name>.ts` and each `<name>/index.ts`, in order of name. Whether they are depends on what
 * they export. Declarations, tests and hidden files are passed over.
 *
 * @throws SynthesisError `FUNCTIONS_NOT_FOUND` if there is no such directory, `DUPLICATE_FUNCTION_NAME` if a name has both a file
 * and a folder.
 */
export function findFunctionEntries(directory: string): BundleEntry[] {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) {
    throw new SynthesisError(
      'FUNCTIONS_NOT_FOUND',
      `The context value "functions" names ${resolve(directory)}, which is not a directory.`,
    );
  }
  const files = new Map<string, string>();
  for (const { name, file } of candidates(directory)) {
    const other = files.get(name);
    if (other) throw duplicate(name, other, file);
    files.set(name, file);
  }
  return [...files].map(([name, file]) => ({ name, file })).sort((a, b) => (a.name < b.name ? -1 : 1));
}

function candidates(directory: string): BundleEntry[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((item) => {
    if (item.name.startsWith('.') || NOT_A_FUNCTION.test(item.name)) return [];
    const path = join(directory, item.name);
    const index = join(path, 'index.ts');
    if (existsSync(index)) return [{ name: item.name, file: index }];
    if (!item.name.endsWith(SOURCE) || !statSync(path).isFile()) return [];
    return [{ name: item.name.slice(0, -SOURCE.length), file: path }];
  });
}

function duplicate(name: string, one: string, other: string): SynthesisError {
  return new SynthesisError(
    'DUPLICATE_FUNCTION_NAME',
    `The function "${name}" is there twice: ${one} and ${other}. A name has either a file or a folder.`,
  );
}
