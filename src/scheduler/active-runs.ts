/** The runs of a pipeline that are not over, found in the list of its runs: a walk that may end early and go on later. */
import type { RunStateName } from '#domain/run.ts';
import type { RunPage } from '#ports/index.ts';
import type { PassDeps } from './deps.ts';

/** States of runs that are not over. */
const ACTIVE_STATES: readonly RunStateName[] = ['QUEUED', 'RUNNING', 'PAUSED', 'STOPPING'];
const PAGE = 200;
/** How long a run may be missing in the list of its pipeline, which lags (ms). */
const LAG_MS = 60_000;

/** Active runs, and where to go on where the list has not been walked to its end. */
export interface ActiveRuns {
  readonly ids: readonly string[];
  readonly last?: NonNullable<RunPage['last']>;
}

/**
 * Walks along the runs of a pipeline, the newest first.
 * @param until when to end early (ms since the epoch)
 */
export async function findActiveRuns(
  deps: Pick<PassDeps, 'runs' | 'clock'>,
  pipeline: string,
  walk: { readonly after?: RunPage['last'] | undefined; readonly until: number },
): Promise<ActiveRuns> {
  const ids: string[] = [];
  let { after } = walk;
  for (;;) {
    const query = { pipeline, states: ACTIVE_STATES, limit: PAGE, ...(after && { after }) };
    const { items, last } = await deps.runs.listRuns(query);
    ids.push(...items.map(({ id }) => id));
    if (!last) return { ids };
    if (deps.clock.now() >= walk.until) return { ids, last };
    after = last;
  }
}

/** Active runs that were made a moment ago, by a strong read: the list of the pipeline may not have them yet. */
export async function findRecentRuns(
  deps: Pick<PassDeps, 'runs' | 'clock'>,
  pipeline: string,
): Promise<readonly string[]> {
  const ids: string[] = [];
  const query = { states: ACTIVE_STATES, from: deps.clock.now() - LAG_MS, limit: PAGE, isStrict: true };
  let after: RunPage['last'];
  do {
    const page = await deps.runs.listRuns({ ...query, ...(after && { after }) });
    ids.push(...page.items.filter((header) => header.pipeline === pipeline).map(({ id }) => id));
    after = page.last;
  } while (after);
  return ids;
}
