import { dueNow } from '#domain/engine-changes.ts';
import { type LimitRecord, limitName, newLimit } from '#domain/limit.ts';
import type { PassDeps } from './deps.ts';
import { ruleLimit } from './rule-limit.ts';

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
  const ruled = await ruleLimit(deps, id, (before) =>
    before?.slots === slots ? undefined : dueNow({ ...(before ?? newLimit(id, slots)), slots }, deps.clock.now()),
  );
  return ruled.kind === 'busy' ? ruled : { kind: 'put', limit: ruled.limit as LimitRecord };
}
