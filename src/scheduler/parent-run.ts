/** What a child run has to do with the attempt, in its parent run, whose execution it is. */
import { isFlightOf } from '#domain/draft.ts';
import { toExecutionName } from '#domain/execution-name.ts';
import type { UserCommand } from '#domain/facts.ts';
import { type Flight, isRunOver, isUnderWay, type ParentAttempt, type RunRecord } from '#domain/run.ts';
import { DamagedRunError, NewerRunError } from '#domain/run-codec.ts';
import type { PassDeps } from './deps.ts';
import { lookAtRun } from './look-at-run.ts';

/** The order to stop that a parent run gives its child. */
export const STOPPED_BY_PARENT: UserCommand = { kind: 'stop', by: 'its parent' };

/**
 * Whether the parent's attempt still wants this run: asked before its first node is decided. A child that was
 * made after its parent had given the attempt up, however late, then ends before it begins.
 */
export async function isStillWanted(deps: PassDeps, run: RunRecord): Promise<boolean> {
  const { parent } = run;
  if (!parent || run.state !== 'QUEUED') return true;
  const flight = await attemptOf(deps, parent);
  return flight !== undefined && !flight.ending;
}

/** Whether the parent's attempt has not been decided yet: it still looks for its child. */
export async function awaits(deps: Pick<PassDeps, 'runs'>, { parent }: RunRecord): Promise<boolean> {
  return parent !== undefined && (await attemptOf(deps, parent)) !== undefined;
}

async function attemptOf(deps: Pick<PassDeps, 'runs'>, parent: ParentAttempt): Promise<Flight | undefined> {
  const above = await lookAtRun(deps, parent.run);
  if (above instanceof NewerRunError) throw above;
  if (above instanceof DamagedRunError || above?.nonce !== parent.nonce) return undefined;
  return above.flights.find((flight) => isFlightOf(flight, parent) && isUnderWay(flight));
}

/** Rings the parent of a run that is over, so that it looks at once. */
export async function ringParent(deps: PassDeps, { parent, state }: RunRecord): Promise<void> {
  if (parent && isRunOver(state)) await deps.inbox.ringAbout(parent.run, toExecutionName(deps.installation, parent));
}
