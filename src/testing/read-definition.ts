import { readFile } from 'node:fs/promises';
import { InvalidDefinitionError } from '#authoring/invalid-definition-error.ts';
import { type DefinitionFormat, loadDefinition } from '#authoring/load-definition.ts';
import type { PipelineDefinition } from '#domain/definition.ts';
import { parseDefinition } from '#domain/definition-schema.ts';

/** A definition as tests have it: the object, the text of a definition in YAML or JSON, or the address of a file of one. */
export type TestedDefinition = PipelineDefinition | string | URL;

/**
 * Reads and checks a definition as the API does.
 * @throws InvalidDefinitionError with all errors at once
 */
export async function readDefinition(given: TestedDefinition): Promise<PipelineDefinition> {
  const result =
    typeof given === 'string'
      ? loadDefinition(given, formatOf(given))
      : given instanceof URL
        ? loadDefinition(await readFile(given, 'utf8'), given.pathname.endsWith('.json') ? 'json' : 'yaml')
        : parseDefinition(given);
  if (!result.ok) throw new InvalidDefinitionError(result.errors);
  return result.definition;
}

function formatOf(text: string): DefinitionFormat {
  return text.trimStart().startsWith('{') ? 'json' : 'yaml';
}
