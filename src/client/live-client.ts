import type { CallApi } from './call-api.ts';
import { isRunOver } from './follow-run.ts';
import { isPassing, type LiveConnecting, LiveConnection, type WebSocketClass } from './live-connection.ts';
import { type PipelineSnapshot, type RunChange, type RunSnapshot, refusalOf } from './live-frames.ts';
import { LiveLedger } from './live-ledger.ts';
import type { Page } from './operations.ts';
import { pagedList } from './paged-list.ts';
import type { RunNode } from './resources.ts';

/** How a subscription is kept. */
export interface SubscribeOptions {
  /** Ends it; it is rejected with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Time from one sign of life to the next (ms), which also finds a change that was lost; 4 minutes at most. @default 60000 */
  readonly pingMs?: number;
  /** For how long a connection that was lost is tried again (ms). @default 120000 */
  readonly lostMs?: number;
}

/** Live updates. */
export interface LiveClient {
  /**
   * How a run stands, then each change of it and its nodes as it happens, until it is over. What a connection missed is read
   * over HTTP, and told as another snapshot.
   *
   * @example
   * for await (const update of client.live.subscribe({ run: id })) {
   *   if (update.type === 'RunChanged') console.log(update.state, update.nodes);
   * }
   */
  subscribe(topic: { readonly run: string }, options?: SubscribeOptions): AsyncIterable<RunSnapshot | RunChange>;
  /** The newest runs of a pipeline, then each change of the state of one, without end: `break`, or the signal, ends it. */
  subscribe(
    topic: { readonly pipeline: string },
    options?: SubscribeOptions,
  ): AsyncIterable<PipelineSnapshot | RunChange>;
}

const PING_MS = 60_000;
const LONGEST_PING_MS = 240_000;
const LOST_MS = 120_000;
/** Frames that overtook each other arrive within this (ms). */
const PATIENCE_MS = 1000;
/** Runs of a pipeline whose last change is remembered. */
const MOST_RUNS = 1000;
/** Refusals that are over in a moment. */
const PASSING: readonly number[] = [429, 500, 503];

/** Live updates over WebSockets of a class; the global one unless told otherwise. */
export function liveClient(call: CallApi, WebSocket: WebSocketClass | undefined): LiveClient {
  function connect(topic: LiveConnecting['topic'], options: SubscribeOptions): LiveConnection {
    const { signal, pingMs = PING_MS, lostMs = LOST_MS } = options;
    return new LiveConnection({
      WebSocket: WebSocket ?? globalThis.WebSocket,
      ticket: async () => (await call('createLiveTicket', { signal })).value,
      ...{ topic, signal, lostMs, pingMs: Math.min(pingMs, LONGEST_PING_MS) },
    });
  }
  function subscribe(topic: LiveConnecting['topic'], options: SubscribeOptions = {}) {
    const connection = connect(topic, options);
    return 'run' in topic ? watchRun(call, connection, topic.run, options.signal) : watchPipeline(connection);
  }
  return { subscribe: subscribe as LiveClient['subscribe'] };
}

async function* watchRun(
  call: CallApi,
  connection: LiveConnection,
  runId: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<RunSnapshot | RunChange, void, undefined> {
  const watch = new RunWatch(runId);
  try {
    for (;;) {
      const frame = await connection.next(watch.readAt);
      if (frame?.type === 'Error') refuse(connection, frame);
      const told = frame ? watch.take(frame) : await readMissing(connection, watch, () => readRun(call, runId, signal));
      for (const update of told) {
        yield update;
        if (isRunOver(update.type === 'Snapshot' ? update.run : update)) return;
      }
    }
  } finally {
    connection.again();
  }
}

/** Where nothing can be read just now, another connection will begin with a snapshot. */
async function readMissing(
  connection: LiveConnection,
  watch: RunWatch,
  read: () => Promise<RunSnapshot>,
): Promise<readonly (RunSnapshot | RunChange)[]> {
  try {
    return watch.know(await read());
  } catch (error) {
    if (!isPassing(error)) throw error;
    watch.readAt = Date.now() + PATIENCE_MS;
    connection.again();
    return [];
  }
}

type Frame = NonNullable<Awaited<ReturnType<LiveConnection['next']>>>;

/** What is known of a run, and when it has to be read because something is missing. */
class RunWatch {
  readonly #runId: string;
  readonly #ledger = new LiveLedger();
  /** When the run is to be read (ms since 1970). */
  readAt = Number.POSITIVE_INFINITY;

  constructor(runId: string) {
    this.#runId = runId;
  }

  /** Takes a frame; gives what is to be told by it. */
  take(frame: Frame): readonly (RunSnapshot | RunChange)[] {
    const told = this.#toldBy(frame);
    if (!this.#ledger.isBehind) this.readAt = Number.POSITIVE_INFINITY;
    // A snapshot that is not whole gets no better by waiting.
    else this.readAt = Math.min(this.readAt, Date.now() + (frame.type === 'Snapshot' ? 0 : PATIENCE_MS));
    return told;
  }

  /** Takes what was read. */
  know(snapshot: RunSnapshot): readonly (RunSnapshot | RunChange)[] {
    this.readAt = Number.POSITIVE_INFINITY;
    this.#ledger.hear(snapshot.run.rev);
    return [snapshot, ...this.#ledger.know(snapshot.run.rev)];
  }

  #toldBy(frame: Frame): readonly (RunSnapshot | RunChange)[] {
    if (frame.type === 'Snapshot' && 'nodes' in frame) {
      const { truncated, ...snapshot } = frame;
      const { rev } = snapshot.run;
      this.#ledger.hear(rev);
      return truncated || !this.#ledger.isNews(rev) ? [] : [snapshot, ...this.#ledger.know(rev)];
    }
    if (frame.type === 'RunChanged') {
      if (!frame.truncated) return this.#ledger.take(frame);
      this.#ledger.hear(frame.rev);
    }
    if (frame.type === 'Pong') {
      // One that is not there any more is read, and so refused.
      const found = frame.runs.find((run) => run.runId === this.#runId);
      this.#ledger.hear(found?.rev ?? Number.POSITIVE_INFINITY);
    }
    return [];
  }
}

async function* watchPipeline(
  connection: LiveConnection,
): AsyncGenerator<PipelineSnapshot | RunChange, void, undefined> {
  const revs = new Map<string, number>();
  const isNews = (runId: string, rev: number) => {
    if ((revs.get(runId) ?? -1) >= rev) return false;
    revs.delete(runId);
    revs.set(runId, rev);
    for (const oldest of revs.keys()) {
      if (revs.size <= MOST_RUNS) break;
      revs.delete(oldest);
    }
    return true;
  };
  try {
    for (;;) {
      const frame = await connection.next(Number.POSITIVE_INFINITY);
      if (frame?.type === 'Error') refuse(connection, frame);
      if (frame?.type === 'Snapshot' && 'runs' in frame) yield frame;
      if (frame?.type === 'RunChanged' && isNews(frame.runId, frame.rev)) yield frame;
    }
  } finally {
    connection.again();
  }
}

/** @throws ProblemError for a refusal that stands */
function refuse(connection: LiveConnection, frame: Extract<Frame, { type: 'Error' }>): void {
  const refusal = refusalOf(frame);
  if (!PASSING.includes(refusal.status)) throw refusal;
  connection.again();
}

/** The nodes are read after the run, so they may be newer; changes that come tell of them again. */
async function readRun(call: CallApi, runId: string, signal: AbortSignal | undefined): Promise<RunSnapshot> {
  const { value } = await call('getRun', { path: { runId }, signal });
  const { input: _, output: _output, outputRef: _ref, ...run } = value;
  const nodes = await pagedList<RunNode, Page<RunNode>>(
    async (cursor) => (await call('listNodes', { path: { runId }, query: { limit: 1000, cursor }, signal })).value,
  ).all();
  const shown = nodes.map(({ id, state, reason, attempt }) => ({ id, state, reason, ...(attempt && { attempt }) }));
  return { type: 'Snapshot', run, nodes: shown };
}
