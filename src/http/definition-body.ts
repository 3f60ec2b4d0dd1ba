import { DEFINITION_LIMITS, type PipelineDefinition } from '#domain/definition.ts';
import type { ApiRequest } from './api-message.ts';
import { ApiProblem, isProblemCode } from './problem.ts';
import { mediaTypeOf, textOf } from './request-body.ts';

/** Types of a definition's text; JSON is the default. */
export const DEFINITION_TYPES = ['application/json', 'application/yaml', 'application/x-yaml', 'text/yaml'] as const;

/** Errors that leave no definition to check at all. */
const MALFORMED = new Set(['INVALID_JSON', 'INVALID_YAML', 'TOO_DEEP']);

/**
 * Reads and checks a definition.
 * @throws ApiProblem with all errors at once, each with its line and column
 */
export async function readDefinitionBody(request: ApiRequest): Promise<PipelineDefinition> {
  const type = mediaTypeOf(request, DEFINITION_TYPES);
  const text = textOf(request, DEFINITION_LIMITS.definitionBytes);
  // Loaded when a definition comes, since most invocations never see one.
  const { loadDefinition } = await import('#authoring/load-definition.ts');
  const loaded = loadDefinition(text, type === 'application/json' ? 'json' : 'yaml');
  if (loaded.ok) return loaded.definition;
  const { errors } = loaded;
  const [first] = errors;
  if (first && errors.every(({ code }) => MALFORMED.has(code)) && isProblemCode(first.code)) {
    throw new ApiProblem(first.code, first.message, { errors });
  }
  const count = errors.length === 1 ? 'One thing is' : `${errors.length} things are`;
  const place = first?.path ? `${first.path}: ` : '';
  throw new ApiProblem('INVALID_DEFINITION', `${count} wrong. ${place}${first?.message}`, { errors });
}
