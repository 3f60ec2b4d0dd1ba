import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DefinitionError, DefinitionResult } from '#authoring/index.ts';
import { DEFINITION_LIMITS } from '#domain/definition.ts';
import { oneLine } from './one-line.ts';
import { readTextFile } from './text-file.ts';

/** Endings of files that hold a definition as text. */
const TEXT_FORMATS: ReadonlyMap<string, 'json' | 'yaml'> = new Map([
  ['.yaml', 'yaml'],
  ['.yml', 'yaml'],
  ['.json', 'json'],
]);
/** Endings of modules that export a definition. */
const MODULES: ReadonlySet<string> = new Set(['.ts', '.mts', '.js', '.mjs']);

/** Whether an argument that may be a file or a pipeline's name looks like a file. */
export function looksLikeFile(argument: string): boolean {
  const extension = extname(argument).toLowerCase();
  return /[/\\]/.test(argument) || TEXT_FORMATS.has(extension) || MODULES.has(extension);
}

/**
 * Reads and checks the definition in a file: YAML, JSON, or a module whose default export is one.
 * What keeps the file from being read is an error of the result, too.
 */
export async function readDefinitionFile(name: string, cwd: string): Promise<DefinitionResult> {
  const path = resolve(cwd, name);
  const extension = extname(name).toLowerCase();
  if (MODULES.has(extension)) return readModule(path);
  const format = TEXT_FORMATS.get(extension);
  if (format === undefined) {
    return refused('UNKNOWN_FORMAT', `a definition is a .yaml, .yml, .json or .ts file, and this is none of them`);
  }
  const file = await readTextFile(path, DEFINITION_LIMITS.definitionBytes);
  if (!file.ok) return refused(file.code, file.message);
  const { loadDefinition } = await authoring();
  return loadDefinition(file.text, format);
}

/** Loaded when a definition is read: most commands never see one, and should answer at once. */
function authoring() {
  return import('#authoring/index.ts');
}

async function readModule(path: string): Promise<DefinitionResult> {
  const { InvalidDefinitionError, parseDefinition } = await authoring();
  let loaded: { readonly default?: unknown };
  try {
    loaded = await import(pathToFileURL(path).href);
  } catch (error) {
    if (error instanceof InvalidDefinitionError) return { ok: false, errors: error.errors };
    return refused('MODULE_FAILED', `the module does not load: ${oneLine(String(error))}`);
  }
  if (loaded.default === undefined)
    return refused('NO_DEFINITION', 'the module has no default export; it should be a definition');
  return parseDefinition(loaded.default);
}

function refused(code: string, message: string): DefinitionResult {
  return { ok: false, errors: [{ path: '', code, message }] };
}

/** One error as compilers write theirs: `file:line:column code path: message (suggestion)`. */
export function definitionErrorLine(file: string, error: DefinitionError): string {
  const { path, code, message, line, column, suggestion } = error;
  const place = line === undefined ? file : `${file}:${line}:${column ?? 1}`;
  const hint = suggestion === undefined || message.includes(suggestion) ? '' : ` (did you mean ${suggestion}?)`;
  return `${place} ${code} ${oneLine(`${path === '' ? '' : `${path}: `}${message}${hint}`)}`;
}
