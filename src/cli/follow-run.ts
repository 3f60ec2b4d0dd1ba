import pMap from 'p-map';
import { type HistoryEntry, isRunOver, type MapProgress, type MillraceClient, type Run } from '#client/index.ts';

/** How a run is followed. */
export interface FollowOptions {
  /** Time between two looks at the run, in milliseconds. */
  readonly everyMs: number;
  /** Whether the history is read as well; only the counts are known without it. */
  readonly history: boolean;
  /** Ids of the nodes that are maps: how far they are is looked up while they are under way. */
  readonly maps: ReadonlySet<string>;
  /** Told at each look that finds a change, of the run, of what has happened since the last one, and of maps under way. */
  onLook(run: Run, entries: readonly HistoryEntry[], maps: ReadonlyMap<string, MapProgress>): void;
  /** Ends the following before the run is over. */
  readonly signal?: AbortSignal;
}

/** Looks at a run until it is over, or until nobody wants to know; gives it with its output, wherever that is. */
export async function followRun(client: MillraceClient, runId: string, options: FollowOptions): Promise<Run> {
  const { everyMs, history, maps, onLook, signal } = options;
  const underWay = new Set<string>();
  let last: Run | undefined;
  try {
    for await (const { run, entries } of client.runs.follow(runId, { everyMs, history, ...(signal && { signal }) })) {
      noteMaps(underWay, maps, entries);
      onLook(run, await withErrors(client, runId, entries), await readMaps(client, runId, underWay));
      last = run;
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
  const run = last ?? (await client.runs.get(runId));
  if (!isRunOver(run) || run.outputRef === undefined) return run;
  return { ...run, output: await client.runs.output(runId) };
}

function noteMaps(underWay: Set<string>, maps: ReadonlySet<string>, entries: readonly HistoryEntry[]): void {
  for (const { node, state } of entries) {
    if (node === undefined || !maps.has(node)) continue;
    if (state === 'RUNNING') underWay.add(node);
    else underWay.delete(node);
  }
}

/** Maps under way that are looked up at one look; of more of them it is not said how far they are. */
const MOST_MAPS = 10;

async function readMaps(
  client: MillraceClient,
  runId: string,
  underWay: ReadonlySet<string>,
): Promise<Map<string, MapProgress>> {
  const ids = [...underWay].slice(0, MOST_MAPS);
  const nodes = await pMap(ids, (id) => client.nodes.get(runId, id), { concurrency: 5 });
  return new Map(nodes.flatMap(({ id, map }) => (map ? [[id, map] as const] : [])));
}

/** Failures whose errors are looked up at one look; more of them are told without. */
const MOST_LOOKUPS = 10;

/** The history names an error only where the scheduler made it; what an execution said is with its attempt. */
async function withErrors(
  client: MillraceClient,
  runId: string,
  entries: readonly HistoryEntry[],
): Promise<HistoryEntry[]> {
  let lookups = 0;
  const told: HistoryEntry[] = [];
  for (const entry of entries) {
    const { node, attempt, state } = entry;
    const isFailure = state === 'RETRY_WAIT' || state === 'FAILED' || state === 'TIMED_OUT';
    if (!isFailure || entry.error || node === undefined || attempt === undefined || ++lookups > MOST_LOOKUPS) {
      told.push(entry);
      continue;
    }
    const attempts = await client.nodes.attempts(runId, node, { limit: 1000 }).all();
    const error = attempts.find((one) => one.attempt === attempt)?.error;
    told.push({ ...entry, ...(error && { error }) });
  }
  return told;
}
