import { isLeaving } from './deletion.ts';
import type { PassDeps } from './deps.ts';
import { lookAtRun } from './look-at-run.ts';
import { MissingListError } from './map-lists.ts';

/**
 * A pass may sleep for so long that its run is ended by others and deleted. What it then misses, it misses for that: it
 * reads again, and finds no run, or another one under the same id.
 * @throws the error where the run is still there
 */
export async function unlessDeleted(deps: Pick<PassDeps, 'runs'>, error: unknown): Promise<undefined> {
  if (!(error instanceof MissingListError)) throw error;
  const run = await lookAtRun(deps, error.run.id);
  if (run instanceof Error || (run?.nonce === error.run.nonce && !isLeaving(run))) throw error;
}
