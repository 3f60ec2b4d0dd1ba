/**
 * What an engine's resource does: CloudFormation may repeat each request, and roll back what it cannot finish.
 *
 * The resource's physical id is `NAME/GENERATION`; generation 0 says that nothing was made. A label of the engine names
 * the resource that registered it, so that a repeated Create finds what an earlier try made and could not tell.
 */
import type { EngineState } from '#domain/limit.ts';
import { checkEngineName, checkRegistration } from '#http/engine-registration.ts';
import { MAX_LABELS } from '#http/engine-schemas.ts';
import { ApiProblem } from '#http/problem.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { type EngineGuard, type EngineOutcome, putEngine, removeEngine } from '#scheduler/engines.ts';
import { givenName, ownerOf, type ResourceRequest, readProperties } from './resource-request.ts';

/** What the registrar works with. */
export type RegistrarDeps = Pick<
  PassDeps,
  'limits' | 'bus' | 'inbox' | 'clock' | 'executions' | 'engines' | 'installation'
>;

/** The label that names the resource of an engine. */
export const OWNER_LABEL = 'cloudformation';

/** The physical id to answer a failure with: that of the resource, or one that says that nothing was made. */
export function idOfFailedEngine(request: ResourceRequest): string {
  return request.PhysicalResourceId ?? toPhysicalId((givenName(request) ?? 'unnamed').slice(0, 128), 0);
}

/**
 * Does what is asked; gives the physical id of the resource.
 * @throws ApiProblem for what the API would refuse too, and INVALID_REQUEST for an engine that somebody else registered
 */
export async function carryOutEngine(deps: RegistrarDeps, request: ResourceRequest): Promise<string> {
  return request.RequestType === 'Delete' ? unregister(deps, request) : register(deps, request);
}

async function register(deps: RegistrarDeps, request: ResourceRequest): Promise<string> {
  const owner = ownerOf(request);
  const { name, registration } = readProperties(request);
  checkEngineName(deps, name);
  const labels = withOwner(registration.labels ?? {}, owner);
  const wanted = await checkRegistration(deps, { ...registration, labels });
  const isOwn: EngineGuard = (engine) => engine === undefined || labelOf(engine) === owner;
  // The engine of an update may have been put over the API since: the stack has the last word again.
  const isNoStacks: EngineGuard = (engine) => isOwn(engine) || (engine !== undefined && labelOf(engine) === undefined);
  const outcome = await putEngine(deps, name, wanted, request.RequestType === 'Create' ? isOwn : isNoStacks);
  return toPhysicalId(name, engineOf(name, outcome).generation);
}

function engineOf(name: string, outcome: EngineOutcome): EngineState {
  if ('engine' in outcome) return outcome.engine;
  if (outcome.kind === 'busy') throw new ApiProblem('BUSY', 'Others keep changing this engine.');
  throw new ApiProblem(
    'INVALID_REQUEST',
    `The engine ${JSON.stringify(name)} is registered already, and not by this resource. ` +
      `Remove it first (DELETE /v1/engines/${name}), or give this one another name.`,
  );
}

/** Removes what this resource registered, and nothing else: what somebody else made of its name stays. */
async function unregister(deps: RegistrarDeps, request: ResourceRequest): Promise<string> {
  const owner = ownerOf(request);
  const known = fromPhysicalId(request.PhysicalResourceId);
  const name = known?.name ?? givenName(request);
  const isOwn: EngineGuard = (engine) => {
    const label = engine && labelOf(engine);
    // A Create that failed or was never heard of: only what bears its mark can be its work.
    if (!known?.generation) return label === owner;
    return engine?.generation === known.generation && (label === owner || label === undefined);
  };
  if (name !== undefined) {
    const { kind } = await removeEngine(deps, name, isOwn);
    if (kind === 'busy') throw new ApiProblem('BUSY', 'Others keep changing this engine.');
  }
  return idOfFailedEngine(request);
}

function withOwner(labels: Readonly<Record<string, string>>, owner: string): Record<string, string> {
  if (Object.hasOwn(labels, OWNER_LABEL)) {
    throw new ApiProblem('INVALID_REQUEST', `labels: ${JSON.stringify(OWNER_LABEL)} is set by the stack`);
  }
  if (Object.keys(labels).length >= MAX_LABELS) {
    throw new ApiProblem('INVALID_REQUEST', `labels: has at most ${MAX_LABELS} labels, one of which the stack sets`);
  }
  return { ...labels, [OWNER_LABEL]: owner };
}

function labelOf({ labels }: EngineState): string | undefined {
  return labels.find(([key]) => key === OWNER_LABEL)?.[1];
}

function toPhysicalId(name: string, generation: number): string {
  return `${name}/${generation}`;
}

/** CloudFormation makes up an id of its own for a resource that never answered; it holds no `/`. */
function fromPhysicalId(id = ''): { readonly name: string; readonly generation: number } | undefined {
  const [, name, generation] = /^([\w.-]+)\/(\d{1,9})$/.exec(id) ?? [];
  return name === undefined ? undefined : { name, generation: Number(generation) };
}
