import type { PassDeps } from './deps.ts';

/**
 * The tick: rings every run that is due. It runs no pass itself, so that one bad run costs a tick nothing, and it
 * reads only what is due, so that finished runs cost nothing either.
 * @returns how many runs were rung
 */
export async function runTick(deps: Pick<PassDeps, 'runs' | 'inbox' | 'clock'>): Promise<number> {
  let rung = 0;
  for await (const ids of deps.runs.dueRuns(deps.clock.now())) {
    await deps.inbox.ringAll(ids);
    rung += ids.length;
  }
  return rung;
}
