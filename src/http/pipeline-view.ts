/** Pipelines as the API shows them. */
import { type ReadyCondition, unknownCondition } from '#domain/conditions.ts';
import type { CompiledPipeline } from '#domain/graph.ts';
import { toIsoTime } from '#domain/iso-time.ts';
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

/** A pipeline with one of its revisions. */
export function viewPipeline(head: PipelineHead, pipeline: CompiledPipeline) {
  return { ...viewHead(head), revision: pipeline.revision, definition: pipeline.definition };
}
