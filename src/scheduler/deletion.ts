/**
 * The deletion of a run that is over. The order to delete it was committed, and nobody sees the run any more; its line in
 * the list goes, then everything keyed by its nonce, a page at a time, and the aggregate last. So whatever dies in between
 * leaves it due, and a run of the same id can be made only once nothing of this one is left.
 */
import { CLOCK_SKEW_MS } from '#domain/looks.ts';
import { isRunOver, owesAnnouncement, type RunRecord, type RunTrigger } from '#domain/run.ts';
import { owesLimits } from '#domain/run-limits.ts';
import type { PassDeps } from './deps.ts';
import { awaits, ringParent } from './parent-run.ts';

/** Items that go at a time. */
const PAGE = 500;
/** What started these was no call of a user: others may have decided the same start, and slept since. */
const BY_ITSELF: ReadonlySet<RunTrigger['type']> = new Set(['schedule', 'event', 'backfill', 'pipeline']);

/**
 * Whether nothing but its deletion is left to do for a run: its end was told, and every slot that it held was given back
 * to its limit.
 */
export function isLeaving(run: RunRecord): boolean {
  if (!run.deleted || !isRunOver(run.state)) return false;
  return !owesAnnouncement(run, false) && !owesLimits(run.limits);
}

/**
 * Whether somebody may be about to make this run who decided that when it was made: it is asked for under the same id,
 * and would be played a second time. A start is carried out within the time of a pass, and so is what it calls.
 */
function mayBeMadeAgain({ clock, options }: PassDeps, { trigger, createdAt }: RunRecord): boolean {
  return BY_ITSELF.has(trigger.type) && clock.now() < createdAt + 2 * (options.passMs + CLOCK_SKEW_MS);
}

/**
 * Deletes a run as far as this pass can, and rings for the rest. A child whose end its parent has not taken note of
 * stays until then: the parent would take it for lost, and start it again. What may be made again stays until a tick
 * finds that it no longer may.
 */
export async function carryOutDeletion(deps: PassDeps, run: RunRecord): Promise<void> {
  if (await awaits(deps, run)) {
    await ringParent(deps, run);
    return;
  }
  if (mayBeMadeAgain(deps, run)) return;
  const until = deps.clock.now() + deps.options.passMs / 3;
  await deps.runs.removeHeader(run);
  while (!(await deps.runs.removeParts(run, PAGE))) {
    if (deps.clock.now() < until) continue;
    await deps.inbox.ring(run.id);
    return;
  }
  await deps.runs.removeRun(run.id, run.rev);
}
