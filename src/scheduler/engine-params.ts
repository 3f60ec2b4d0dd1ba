/** The check of a node's evaluated parameters against the schema that its engine was registered with. */
import { isFlightOf } from '#domain/draft.ts';
import type { Wanted } from '#domain/facts.ts';
import type { CompiledNode } from '#domain/graph.ts';
import type { Json } from '#domain/json.ts';
import { type EngineState, limitName } from '#domain/limit.ts';
import { type ErrorInfo, isUnderWay } from '#domain/run.ts';
import type { Binder, EvaluationScope } from './bindings.ts';
import type { PassDeps } from './deps.ts';
import { checkInput } from './input-check.ts';

/** Errors that the message names. */
const MAX_TOLD = 5;

/** What was read for one round of evaluations; the next round reads it anew. */
const readFor = new WeakMap<Binder, Map<string, Promise<EngineState | undefined>>>();

/**
 * What is wrong with the parameters of a start; nothing where they fit, or where the engine takes any. A start that is
 * committed is not judged again: its engine may have another schema by now.
 */
export async function checkStart(
  deps: Pick<PassDeps, 'limits' | 'engines'>,
  binder: Binder,
  { pipeline, run }: EvaluationScope,
  wanted: Wanted,
  params: Json,
): Promise<ErrorInfo | undefined> {
  const { engine: name } = pipeline.nodes[wanted.node] as CompiledNode;
  if (deps.engines.has(name)) return undefined;
  if (run.flights.some((flight) => isFlightOf(flight, wanted) && isUnderWay(flight))) return undefined;
  const engine = await readEngine(deps, binder, name);
  return engine && checkParams(name, engine, params);
}

function readEngine(deps: Pick<PassDeps, 'limits'>, binder: Binder, name: string): Promise<EngineState | undefined> {
  const known = readFor.get(binder) ?? new Map<string, Promise<EngineState | undefined>>();
  readFor.set(binder, known);
  const reading = known.get(name) ?? deps.limits.readLimit(limitName('engine', name)).then((limit) => limit?.engine);
  known.set(name, reading);
  return reading;
}

/**
 * Checks evaluated parameters. A misfit is never tried again: the same parameters would not fit the next time.
 * @param name of the engine
 */
export function checkParams(
  name: string,
  { paramsSchema }: Pick<EngineState, 'paramsSchema'>,
  params: Json,
): ErrorInfo | undefined {
  if (!paramsSchema) return undefined;
  const errors = checkInput(paramsSchema, params, 'what the parameters come to');
  if (errors.length === 0) return undefined;
  const told = errors.slice(0, MAX_TOLD).map(({ path, message }) => `params${path}: ${message}`);
  const left = errors.length > MAX_TOLD ? `; and ${errors.length - MAX_TOLD} more` : '';
  const message = `the engine ${JSON.stringify(name)} does not take them: ${told.join('; ')}${left}`;
  return { name: 'Millrace.InvalidParams', message };
}
