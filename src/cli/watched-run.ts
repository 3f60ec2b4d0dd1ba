import {
  AccessError,
  ConnectionError,
  isProblem,
  type MillraceClient,
  type RunChange,
  type RunSnapshot,
} from '../client/index.ts';
import { oneLine } from './one-line.ts';
import type { Style } from './output.ts';
import { paintState } from './state-style.ts';

/** What is watched, and with what. */
type Watching = Pick<MillraceClient, 'live' | 'runs' | 'nodes'>;

/** How a run stands, and how it goes on until it is over: by live updates where there are any, else by a look each second. */
export async function* watchedRun(
  client: Watching,
  runId: string,
  signal: AbortSignal,
): AsyncGenerator<RunSnapshot | RunChange, void, undefined> {
  try {
    yield* client.live.subscribe({ run: runId }, { signal });
  } catch (error) {
    if (signal.aborted || !isWithoutLive(error)) throw error;
    yield* looks(client, runId, signal);
  }
}

/** A server without live updates, one that gives this caller no ticket, or a network that lets no WebSocket through. */
function isWithoutLive(error: unknown): boolean {
  if (error instanceof ConnectionError || error instanceof AccessError) return true;
  return isProblem(error, 'LIVE_UPDATES_OFF', 'UNKNOWN_ROUTE');
}

async function* looks(client: Watching, runId: string, signal: AbortSignal): AsyncGenerator<RunSnapshot> {
  for await (const { run } of client.runs.follow(runId, { signal })) {
    const nodes = await client.nodes.list(runId, { limit: 1000, signal }).all();
    const shown = nodes.map(({ id, state, reason, attempt }) => ({ id, state, reason, ...(attempt && { attempt }) }));
    const { input: _, output: _output, outputRef: _ref, ...told } = run;
    yield { type: 'Snapshot', run: told, nodes: shown };
  }
}

/** Writes updates as lines: one for the run, or a node, whose state or reason is not what the last line of it says. */
export function updateLines(style: Style): (update: RunSnapshot | RunChange) => string[] {
  const last = new Map<string, string>();
  const lineOf = (key: string, shown: string, { state, reason }: { state: string; reason: string }): string[] => {
    const now = `${state} ${reason}`;
    if (last.get(key) === now) return [];
    last.set(key, now);
    return [`  ${paintState(state, style)(state.padEnd(16))}  ${shown}  ${style.dim(reason)}`.trimEnd()];
  };
  return (update) => {
    const nodes = (update.nodes ?? []).flatMap((node) => lineOf(`node ${node.id}`, oneLine(node.id), node));
    const run = lineOf('run', style.bold('the run'), update.type === 'Snapshot' ? update.run : update);
    return [...nodes, ...run];
  };
}
