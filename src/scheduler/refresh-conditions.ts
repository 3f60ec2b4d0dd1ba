import pMap from 'p-map';
import { enginesOf } from '#domain/conditions.ts';
import { parseLimitName } from '#domain/limit.ts';
import type { PipelineHead } from '#domain/pipeline-head.ts';
import { DamagedPipelineError, NewerPipelineError } from '#domain/pipeline-head-codec.ts';
import type { PassDeps } from './deps.ts';
import { runPipelinePass } from './pipeline-pass.ts';
import { loadPipeline } from './pipelines.ts';

const PARALLEL_PIPELINES = 10;
const PIPELINES_PAGE = 200;

/**
 * Brings the conditions of all pipelines up to date that use an engine. Each of them is read after the engine has
 * changed, so a change that comes in between brings a round of its own.
 * @param engineLimit name of the engine's limit
 * @throws whatever a port throws: the limit stays due, and the round is made again
 */
export async function refreshConditions(deps: PassDeps, engineLimit: string): Promise<void> {
  const { name: engine } = parseLimitName(engineLimit);
  let after: string | undefined;
  do {
    const { items, last } = await deps.pipelines.listUses(engine, PIPELINES_PAGE, after);
    await pMap(items, (pipeline) => refresh(deps, engine, pipeline), { concurrency: PARALLEL_PIPELINES });
    after = last;
  } while (after !== undefined);
}

/** A row that its pipeline does not stand for any more is taken away, so that rows do not add up. */
async function refresh(deps: PassDeps, engine: string, name: string): Promise<void> {
  const head = await runReadable(deps, name);
  const pipeline = head && (await loadPipeline(deps.pipelines, name, head.revision));
  if (pipeline && !enginesOf(pipeline, deps.engines).includes(engine)) {
    await deps.pipelines.removeUse(engine, name, head.version);
  }
}

/** A pipeline that cannot be read has no condition, and keeps no other from its own. */
async function runReadable(deps: PassDeps, name: string): Promise<PipelineHead | undefined> {
  try {
    return await runPipelinePass(deps, name);
  } catch (error) {
    if (error instanceof DamagedPipelineError || error instanceof NewerPipelineError) return undefined;
    throw error;
  }
}
