import { dueNow } from '#domain/engine-changes.ts';
import type { CompiledPipeline } from '#domain/graph.ts';
import { type LimitRecord, limitName, newLimit } from '#domain/limit.ts';
import type { PipelineHead } from '#domain/pipeline-head.ts';
import type { PassDeps } from './deps.ts';
import { LimitBusyError } from './limit-pass.ts';

/** Changes of others that are stepped over before this gives up. */
const MAX_TRIES = 10;

/**
 * Makes the limit of a pipeline's active runs what its head and its newest revision say: the slots, and whether runs
 * in line are held back. Whoever does so from an old head loses the commit of that, and comes again with the new one.
 * @throws LimitBusyError, and whatever a port throws: the head stays due
 */
export async function bringLimitUpToDate(
  deps: Pick<PassDeps, 'limits' | 'inbox' | 'clock'>,
  { head, pipeline }: { readonly head: PipelineHead; readonly pipeline: CompiledPipeline },
): Promise<void> {
  const id = limitName('pipeline', head.name);
  const slots = pipeline.onOverlap === 'allow' ? undefined : pipeline.maxActiveRuns;
  const pausedAt = (head.deleting ?? head.paused)?.at;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const before = await deps.limits.readLimit(id);
    if (!before && slots === undefined) return;
    if (before?.slots === slots && before?.pausedAt === pausedAt) return;
    const next = ruledLimit(before ?? newLimit(id, undefined), slots, pausedAt, deps.clock.now());
    if ((await deps.limits.commitLimit(next, next.rev - 1)) === 'conflict') continue;
    await deps.inbox.ringThing({ kind: 'limit', id });
    return;
  }
  throw new LimitBusyError(id);
}

function ruledLimit(
  { slots: _slots, pausedAt: _pausedAt, ...rest }: LimitRecord,
  slots: number | undefined,
  pausedAt: number | undefined,
  now: number,
): LimitRecord {
  return {
    ...dueNow(rest, now),
    rev: rest.rev + 1,
    ...(slots !== undefined && { slots }),
    ...(pausedAt !== undefined && { pausedAt }),
  };
}
