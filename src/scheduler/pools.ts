import { dueNow } from '#domain/engine-changes.ts';
import { type LimitRecord, limitName, newLimit } from '#domain/limit.ts';
import type { PassDeps } from './deps.ts';

/** Changes of others that one put steps over, before it gives up. */
const MAX_TRIES = 10;

/** What became of a put. `busy`: others kept changing the pool. */
export type PoolOutcome = { readonly kind: 'put'; readonly limit: LimitRecord } | { readonly kind: 'busy' };

/**
 * Makes a pool, or gives the one that is there another number of slots. Fewer slots stop nobody (C106). The commit
 * leaves the limit due, so that slots that came are granted whatever becomes of the ring.
 * @throws whatever a port throws; it may then be repeated
 */
export async function putPool(
  deps: Pick<PassDeps, 'limits' | 'inbox' | 'clock'>,
  name: string,
  slots: number,
): Promise<PoolOutcome> {
  const id = limitName('pool', name);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = await deps.limits.readLimit(id);
    if (before?.slots === slots) return { kind: 'put', limit: before };
    const rev = (before?.rev ?? 0) + 1;
    const next = { ...dueNow({ ...(before ?? newLimit(id, slots)), slots }, deps.clock.now()), rev };
    if ((await deps.limits.commitLimit(next, rev - 1)) === 'conflict') continue;
    await deps.inbox.ringThing({ kind: 'limit', id });
    return { kind: 'put', limit: next };
  }
  return { kind: 'busy' };
}
