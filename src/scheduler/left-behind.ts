/** Runs that the deletion of their pipeline did not find. */
import { DamagedPipelineError, NewerPipelineError } from '#domain/pipeline-head-codec.ts';
import { isRunOver, type RunRecord } from '#domain/run.ts';
import type { PassDeps } from './deps.ts';

/** What a pass makes of such a run: what the deletion would have. */
export const DELETED_WITH_PIPELINE = { kind: 'delete', isForced: true } as const;

/**
 * Whether a run was left behind by the deletion of its pipeline. Who made the run, or passed over it first, may have died
 * before its line was in the list, where a deletion looks for runs; the next look comes by a tick, and maybe after the
 * pipeline has gone. A line that is written in time is seen by the deletion, or is that of a run that may stay, so only a late
 * pass looks, over a run whose line may be missing. The order to delete, and a pipeline that was made anew meanwhile, come at
 * least as long after the run as a pass may take.
 * @param isOverdue the run owes an announcement that another pass left undone
 */
export async function isLeftBehind(deps: PassDeps, run: RunRecord, isOverdue: boolean): Promise<boolean> {
  const { passMs, tickMs } = deps.options;
  const mayHaveNoLine = (run.rev === 1 || isOverdue) && !isRunOver(run.state) && !run.deleted;
  if (!mayHaveNoLine || deps.clock.now() - run.createdAt <= tickMs) return false;
  try {
    const head = await deps.pipelines.readHead(run.pipeline);
    if (!head || head.createdAt > run.createdAt + passMs) return true;
    return head.deleting?.isForced === true;
  } catch (error) {
    if (error instanceof DamagedPipelineError || error instanceof NewerPipelineError) return false;
    throw error;
  }
}
