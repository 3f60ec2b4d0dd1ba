import type { DueThing } from '#ports/index.ts';
import type { PassDeps } from './deps.ts';
import { workLimit } from './limit-sweep.ts';
import { runPipelinePass } from './pipeline-pass.ts';
import { refreshConditions } from './refresh-conditions.ts';

/**
 * A pass over something that is no run.
 * @throws whatever a port throws: the message comes again
 */
export async function workThing(deps: PassDeps, { kind, id }: DueThing): Promise<void> {
  if (kind === 'limit') await workLimit(deps, id, (engineLimit) => refreshConditions(deps, engineLimit));
  else if (kind === 'pipeline') await runPipelinePass(deps, id);
}
