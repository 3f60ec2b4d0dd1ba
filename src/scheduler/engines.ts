/**
 * What is done to engines. Each change is one conditional commit of the engine's limit, which leaves the limit due;
 * then it is published and the limit is rung. What dies in between is found by the due time: the limit pass rings the
 * runs that wait and tells the pipelines.
 */
import {
  drainEngine as drained,
  type EngineChange,
  type EngineRegistration,
  isMachineDue,
  noteMachine,
  noteMissingMachine,
  registerEngine,
  reportEngine,
  unregisterEngine,
} from '#domain/engine-changes.ts';
import type { Json } from '#domain/json.ts';
import { type EngineState, engineStatus, type LimitRecord, limitName, parseLimitName } from '#domain/limit.ts';
import type { BusEvent } from '#ports/index.ts';
import type { PassDeps } from './deps.ts';

/** Changes of others that one command steps over, before it gives up. */
const MAX_TRIES = 10;

type EngineDeps = Pick<PassDeps, 'limits' | 'bus' | 'inbox' | 'clock'>;

/** What became of a command. `missing`: there is no such engine, or it is not to be changed. `busy`: others kept changing it. */
export type EngineOutcome =
  | { readonly kind: EngineChange['kind']; readonly limit: LimitRecord; readonly engine: EngineState }
  | { readonly kind: 'missing' | 'busy' };

/** Whether a command may change what it finds: the engine, or nothing where there is none. */
export type EngineGuard = (engine: EngineState | undefined) => boolean;

const anything: EngineGuard = () => true;

/**
 * Registers an engine, or changes the one that is there. Whoever repeats it does no harm.
 * @param mayChange looked at in the commit itself; what it does not let through is `missing`
 * @throws whatever a port throws; it may then be repeated
 */
export async function putEngine(
  deps: EngineDeps,
  name: string,
  registration: EngineRegistration,
  mayChange: EngineGuard = anything,
): Promise<EngineOutcome> {
  const changed = await change(deps, name, (before, now) =>
    mayChange(before?.engine) ? registerEngine(before, name, registration, now) : undefined,
  );
  return toOutcome(await repeated(deps, changed));
}

/** Orders an engine to take no new work; what runs on it finishes. */
export async function drainEngine(deps: EngineDeps, name: string): Promise<EngineOutcome> {
  return toOutcome(await repeated(deps, await changeEngine(deps, name, drained)));
}

/** Takes in that the owner of an engine reports. Most reports write nothing. */
export async function reportHeartbeat(deps: EngineDeps, name: string): Promise<EngineOutcome> {
  return toOutcome(await changeEngine(deps, name, reportEngine));
}

/**
 * Takes an engine away; what runs on it finishes, and what waits for it goes on waiting.
 * @param mayRemove looked at in the commit itself; what it does not let through is `missing`
 */
export async function removeEngine(
  deps: EngineDeps,
  name: string,
  mayRemove: EngineGuard = anything,
): Promise<{ readonly kind: 'removed' | 'missing' | 'busy' }> {
  const changed = await changeEngine(deps, name, (limit, engine, now) =>
    mayRemove(engine) ? { kind: 'changed', limit: unregisterEngine(limit, now) } : undefined,
  );
  return typeof changed === 'string' ? { kind: changed } : { kind: 'removed' };
}

/**
 * Makes an engine Unavailable whose state machine was found to be gone. Nothing happens where that is known, or where
 * the engine has another state machine by now.
 */
export async function reportMissingMachine(deps: EngineDeps, name: string, stateMachineArn: string): Promise<void> {
  await changeEngine(deps, name, (limit, _engine, now) => {
    const next = noteMissingMachine(limit, stateMachineArn, now);
    return next ? { kind: 'changed', limit: next } : { kind: 'unchanged', limit };
  });
}

/** Looks for a state machine that was gone, when it is time: its engine takes work again once it is back. */
export async function lookForMachine(
  deps: EngineDeps & Pick<PassDeps, 'executions'>,
  { name, engine: known }: LimitRecord,
): Promise<void> {
  if (!known || !isMachineDue(known, deps.clock.now())) return;
  const { kind } = await deps.executions.findMachine(known.stateMachineArn);
  await changeEngine(deps, parseLimitName(name).name, (limit, engine, now) => {
    const isSame = engine.stateMachineArn === known.stateMachineArn && isMachineDue(engine, now);
    if (!isSame) return { kind: 'unchanged', limit };
    const isThere = kind === 'there';
    return { kind: isThere ? 'changed' : 'reported', limit: noteMachine(limit, engine, isThere, now) };
  });
}

/** Says on the bus that an engine changed its status by itself: its owner fell silent. */
export async function announceEngine(deps: Pick<PassDeps, 'bus' | 'clock'>, limit: LimitRecord): Promise<void> {
  await deps.bus.publish([engineChanged(limit, deps.clock.now(), 'millrace.scheduler')]);
}

function engineChanged(limit: LimitRecord, now: number, source: BusEvent['source']): BusEvent {
  const { engine, rev } = limit;
  const { name } = parseLimitName(limit.name);
  const told = engine
    ? engineStatus(engine, now)
    : { status: 'Removed', reason: 'Removed', message: 'There is no such engine any more.' };
  const generation = engine?.generation ?? limit.generations ?? 0;
  const detail: Json = { schemaVersion: 1, hops: 1, engine: name, generation, rev, ...told };
  return { source, detailType: 'EngineChanged', detail };
}

type Changed = EngineChange | 'missing' | 'busy';

function changeEngine(
  deps: EngineDeps,
  name: string,
  rule: (limit: LimitRecord, engine: EngineState, now: number) => EngineChange | undefined,
): Promise<Changed> {
  return change(deps, name, (before, now) => (before?.engine ? rule(before, before.engine, now) : undefined));
}

/** Commits what a rule makes of an engine's limit, and tells the others. */
async function change(
  deps: EngineDeps,
  name: string,
  rule: (before: LimitRecord | undefined, now: number) => EngineChange | undefined,
): Promise<Changed> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = await deps.limits.readLimit(limitName('engine', name));
    const changed = rule(before, deps.clock.now());
    if (!changed) return 'missing';
    if (changed.kind === 'unchanged') return changed;
    const rev = (before?.rev ?? 0) + 1;
    const next = { ...changed.limit, rev };
    if ((await deps.limits.commitLimit(next, rev - 1)) === 'conflict') continue;
    if (changed.kind !== 'reported') await tell(deps, next);
    return { ...changed, limit: next };
  }
  return 'busy';
}

/** A change is published again by who repeats it, since whoever made it may have died before that. */
async function repeated(deps: EngineDeps, changed: Changed): Promise<Changed> {
  if (typeof changed === 'object' && (changed.kind === 'unchanged' || changed.kind === 'reported')) {
    await tell(deps, changed.limit);
  }
  return changed;
}

async function tell(deps: EngineDeps, limit: LimitRecord): Promise<void> {
  await deps.bus.publish([engineChanged(limit, deps.clock.now(), 'millrace.api')]);
  await deps.inbox.ringThing({ kind: 'limit', id: limit.name });
}

function toOutcome(changed: Changed): EngineOutcome {
  if (typeof changed === 'string') return { kind: changed };
  return { ...changed, engine: changed.limit.engine as EngineState };
}
