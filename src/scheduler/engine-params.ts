/** The check of a node's evaluated parameters against the schema that its engine was registered with. */
import { isFlightOf } from '#domain/draft.ts';
import type { Wanted } from '#domain/facts.ts';
import type { CompiledNode } from '#domain/graph.ts';
import type { Json, JsonObject } from '#domain/json.ts';
import { limitName } from '#domain/limit.ts';
import { type ErrorInfo, isUnderWay } from '#domain/run.ts';
import type { EvaluationScope } from './bindings.ts';
import { checkInput } from './input-check.ts';

/** Errors that the message names. */
const MAX_TOLD = 5;

/**
 * What is wrong with the parameters of a start; nothing where they fit, or where the engine takes any. A start that is
 * committed is not judged again: its engine may have another schema by now.
 */
export function checkStart(
  { pipeline, run, limits }: EvaluationScope,
  wanted: Wanted,
  params: Json,
): ErrorInfo | undefined {
  const { engine } = pipeline.nodes[wanted.node] as CompiledNode;
  const schema = limits?.get(limitName('engine', engine))?.paramsSchema;
  if (!schema || run.flights.some((flight) => isFlightOf(flight, wanted) && isUnderWay(flight))) return undefined;
  return checkParams(engine, schema, params);
}

/**
 * Checks evaluated parameters. A misfit is never tried again: the same parameters would not fit the next time.
 * @param name of the engine
 */
function checkParams(name: string, schema: JsonObject, params: Json): ErrorInfo | undefined {
  const errors = checkInput(schema, params, 'what the parameters come to');
  if (errors.length === 0) return undefined;
  const told = errors.slice(0, MAX_TOLD).map(({ path, message }) => `params${path}: ${message}`);
  const left = errors.length > MAX_TOLD ? `; and ${errors.length - MAX_TOLD} more` : '';
  const message = `the engine ${JSON.stringify(name)} does not take them: ${told.join('; ')}${left}`;
  return { name: 'Millrace.InvalidParams', message };
}
