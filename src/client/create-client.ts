import { type CallApi, createCallApi } from './call-api.ts';
import type { CallOptions } from './call-options.ts';
import { type EnginesClient, enginesClient, type PoolsClient, poolsClient } from './engines-client.ts';
import { type LiveClient, liveClient } from './live-client.ts';
import type { WebSocketClass } from './live-connection.ts';
import { type NodesClient, nodesClient } from './nodes-client.ts';
import { type PipelinesClient, pipelinesClient } from './pipelines-client.ts';
import type { Health, LiveTicket } from './resources.ts';
import { type RunsClient, runsClient } from './runs-client.ts';
import type { Retries, Sign } from './send-request.ts';

/** How a client is made. */
export interface ClientOptions {
  /** Address of the API, without `/v1`. */
  readonly url: string | URL;
  /** Sent as a bearer token, to an API with a JWT authorizer; a function is asked for each request. */
  readonly token?: string | (() => string | Promise<string>);
  /** Signs each request: see `signWithAws` of `millrace/client/sigv4`. It takes the place of `token`. */
  readonly sign?: Sign;
  /** @default the global `fetch` */
  readonly fetch?: typeof globalThis.fetch;
  /** What live updates are told by. @default the global `WebSocket` */
  readonly WebSocket?: WebSocketClass;
  /** How a call is made again that found the server busy, or none. `false`: never. */
  readonly retries?: Retries | false;
  /** How long one request may take (ms); a run is waited for 20 s at most by one of them. @default 45000 */
  readonly timeoutMs?: number;
}

/** The API of an installation. */
export interface MillraceClient {
  /** Address of the API. */
  readonly url: string;
  readonly pipelines: PipelinesClient;
  readonly runs: RunsClient;
  readonly nodes: NodesClient;
  readonly engines: EnginesClient;
  readonly pools: PoolsClient;
  /** Changes of runs as they happen. */
  readonly live: LiveClient;
  /** A ticket, with which one WebSocket for live updates is opened within a minute. */
  liveTicket(options?: CallOptions): Promise<LiveTicket>;
  /** That the API answers. */
  health(options?: CallOptions): Promise<Health>;
  /** The OpenAPI document of the API. */
  openApi(options?: CallOptions): Promise<Record<string, unknown>>;
  /** Any call by its `operationId`; beside the value it tells the status, the headers and the text as it came. */
  readonly call: CallApi;
}

const TIMEOUT_MS = 45_000;
const RETRIES = {
  limit: 9,
  connectionLimit: 2,
  firstDelayMs: 50,
  longestDelayMs: 2000,
  longestRetryAfterMs: 30_000,
};

/**
 * Makes a client of the API at an address. It works in Node.js and in browsers.
 *
 * Calls are rejected with a MillraceError: see {@link problems} and {@link isProblem}. A call that found the server busy (429,
 * 503), dead or out of reach is made again with growing waits: each one may be, since whatever is started has a key.
 *
 * @throws TypeError where `url` is no address
 *
 * @example
 * const client = createClient({ url: 'http://127.0.0.1:8787' });
 * const { id } = await client.runs.start('etl', { input: { day: '2026-11-30' } });
 * for await (const { run } of client.runs.follow(id)) console.log(run.state, run.progress);
 */
export function createClient(options: ClientOptions): MillraceClient {
  const { token, sign, timeoutMs = TIMEOUT_MS } = options;
  const { origin, pathname } = new URL(options.url);
  const url = `${origin}${pathname.replace(/\/+$/, '')}`;
  const retries = options.retries === false ? { ...RETRIES, limit: 0 } : { ...RETRIES, ...options.retries };
  const fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
  const call = createCallApi(url, { fetch, token, sign, retries, timeoutMs });
  return {
    url,
    pipelines: pipelinesClient(call),
    runs: runsClient(call),
    nodes: nodesClient(call),
    engines: enginesClient(call),
    pools: poolsClient(call),
    live: liveClient(call, options.WebSocket),
    async liveTicket({ signal } = {}) {
      return (await call('createLiveTicket', { signal })).value;
    },
    async health({ signal } = {}) {
      return (await call('getHealth', { signal })).value;
    },
    async openApi({ signal } = {}) {
      return (await call('getOpenApi', { signal })).value;
    },
    call,
  };
}
