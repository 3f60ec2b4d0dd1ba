/**
 * A run that waits for its turn behind runs that wait for it: those above it, which cannot end before it has (C107).
 * Asked when its row stands beside the limit, so that of several runs which wait for each other's runs the last one sees
 * them all.
 */
import { MAX_RUN_DEPTH } from '#domain/built-in-engines.ts';
import type { LimitRecord } from '#domain/limit.ts';
import type { RunRecord } from '#domain/run.ts';
import type { PassDeps } from './deps.ts';
import { lookAtRun } from './look-at-run.ts';

/** Waiting runs that are looked at; what waits behind more of them waits on. */
const MAX_ROWS = 50;

/** Whether none of the runs that hold the slots of a limit can end as long as this one waits for a slot. */
export async function isSelfDeadlocked(
  deps: Pick<PassDeps, 'runs' | 'limits'>,
  run: RunRecord,
  limit: LimitRecord,
): Promise<boolean> {
  if (!run.parent) return false;
  const holders = limit.holders.filter(({ granted, returned }) => granted > returned).map(({ run: id }) => id);
  const stuck = new Set(await runsAbove(deps, run));
  // Where none of those above it is in its way, somebody else is, who goes on without it.
  if (!holders.some((id) => stuck.has(id))) return false;
  if (holders.some((id) => !stuck.has(id))) await addWaitingToo(deps, limit.name, stuck);
  return holders.every((id) => stuck.has(id));
}

/** Adds the runs above all that wait for the same limit. */
async function addWaitingToo(
  deps: Pick<PassDeps, 'runs' | 'limits'>,
  limit: string,
  stuck: Set<string>,
): Promise<void> {
  for (const row of await deps.limits.listWaiting(limit, MAX_ROWS)) {
    const waiting = await readable(deps, row.run);
    if (waiting?.nonce !== row.nonce || waiting.state !== 'QUEUED') continue;
    for (const id of await runsAbove(deps, waiting)) stuck.add(id);
  }
}

/** The ids of the runs above a run, the nearest first. */
async function runsAbove(deps: Pick<PassDeps, 'runs'>, run: RunRecord): Promise<string[]> {
  const above: string[] = [];
  let { parent } = run;
  while (parent && above.length < MAX_RUN_DEPTH) {
    const next: RunRecord | undefined = await readable(deps, parent.run);
    if (next?.nonce !== parent.nonce) break;
    above.push(next.id);
    parent = next.parent;
  }
  return above;
}

/** A run that cannot be read tells nothing, and is in nobody's way. */
async function readable(deps: Pick<PassDeps, 'runs'>, id: string): Promise<RunRecord | undefined> {
  const run = await lookAtRun(deps, id);
  return run instanceof Error ? undefined : run;
}
