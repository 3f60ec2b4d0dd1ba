import { dueNow } from '#domain/engine-changes.ts';
import type { CompiledPipeline } from '#domain/graph.ts';
import { type LimitRecord, limitName, newLimit } from '#domain/limit.ts';
import type { PipelineHead } from '#domain/pipeline-head.ts';
import type { PassDeps } from './deps.ts';
import { LimitBusyError } from './limit-pass.ts';
import { ruleLimit } from './rule-limit.ts';

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
  const ruled = await ruleLimit(deps, id, (before) => {
    if (!before && slots === undefined) return undefined;
    if (before?.slots === slots && before?.pausedAt === pausedAt) return undefined;
    return ruledLimit(before ?? newLimit(id, undefined), slots, pausedAt, deps.clock.now());
  });
  if (ruled.kind === 'busy') throw new LimitBusyError(id);
}

function ruledLimit(
  { slots: _slots, pausedAt: _pausedAt, ...rest }: LimitRecord,
  slots: number | undefined,
  pausedAt: number | undefined,
  now: number,
): LimitRecord {
  return {
    ...dueNow(rest, now),
    ...(slots !== undefined && { slots }),
    ...(pausedAt !== undefined && { pausedAt }),
  };
}
