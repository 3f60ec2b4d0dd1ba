import { dueNow } from '#domain/engine-changes.ts';
import type { CompiledPipeline } from '#domain/graph.ts';
import { type LimitRecord, limitName, newLimit } from '#domain/limit.ts';
import type { PipelineHead } from '#domain/pipeline-head.ts';
import type { PassDeps } from './deps.ts';
import { LimitBusyError } from './limit-pass.ts';

/** Changes of others that are stepped over before this gives up. */
const MAX_TRIES = 10;

/** What a pipeline says of the limit of its active runs. */
export interface ActiveRunsRule {
  readonly slots?: number | undefined;
  /** Since when runs in line are held back (ms since the epoch). */
  readonly pausedAt?: number | undefined;
}

/** What a head and its newest revision say of the limit. */
export function activeRunsRule({ paused, deleting }: PipelineHead, pipeline: CompiledPipeline): ActiveRunsRule {
  return {
    slots: pipeline.onOverlap === 'allow' ? undefined : pipeline.maxActiveRuns,
    pausedAt: deleting?.isForced ? deleting.at : paused?.at,
  };
}

/**
 * Makes the limit of a pipeline's active runs what the pipeline says. Whoever does so from an old head loses the commit
 * of that, and comes again with the new one.
 * @throws LimitBusyError, and whatever a port throws: the head stays due
 */
export async function bringLimitUpToDate(
  deps: Pick<PassDeps, 'limits' | 'inbox' | 'clock'>,
  name: string,
  { slots, pausedAt }: ActiveRunsRule,
): Promise<void> {
  const id = limitName('pipeline', name);
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
