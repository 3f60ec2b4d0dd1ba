import { readFile } from 'node:fs/promises';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { DefinitionError, DefinitionResult } from '#authoring/index.ts';
import { oneLine } from './one-line.ts';
import { decodeText } from './text-file.ts';

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
export async function readDefinitionFile(file: string, cwd: string): Promise<DefinitionResult> {
  const path = resolve(cwd, file);
  const extension = extname(file).toLowerCase();
  if (MODULES.has(extension)) return readModule(path);
  const format = TEXT_FORMATS.get(extension);
  if (format === undefined) {
    return refused('UNKNOWN_FORMAT', `a definition is a .yaml, .yml, .json or .ts file, and this is none of them`);
  }
  const bytes = await readFile(path).catch(readingError);
  if (!(bytes instanceof Uint8Array)) return bytes;
  const text = decodeText(bytes);
  if (text === undefined) return refused('INVALID_UNICODE', 'the file is not UTF-8 text');
  const { loadDefinition } = await authoring();
  return loadDefinition(text, format);
}

function readingError(error: NodeJS.ErrnoException): DefinitionResult {
  if (error.code === 'ENOENT') return refused('FILE_NOT_FOUND', 'there is no such file');
  if (error.code === 'EISDIR') return refused('FILE_NOT_FOUND', 'this is a folder, not a file');
  return refused('FILE_UNREADABLE', error.message);
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
