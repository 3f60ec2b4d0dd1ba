import { floorToTick } from '#domain/due.ts';
import type { PipelineHead } from '#domain/pipeline-head.ts';
import { findActiveRuns, findRecentRuns } from './active-runs.ts';
import type { PassDeps } from './deps.ts';
import { runPipelinePass } from './pipeline-pass.ts';

/** Changes of others that one order steps over, before it gives up. */
const MAX_TRIES = 10;

/** Who wants a pipeline deleted, and whether its active runs are stopped and removed, too. */
export interface PipelineDeletion {
  readonly isForced: boolean;
  readonly by?: string | undefined;
}

/**
 * What became of it. `active`: nothing was changed, as so many runs at least are active. `deleted`: nothing starts any
 * more; what is active goes first.
 */
export type PipelineDeletionOutcome =
  | { readonly kind: 'deleted' | 'missing' | 'busy' }
  | { readonly kind: 'active'; readonly count: number };

/**
 * Deletes a pipeline. The order is committed, and then carried out by passes. A run that was started at the same moment
 * and is found later keeps an order that is not forced waiting, and is left alone; a forced one looks for such runs for
 * some ticks before the pipeline goes. A run that nobody passed over until after that goes with its pipeline.
 * @throws whatever a port throws; the order may then be repeated
 */
export async function deletePipeline(
  deps: PassDeps,
  name: string,
  deletion: PipelineDeletion,
): Promise<PipelineDeletionOutcome> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const head = await deps.pipelines.readHead(name);
    if (!head) return { kind: 'missing' };
    const next = await ordered(deps, head, deletion);
    if (typeof next === 'number') return { kind: 'active', count: next };
    if (next !== head && (await deps.pipelines.commitHead(next, head.version)) === 'conflict') continue;
    await runPipelinePass(deps, name, 'millrace.api');
    return { kind: 'deleted' };
  }
  return { kind: 'busy' };
}

/** The head that has the order, or how many runs stand against it. */
async function ordered(
  deps: PassDeps,
  head: PipelineHead,
  { isForced, by }: PipelineDeletion,
): Promise<PipelineHead | number> {
  const { deleting } = head;
  if (deleting && (deleting.isForced || !isForced)) return head;
  if (!isForced) {
    const until = deps.clock.now() + deps.options.passMs / 3;
    const { ids } = await findActiveRuns(deps, head.name, { until });
    const active = new Set([...ids, ...(await findRecentRuns(deps, head.name))]);
    if (active.size > 0) return active.size;
  }
  const now = deps.clock.now();
  const { paused: _paused, cursors: _cursors, rejected: _rejected, backfills: _backfills, ...rest } = head;
  return {
    ...rest,
    version: head.version + 1,
    updatedAt: now,
    deleting: { at: now, ...(by !== undefined && { by }), ...(isForced && { isForced }) },
    tells: true,
    dueAt: floorToTick(now, deps.options),
  };
}
