/** An installation with clients of its live updates: the notifier's handler over memory ports, and what each client was sent. */
import type { Json } from '#domain/json.ts';
import type { LiveDeps } from '#http/live-deps.ts';
import { LIVE_FRAMES } from '#http/live-schemas.ts';
import { runPass } from '#scheduler/pass.ts';
import { createHandler } from '../../functions/notifier/handler.ts';
import { createApi } from './api-client.ts';
import { type Behaviour, CONTEXT } from './installation.ts';

/** A frame, read. */
// biome-ignore lint/suspicious/noExplicitAny: tests read frames whose shape the schema has checked
export type Frame = any;

/** Makes the installation. */
export function createLive(behave?: Behaviour) {
  const api = createApi(behave);
  const sent = new Map<string, string[]>();
  const closed: string[] = [];
  const counted: string[] = [];
  const lines: { readonly level: string; readonly message: string }[] = [];
  const gone = new Set<string>();
  const slow = new Set<string>();
  const state = { isFeedOpen: false, feedCalls: 0, watched: [] as string[] };
  const log = (level: string) => (message: string) => void lines.push({ level, message });
  const deps: LiveDeps = {
    ...api.deps,
    live: api.live,
    connections: {
      async send(connection, text) {
        if (gone.has(connection)) return 'gone';
        if (slow.has(connection)) return 'slow';
        sent.set(connection, [...(sent.get(connection) ?? []), text]);
        return 'sent';
      },
      close: async (connection) => void closed.push(connection),
    },
    feed: {
      open: async () => {
        state.feedCalls += 1;
        state.isFeedOpen = true;
      },
      close: async () => {
        state.feedCalls += 1;
        state.isFeedOpen = false;
      },
    },
    watches: { ask: async (run) => void state.watched.push(run) },
    log: { info: log('info'), warn: log('warn'), error: log('error') },
    count: (name) => void counted.push(name),
  };
  const handler = createHandler(deps);
  const told = { events: 0 };

  const happen = (connectionId: string, eventType: string, body?: string) =>
    handler(
      {
        requestContext: { connectionId, eventType, connectedAt: api.time.now, requestId: 'r' },
        ...(body !== undefined && { body }),
        isBase64Encoded: false,
      },
      CONTEXT,
    );
  const framesOf = (connection: string): Frame[] => (sent.get(connection) ?? []).map(readFrame);

  return {
    ...api,
    liveDeps: deps,
    handler,
    state,
    gone,
    slow,
    closed,
    counted,
    liveLines: lines,
    rawOf: (connection: string) => sent.get(connection) ?? [],
    framesOf,
    connect: (connection: string) => happen(connection, 'CONNECT'),
    disconnect: (connection: string) => happen(connection, 'DISCONNECT'),
    /** Sends a message, and gives the last frame that came back. */
    async say(connection: string, message: Json | string): Promise<Frame> {
      await happen(connection, 'MESSAGE', typeof message === 'string' ? message : JSON.stringify(message));
      return framesOf(connection).at(-1);
    },
    /** What the scheduler does with the wishes to watch runs. */
    async watchThem() {
      for (const run of state.watched.splice(0)) await runPass(api.deps, run, { isWatched: true });
    },
    /** Hands on what was published since the last time, as the rule would: nothing while it is disabled. */
    async handOn() {
      const fresh = api.events.slice(told.events);
      told.events = api.events.length;
      if (!state.isFeedOpen) return;
      for (const { source, detailType, detail } of fresh) {
        if (detailType === 'RunChanged') await handler({ id: 'e', source, 'detail-type': detailType, detail }, CONTEXT);
      }
    },
  };
}

function readFrame(text: string): Frame {
  const value = JSON.parse(text) as { type: keyof typeof LIVE_FRAMES };
  return LIVE_FRAMES[value.type].parse(value);
}
