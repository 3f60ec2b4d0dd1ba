/**
 * The deletion of a pipeline. Its order was committed, and nothing starts any more; if it is forced, its active runs are
 * stopped and removed. When none is left, the rows beside its engines go, and the head goes last (H3).
 */
import pMap from 'p-map';
import type { PipelineHead } from '#domain/pipeline-head.ts';
import { findActiveRuns } from './active-runs.ts';
import { deleteRun } from './ask-run.ts';
import type { PassDeps } from './deps.ts';
import { bringLimitUpToDate } from './pipeline-limit.ts';

const PARALLEL_RUNS = 5;
/**
 * Ticks, after the time of a pass, after which a run is in the list that was made by a start which had read the head before
 * the order: whoever made it may have died right after, and then its first pass, which a tick brings, writes its line. One
 * whose line comes later still finds out itself that its pipeline has gone.
 */
const LATE_TICKS = 2;

/** What a look at a pipeline that is being deleted came to. */
export interface DeletionOutcome {
  readonly head: PipelineHead;
  /** Nothing of it is left but the head. */
  readonly isOver: boolean;
  /** Its runs have not been looked through to the end. */
  readonly hasMore: boolean;
}

/**
 * Carries the deletion on.
 * @throws whatever a port throws: the head stays due
 */
export async function carryOnDeletion(deps: PassDeps, head: PipelineHead): Promise<DeletionOutcome> {
  const { deleting } = head;
  if (!deleting) return { head, isOver: false, hasMore: false };
  const { sweep, ...order } = deleting;
  const until = deps.clock.now() + deps.options.passMs / 3;
  const { ids, last } = await findActiveRuns(deps, head.name, { after: sweep?.after, until });
  if (order.isForced) await removeRuns(deps, ids, order.by);
  const found = sweep?.found || ids.length > 0;
  if (last) {
    const next = { ...head, deleting: { ...order, sweep: { after: last, ...(found && { found: true as const }) } } };
    return { head: next, isOver: false, hasMore: true };
  }
  const next = { ...head, deleting: order };
  const lateMs = deps.options.passMs + LATE_TICKS * deps.options.tickMs;
  const settlesAt = order.isForced ? order.at + lateMs : order.at;
  if (found || deps.clock.now() < settlesAt) return { head: next, isOver: false, hasMore: false };
  await bringLimitUpToDate(deps, head.name, {});
  for (const engine of head.engines ?? []) await deps.pipelines.removeUse(engine, head.name, head.version);
  return { head: next, isOver: true, hasMore: false };
}

/** A run that cannot be deleted now is asked again by the next look. */
async function removeRuns(deps: PassDeps, ids: readonly string[], by: string | undefined): Promise<void> {
  const order = { isForced: true, ...(by !== undefined && { by }) };
  await pMap(ids, (id) => deleteRun(deps, id, order), { concurrency: PARALLEL_RUNS });
}
