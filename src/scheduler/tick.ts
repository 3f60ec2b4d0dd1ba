import type { PassDeps } from './deps.ts';

/**
 * The tick: rings every run, limit and pipeline that is due. It runs no pass itself, so that one bad run costs a tick
 * nothing, and it reads only what is due, so that finished runs cost nothing either.
 * @returns how many were rung
 */
export async function runTick(deps: Pick<PassDeps, 'due' | 'inbox' | 'clock'>): Promise<number> {
  let rung = 0;
  for await (const things of deps.due.due(deps.clock.now())) {
    await deps.inbox.ringAll(things);
    rung += things.length;
  }
  return rung;
}
