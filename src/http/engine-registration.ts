/** What an engine is registered with, checked: the same for the route and for the function that deployments call. */
import type * as z from 'zod';
import { ErrorList } from '#domain/definition-errors.ts';
import type { EngineRegistration } from '#domain/engine-changes.ts';
import { checkJsonSchema } from '#domain/input-schema.ts';
import type { JsonObject } from '#domain/json.ts';
import { checkMachine, type MachineCheckDeps } from './engine-machine.ts';
import type { engineRequestSchema } from './engine-schemas.ts';
import { checkName } from './named-limits.ts';
import { ApiProblem } from './problem.ts';

/** Names that no engine can be registered under. */
const RESERVED_NAMES: ReadonlySet<string> = new Set(['lambda', 'pipeline', 'pass', 'approval', 'http']);

/**
 * Refuses the name of an engine that comes with the installation.
 * @throws ApiProblem BUILT_IN_ENGINE
 */
export function refuseBuiltIn(deps: Pick<MachineCheckDeps, 'engines'>, name: string): void {
  if (!RESERVED_NAMES.has(name) && !deps.engines.has(name)) return;
  throw new ApiProblem('BUILT_IN_ENGINE', `The engine ${JSON.stringify(name)} is built in; it cannot be changed.`);
}

/**
 * Refuses a name that no engine can be registered under.
 * @throws ApiProblem BUILT_IN_ENGINE, INVALID_REQUEST
 */
export function checkEngineName(deps: Pick<MachineCheckDeps, 'engines'>, name: string): void {
  refuseBuiltIn(deps, name);
  checkName(name);
}

/**
 * Checks what an engine is to be registered with, but for its name: the schema of its params, and its state machine.
 * @throws ApiProblem INVALID_REQUEST, STATE_MACHINE_NOT_FOUND, STATE_MACHINE_DENIED, THROTTLED
 */
export async function checkRegistration(
  deps: MachineCheckDeps,
  { labels, paramsSchema, ...rest }: z.output<typeof engineRequestSchema>,
): Promise<EngineRegistration> {
  if (paramsSchema) checkParamsSchema(paramsSchema as JsonObject);
  await checkMachine(deps, rest.stateMachineArn);
  return {
    ...rest,
    labels: Object.entries(labels ?? {}).sort(([one], [other]) => (one < other ? -1 : 1)),
    ...(paramsSchema && { paramsSchema: paramsSchema as JsonObject }),
  };
}

function checkParamsSchema(schema: JsonObject): void {
  const list = new ErrorList();
  checkJsonSchema(schema, ['paramsSchema'], 'the schema of the params', list);
  const errors = list.list();
  const [first] = errors;
  if (first) throw new ApiProblem('INVALID_REQUEST', `${first.path}: ${first.message}`, { errors });
}
