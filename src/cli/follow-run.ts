import { setTimeout as sleep } from 'node:timers/promises';
import pMap from 'p-map';
import type { ApiClient } from './api-client.ts';
import type { HistoryShape, MapShape, RunShape } from './api-shapes.ts';
import { readAttempts, readHistory, readNode, readRun } from './millrace-api.ts';
import { isRunEnded } from './state-style.ts';

/** How a run is followed. */
export interface FollowOptions {
  /** Time between two looks at the run, in milliseconds. */
  readonly everyMs: number;
  /** Whether the history is read as well; only the counts are known without it. */
  readonly history: boolean;
  /** Ids of the nodes that are maps: how far they are is looked up while they are under way. */
  readonly maps: ReadonlySet<string>;
  /** Told at each look of the run, of what has happened since the last one, and of maps under way. */
  onLook(run: RunShape, entries: readonly HistoryShape[], maps: ReadonlyMap<string, MapShape>): void;
  /** Ends the following before the run has ended. */
  readonly signal?: AbortSignal;
}

/** Looks at a run until it has ended; gives it as it came and as it is read. */
export async function followRun(api: ApiClient, runId: string, options: FollowOptions) {
  let seenRev = 0;
  let seenEntries = 0;
  const underWay = new Set<string>();
  for (;;) {
    const { answer, run } = await readRun(api, runId);
    let news: HistoryShape[] = [];
    let maps: ReadonlyMap<string, MapShape> = new Map();
    if (options.history && run.rev !== seenRev) {
      const fresh = (await readHistory(api, runId)).slice(seenEntries);
      seenEntries += fresh.length;
      news = await withErrors(api, runId, fresh);
      noteMaps(underWay, options.maps, fresh);
      maps = await readMaps(api, runId, underWay);
    }
    seenRev = run.rev;
    options.onLook(run, news, maps);
    if (isRunEnded(run.state)) return withOutput(api, answer.value, run);
    if (options.signal?.aborted) return { value: answer.value, run };
    await sleep(options.everyMs, undefined, options.signal && { signal: options.signal }).catch(() => {});
  }
}

/** An output that is too large for the run's own answer is read from where it is. */
async function withOutput(api: ApiClient, value: unknown, run: RunShape) {
  if (run.outputRef === undefined) return { value, run };
  const { value: output } = await api.send({ path: run.outputRef });
  return { value: { ...(value as object), output }, run: { ...run, output } };
}

function noteMaps(underWay: Set<string>, maps: ReadonlySet<string>, entries: readonly HistoryShape[]): void {
  for (const { node, state } of entries) {
    if (node === undefined || !maps.has(node)) continue;
    if (state === 'RUNNING') underWay.add(node);
    else underWay.delete(node);
  }
}

/** Maps under way that are looked up at one look; of more of them it is not said how far they are. */
const MOST_MAPS = 10;

async function readMaps(api: ApiClient, runId: string, underWay: ReadonlySet<string>): Promise<Map<string, MapShape>> {
  const nodes = await pMap([...underWay].slice(0, MOST_MAPS), (id) => readNode(api, runId, id), { concurrency: 5 });
  return new Map(nodes.flatMap(({ id, map }) => (map ? [[id, map] as const] : [])));
}

/** Failures whose errors are looked up at one look; more of them are told without. */
const MOST_LOOKUPS = 10;

/** The history names an error only where the scheduler made it; what an execution said is with its attempt. */
async function withErrors(api: ApiClient, runId: string, entries: readonly HistoryShape[]): Promise<HistoryShape[]> {
  let lookups = 0;
  const told: HistoryShape[] = [];
  for (const entry of entries) {
    const { node, attempt, state } = entry;
    const isFailure = state === 'RETRY_WAIT' || state === 'FAILED' || state === 'TIMED_OUT';
    if (!isFailure || entry.error || node === undefined || attempt === undefined || ++lookups > MOST_LOOKUPS) {
      told.push(entry);
      continue;
    }
    const error = (await readAttempts(api, runId, node)).find((one) => one.attempt === attempt)?.error;
    told.push({ ...entry, ...(error && { error }) });
  }
  return told;
}
