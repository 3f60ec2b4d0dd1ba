import type { CompiledPipeline } from '#domain/graph.ts';
import type { RunRecord } from '#domain/run.ts';

const TICK_MS = 60_000;

/** A run as `startRun` makes it, with ids that are always the same. */
export function newRun(pipeline: CompiledPipeline, now: number): RunRecord {
  return {
    schemaVersion: 1,
    id: 'a'.repeat(26),
    pipeline: pipeline.name,
    revision: pipeline.revision,
    nonce: 'bbbbbbbb',
    secret: 'secret',
    rev: 1,
    state: 'QUEUED',
    reason: 'Starting',
    since: now,
    createdAt: now,
    trigger: { type: 'api' },
    tags: [],
    inputHash: 'hash',
    nodes: 'p'.repeat(pipeline.nodes.length),
    machines: [],
    flights: [],
    decisions: [],
    announced: { rev: 0, state: 'QUEUED' },
    dueAt: (Math.floor(now / TICK_MS) + 1) * TICK_MS,
  };
}
