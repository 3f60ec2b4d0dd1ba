import type { PassDeps } from './deps.ts';
import { type PassOutcome, runPass } from './pass.ts';

/**
 * Stops a run: the order is a fact of a pass, so it is either committed or the run was over before (C41). Idempotent.
 * @param by who asked for it
 */
export function stopRun(deps: PassDeps, runId: string, by?: string): Promise<PassOutcome> {
  return runPass(deps, runId, { stop: by === undefined ? {} : { by } });
}
