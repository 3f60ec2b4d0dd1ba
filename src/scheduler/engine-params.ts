import type { Json } from '#domain/json.ts';
import type { EngineState } from '#domain/limit.ts';
import type { ErrorInfo } from '#domain/run.ts';
import { checkInput } from './input-check.ts';

/** Errors that the message names. */
const MAX_TOLD = 5;

/**
 * Checks the evaluated parameters of a node against the schema that its engine was registered with. A misfit is never
 * tried again: the same parameters would not fit the next time.
 * @returns nothing where they fit, or where the engine takes any
 */
export function checkParams(
  engine: Pick<EngineState, 'paramsSchema'> & { readonly name: string },
  params: Json,
): ErrorInfo | undefined {
  if (!engine.paramsSchema) return undefined;
  const errors = checkInput(engine.paramsSchema, params, 'what the parameters come to');
  if (errors.length === 0) return undefined;
  const told = errors.slice(0, MAX_TOLD).map(({ path, message }) => `params${path}: ${message}`);
  const left = errors.length > MAX_TOLD ? `; and ${errors.length - MAX_TOLD} more` : '';
  const message = `the engine ${JSON.stringify(engine.name)} does not take them: ${told.join('; ')}${left}`;
  return { name: 'Millrace.InvalidParams', message };
}
