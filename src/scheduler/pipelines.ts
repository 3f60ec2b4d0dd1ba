import { type CompiledPipeline, compilePipeline } from '#domain/graph.ts';
import type { PipelineStore } from '#ports/index.ts';

/** Revisions never change, so each process keeps the ones that it used last. */
const KEPT = 50;
const caches = new WeakMap<PipelineStore, Map<string, CompiledPipeline>>();

/**
 * Loads and compiles a revision, from the process's memory where it is there.
 * @throws whatever the store throws; nothing for a revision that does not exist
 */
export async function loadPipeline(
  pipelines: PipelineStore,
  name: string,
  revision: string,
): Promise<CompiledPipeline | undefined> {
  let cache = caches.get(pipelines);
  if (!cache) {
    cache = new Map();
    caches.set(pipelines, cache);
  }
  const key = `${name}/${revision}`;
  const known = cache.get(key);
  if (known) {
    cache.delete(key);
    cache.set(key, known);
    return known;
  }
  const definition = await pipelines.readDefinition(name, revision);
  if (!definition) return undefined;
  const compiled = compilePipeline(definition, revision);
  cache.set(key, compiled);
  if (cache.size > KEPT) cache.delete(cache.keys().next().value as string);
  return compiled;
}
