import type { CompiledPipeline } from '#domain/graph.ts';
import type { PipelineHead } from '#domain/pipeline-head.ts';
import { DamagedPipelineError } from '#domain/pipeline-head-codec.ts';
import type { PassDeps } from './deps.ts';
import { loadPipeline } from './pipelines.ts';

/** A head and its newest revision, as they were read, and when (ms since the epoch). */
export interface PipelineReading {
  readonly head: PipelineHead;
  readonly pipeline: CompiledPipeline;
  readonly readAt: number;
}

/**
 * Reads a pipeline; nothing where there is none.
 * @throws DamagedPipelineError, and whatever the store throws
 */
export async function readPipeline(
  deps: Pick<PassDeps, 'pipelines' | 'clock'>,
  name: string,
): Promise<PipelineReading | undefined> {
  const readAt = deps.clock.now();
  const head = await deps.pipelines.readHead(name);
  if (!head) return undefined;
  const pipeline = await loadPipeline(deps.pipelines, name, head.revision);
  if (!pipeline) throw new DamagedPipelineError(name, `its revision ${head.revision} cannot be found`);
  return { head, pipeline, readAt };
}
