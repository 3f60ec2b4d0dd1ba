import type { CallApi } from './call-api.ts';
import type { CallOptions, DeleteOptions, ListOptions, StartOptions } from './call-options.ts';
import { type FollowOptions, followRun, type RunLook, runAtItsEnd } from './follow-run.ts';
import { type PagedList, pagedList } from './paged-list.ts';
import type {
  CommandAnswer,
  Explanation,
  HistoryEntry,
  RerunRequest,
  Run,
  RunLine,
  RunState,
  StartRequest,
  Unfinished,
} from './resources.ts';

/** Which runs are listed. */
export interface RunFilter extends ListOptions {
  /** Only runs of this pipeline. */
  readonly pipeline?: string;
  /** Only runs in one of these states. */
  readonly state?: RunState | readonly RunState[];
  /** Only runs with each of these tags. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Only runs created then or later, in ISO 8601 with an offset. */
  readonly from?: string;
  /** Only runs created before. */
  readonly to?: string;
}

/** Runs. */
export interface RunsClient {
  /** Starts a run of a pipeline. */
  start(pipeline: string, request?: StartRequest, options?: StartOptions): Promise<Run>;
  /** Starts a run that is over again: a new run, which takes over what needs not run again. */
  rerun(runId: string, request: RerunRequest, options?: StartOptions): Promise<Run>;
  /** Runs, newest first. */
  list(filter?: RunFilter): PagedList<RunLine>;
  /**
   * A run.
   * @param options.waitSeconds the server answers when the run is over, or after so many seconds, 20 at most @default 0
   */
  get(runId: string, options?: CallOptions & { readonly waitSeconds?: number }): Promise<Run>;
  /** The output of a run, however large it is. */
  output(runId: string, options?: CallOptions): Promise<unknown>;
  /**
   * How a run goes on, until it is over.
   *
   * @example
   * for await (const { run } of client.runs.follow(id)) console.log(run.state, run.progress);
   */
  follow(runId: string, options?: FollowOptions): AsyncIterable<RunLook>;
  /** The run once it is over. */
  untilOver(runId: string, options?: CallOptions): Promise<Run>;
  /**
   * What happened in a run, in order.
   * @param options.items whether what happened to items of maps is told as well @default true
   */
  history(runId: string, options?: ListOptions & { readonly items?: boolean }): PagedList<HistoryEntry>;
  /** Everything unfinished in a run, and what would move it; each page says how the run itself stands, too. */
  explain(runId: string, options?: ListOptions): PagedList<Unfinished, Explanation>;
  /** From the answer on nothing of it starts, and what is under way is ended. */
  stop(runId: string, options?: CallOptions): Promise<CommandAnswer>;
  /** From the answer on nothing of it starts; what is under way finishes. */
  pause(runId: string, options?: CallOptions): Promise<CommandAnswer>;
  resume(runId: string, options?: CallOptions): Promise<CommandAnswer>;
  /** Deletes a run with all that it left; an active one with `force` alone. */
  delete(runId: string, options?: DeleteOptions): Promise<void>;
}

/** The calls about runs. */
export function runsClient(call: CallApi): RunsClient {
  return { ...readingRuns(call), ...changingRuns(call) };
}

type Reading = 'list' | 'get' | 'output' | 'follow' | 'untilOver' | 'history' | 'explain';

function readingRuns(call: CallApi): Pick<RunsClient, Reading> {
  return {
    list({ signal, tags = {}, state, ...filter } = {}) {
      const tag = Object.entries(tags).map(([key, value]) => `${key}:${value}`);
      return pagedList(
        async (cursor) => (await call('listRuns', { query: { ...filter, state, tag, cursor }, signal })).value,
      );
    },
    async get(runId, { waitSeconds, signal } = {}) {
      return (await call('getRun', { path: { runId }, query: { wait: waitSeconds }, signal })).value;
    },
    async output(runId, { signal } = {}) {
      return (await call('getRunOutput', { path: { runId }, signal })).value;
    },
    follow: (runId, options) => followRun(call, runId, options),
    untilOver: (runId, { signal } = {}) => runAtItsEnd(call, runId, signal),
    history(runId, { limit, items, signal } = {}) {
      return pagedList(
        async (cursor) =>
          (await call('getHistory', { path: { runId }, query: { limit, items, cursor }, signal })).value,
      );
    },
    explain(runId, { limit, signal } = {}) {
      return pagedList<Unfinished, Explanation>(
        async (cursor) => (await call('explainRun', { path: { runId }, query: { limit, cursor }, signal })).value,
      );
    },
  };
}

function changingRuns(call: CallApi): Omit<RunsClient, Reading> {
  return {
    async start(pipeline, request = {}, { idempotencyKey, signal } = {}) {
      return (await call('startRun', { path: { name: pipeline }, body: request, idempotencyKey, signal })).value;
    },
    async rerun(runId, request, { idempotencyKey, signal } = {}) {
      return (await call('rerun', { path: { runId }, body: request, idempotencyKey, signal })).value;
    },
    async stop(runId, { signal } = {}) {
      return (await call('stopRun', { path: { runId }, signal })).value;
    },
    async pause(runId, { signal } = {}) {
      return (await call('pauseRun', { path: { runId }, signal })).value;
    },
    async resume(runId, { signal } = {}) {
      return (await call('resumeRun', { path: { runId }, signal })).value;
    },
    async delete(runId, { force, signal } = {}) {
      await call('deleteRun', { path: { runId }, query: { force }, signal });
    },
  };
}
