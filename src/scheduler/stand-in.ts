import { type CompiledPipeline, compilePipeline } from '#domain/graph.ts';
import { parseLimitName } from '#domain/limit.ts';
import type { RunRecord } from '#domain/run.ts';

/**
 * What stands for the revision of a run that can no longer be read: as many nodes, none of which is ever started, so that
 * the run can be ended and give back what it holds. Nobody knows any more which slots its attempts hold: each counts for
 * the first engine and the first pool that the run has slots of, until it is over.
 */
export function standInFor(run: RunRecord): CompiledPipeline {
  const limits = (run.limits ?? []).map(({ limit }) => parseLimitName(limit));
  const engine = limits.find(({ kind }) => kind === 'engine')?.name ?? 'lambda';
  const pool = limits.find(({ kind }) => kind === 'pool')?.name;
  const maps = new Set(run.maps?.map(({ node }) => node));
  const nodes = Array.from({ length: run.nodes.length }, (_, index) => ({
    id: `node ${index}`,
    engine,
    ...(pool !== undefined && { pool }),
    ...(maps.has(index) && { map: { items: [] } }),
  }));
  return compilePipeline({ name: run.pipeline, nodes }, run.revision);
}
