import pMap from 'p-map';
import { type EngineStanding, enginesOf } from '#domain/conditions.ts';
import type { CompiledPipeline } from '#domain/graph.ts';
import { engineStatus, limitName } from '#domain/limit.ts';
import type { PassDeps } from './deps.ts';

const PARALLEL_ENGINES = 10;

/** How the engines stand that a pipeline names and that are not built in, by strong reads. */
export async function readStandings(
  deps: Pick<PassDeps, 'limits' | 'engines' | 'clock'>,
  pipeline: CompiledPipeline,
): Promise<Map<string, EngineStanding>> {
  const names = enginesOf(pipeline, deps.engines);
  const read = async (name: string) => [name, await readStanding(deps, name)] as const;
  return new Map(await pMap(names, read, { concurrency: PARALLEL_ENGINES }));
}

async function readStanding(deps: Pick<PassDeps, 'limits' | 'clock'>, name: string): Promise<EngineStanding> {
  const limit = await deps.limits.readLimit(limitName('engine', name));
  if (!limit?.engine) return { status: 'Missing', message: 'There is no such engine.' };
  const { status, message } = engineStatus(limit.engine, deps.clock.now());
  return { status, message };
}
