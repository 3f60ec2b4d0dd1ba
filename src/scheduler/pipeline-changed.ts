import { toIsoTime } from '#domain/iso-time.ts';
import type { Json } from '#domain/json.ts';
import type { PipelineHead } from '#domain/pipeline-head.ts';
import type { BusEvent } from '#ports/index.ts';

/** The event that says how a pipeline stands after a commit of its head. */
export function pipelineChanged(head: PipelineHead, source: BusEvent['source']): BusEvent {
  const { name, createdAt, revision, version, ready } = head;
  const detail: Json = {
    schemaVersion: 1,
    hops: 1,
    pipeline: name,
    createdAt: toIsoTime(createdAt),
    revision,
    version,
    paused: head.paused !== undefined,
    conditions: ready ? [{ ...ready, lastTransitionTime: toIsoTime(ready.lastTransitionTime) }] : [],
    ...(head.deleting && { deleted: true }),
  };
  return { source, detailType: 'PipelineChanged', detail };
}
