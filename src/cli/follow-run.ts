import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from './api-client.ts';
import type { HistoryShape, RunShape } from './api-shapes.ts';
import { readAttempts, readHistory, readRun } from './millrace-api.ts';
import { isRunEnded } from './state-style.ts';

/** How a run is followed. */
export interface FollowOptions {
  /** Time between two looks at the run, in milliseconds. */
  readonly everyMs: number;
  /** Whether the history is read as well; only the counts are known without it. */
  readonly history: boolean;
  /** Told at each look of the run, and of what has happened since the last one. */
  onLook(run: RunShape, entries: readonly HistoryShape[]): void;
  /** Ends the following before the run has ended. */
  readonly signal?: AbortSignal;
}

/** Looks at a run until it has ended; gives it as it came and as it is read. */
export async function followRun(api: ApiClient, runId: string, options: FollowOptions) {
  let seenRev = 0;
  let seenEntries = 0;
  for (;;) {
    const { answer, run } = await readRun(api, runId);
    let news: HistoryShape[] = [];
    if (options.history && run.rev !== seenRev) {
      const fresh = (await readHistory(api, runId)).slice(seenEntries);
      seenEntries += fresh.length;
      news = await withErrors(api, runId, fresh);
    }
    seenRev = run.rev;
    options.onLook(run, news);
    if (isRunEnded(run.state) || options.signal?.aborted) return { value: answer.value, run };
    await sleep(options.everyMs, undefined, options.signal && { signal: options.signal }).catch(() => {});
  }
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
