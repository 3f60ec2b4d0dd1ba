import { DEFINITION_LIMITS, type DefinitionError } from '#domain/definition.ts';
import { parsePath } from '#domain/definition-path.ts';
import { type DefinitionResult, parseDefinition } from '#domain/definition-schema.ts';
import { type Locate, locateInJson, parseJsonStrict } from '#domain/json-text.ts';
import { tooManyValues } from './json-values.ts';
import { parseYamlStrict } from './yaml-text.ts';

/** What a definition is written in. */
export type DefinitionFormat = 'json' | 'yaml';

/**
 * Reads and checks the text of a definition. Every error carries its line and column. JSON, YAML and
 * `definePipeline` of one pipeline give the same definition.
 */
export function loadDefinition(text: string, format: DefinitionFormat): DefinitionResult {
  const size = sizeError(text) ?? (format === 'json' ? tooManyValues(text) : undefined);
  if (size !== undefined) return { ok: false, errors: [size] };
  // Editors put a byte order mark before a text; it is no part of it.
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const { result, locate } = format === 'yaml' ? parseYamlStrict(body) : { result: parseJsonStrict(body) };
  if (result.value === undefined) return { ok: false, errors: result.ok ? [] : result.errors };
  const checked = parseDefinition(result.value);
  const textErrors = result.ok ? [] : result.errors;
  if (checked.ok) return textErrors.length === 0 ? checked : { ok: false, errors: textErrors };
  const paths = new Set(textErrors.map(({ path }) => path));
  const others = checked.errors.filter(({ path }) => path === '' || !paths.has(path));
  return { ok: false, errors: [...textErrors, ...located(others, locate ?? locateInJson(body))] };
}

function sizeError(text: string): DefinitionError | undefined {
  const limit = DEFINITION_LIMITS.definitionBytes;
  const bytes = text.length > limit ? text.length : Buffer.byteLength(text);
  if (bytes <= limit) return undefined;
  const message = `the text of the definition has ${bytes} bytes or more`;
  return { path: '', code: 'TOO_LARGE', message, value: bytes, allowed: `at most ${limit} bytes`, line: 1, column: 1 };
}

function located(errors: readonly DefinitionError[], locate: Locate): DefinitionError[] {
  return errors.map((error) => ({
    ...error,
    ...locate(parsePath(error.path), error.code === 'UNKNOWN_FIELD' ? 'key' : 'value'),
  }));
}
