import type { CallApi } from './call-api.ts';
import type { Page } from './operations.ts';
import { pagedList } from './paged-list.ts';
import { pause } from './pause.ts';
import type { HistoryEntry, Run, RunState } from './resources.ts';

/** How a run is followed. */
export interface FollowOptions {
  /** Time from one look at the run to the next (ms); its end is seen at once where this is 1000 or more. @default 1000 */
  readonly everyMs?: number;
  /** Whether what happened to its nodes is told as well, but nothing of items of maps. @default false */
  readonly history?: boolean;
  /** Ends the following; it is rejected with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** How a run stands. */
export interface RunLook {
  readonly run: Run;
  /** What happened since the look before; empty unless `history` is asked for. */
  readonly entries: readonly HistoryEntry[];
}

const DEFAULT_EVERY_MS = 1000;
/** The longest that one request waits. */
const LONGEST_WAIT_SECONDS = 20;

const OVER: ReadonlySet<RunState> = new Set(['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED']);

/** Whether nothing of a run changes any more. */
export function isRunOver({ state }: { readonly state: RunState }): boolean {
  return OVER.has(state);
}

/** Looks at a run until it is over; tells how it stands at first, and after each change that a look finds. */
export async function* followRun(
  call: CallApi,
  runId: string,
  { everyMs = DEFAULT_EVERY_MS, history = false, signal }: FollowOptions = {},
): AsyncGenerator<RunLook, void, undefined> {
  const waitSeconds = Math.min(LONGEST_WAIT_SECONDS, Math.floor(everyMs / 1000));
  let seenRev: number | undefined;
  let seenEntries = 0;
  for (;;) {
    const begun = Date.now();
    const wait = seenRev === undefined || waitSeconds === 0 ? undefined : waitSeconds;
    const { value: run } = await call('getRun', { path: { runId }, query: { wait }, signal });
    if (run.rev !== seenRev) {
      const entries = history ? (await historyOf(call, runId, signal)).slice(seenEntries) : [];
      seenEntries += entries.length;
      yield { run, entries };
    }
    if (isRunOver(run)) return;
    // At the first look nobody has waited yet: the next one comes by its own wait.
    const rest = seenRev === undefined && waitSeconds > 0 ? 0 : everyMs - (Date.now() - begun);
    seenRev = run.rev;
    if (rest > 0) await pause(rest, signal);
  }
}

function historyOf(call: CallApi, runId: string, signal: AbortSignal | undefined): Promise<HistoryEntry[]> {
  return pagedList<HistoryEntry, Page<HistoryEntry>>(async (cursor) => {
    const query = { items: false, limit: 1000, cursor };
    return (await call('getHistory', { path: { runId }, query, signal })).value;
  }).all();
}

/** The run once it is over. */
export async function runAtItsEnd(call: CallApi, runId: string, signal: AbortSignal | undefined): Promise<Run> {
  const everyMs = LONGEST_WAIT_SECONDS * 1000;
  let last: Run | undefined;
  for await (const { run } of followRun(call, runId, { everyMs, ...(signal && { signal }) })) last = run;
  return last as Run;
}
