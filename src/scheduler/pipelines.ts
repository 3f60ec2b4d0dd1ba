import { type CompiledPipeline, compilePipeline } from '#domain/graph.ts';
import type { PipelineStore } from '#ports/index.ts';
import { createKeptValues } from './kept-values.ts';

/** Revisions never change, so each process keeps so many of them. */
const kept = createKeptValues<PipelineStore, CompiledPipeline>(50);

/**
 * Loads and compiles a revision, from the process's memory where it is there.
 * @throws whatever the store throws; nothing for a revision that does not exist
 */
export async function loadPipeline(
  pipelines: PipelineStore,
  name: string,
  revision: string,
): Promise<CompiledPipeline | undefined> {
  const key = `${name}/${revision}`;
  const known = kept.get(pipelines, key);
  if (known) return known;
  const definition = await pipelines.readDefinition(name, revision);
  if (!definition) return undefined;
  const compiled = compilePipeline(definition, revision);
  kept.put(pipelines, key, compiled);
  return compiled;
}
