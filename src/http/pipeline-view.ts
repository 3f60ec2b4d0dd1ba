/** Pipelines as the API shows them. */
import type { Backfill } from '#domain/backfill.ts';
import { type ReadyCondition, unknownCondition } from '#domain/conditions.ts';
import type { CompiledPipeline } from '#domain/graph.ts';
import { toIsoTime } from '#domain/iso-time.ts';
import { nextInstants } from '#domain/pipeline-due.ts';
import type { PipelineHead } from '#domain/pipeline-head.ts';

/** A line of the list of pipelines. */
export function viewHead(head: PipelineHead) {
  const { paused } = head;
  return {
    name: head.name,
    revision: head.revision,
    paused: paused !== undefined,
    ...(paused && { pausedAt: toIsoTime(paused.at) }),
    ...(paused?.by !== undefined && { pausedBy: paused.by }),
    conditions: [viewCondition(head.ready ?? unknownCondition(head.revision, head.updatedAt))],
    createdAt: toIsoTime(head.createdAt),
    updatedAt: toIsoTime(head.updatedAt),
  };
}

function viewCondition(condition: ReadyCondition) {
  return { ...condition, lastTransitionTime: toIsoTime(condition.lastTransitionTime) };
}

/**
 * A pipeline with one of its revisions.
 * @param newest the present revision, whose schedule is in force
 */
export function viewPipeline(head: PipelineHead, pipeline: CompiledPipeline, newest: CompiledPipeline = pipeline) {
  const next = nextInstants(head, newest).map(({ entry, instant }) => ({
    entry: entry.id,
    instant: toIsoTime(instant),
  }));
  return {
    ...viewHead(head),
    revision: pipeline.revision,
    definition: pipeline.definition,
    ...(newest.schedule.length > 0 && { nextInstants: next }),
    ...(head.rejected && {
      rejectedStarts: head.rejected.map((one) => ({ ...one, instant: toIsoTime(one.instant) })),
    }),
    ...(head.backfills && { backfills: head.backfills.map(viewBackfill) }),
  };
}

/** A backfill under way. */
export function viewBackfill({ entries: _entries, ...backfill }: Backfill) {
  const { from, to, at } = backfill;
  return { ...backfill, from: toIsoTime(from), to: toIsoTime(to), at: toIsoTime(at) };
}
