/** API Gateway's part for WebSockets: connections of clients, their messages to functions, and what functions send back. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { HostClock } from '#local/host-clock.ts';
import type { LambdaFunctions } from '#local/lambda-functions.ts';
import type { LoopbackAnswer, LoopbackRequest } from '#local/loopback-server.ts';
import { toWebsocketEvent, type WebsocketHappening, type WebsocketIdentity } from '#local/websocket-event.ts';
import { type ManagedConnection, manageConnections } from '#local/websocket-management.ts';
import type { WebsocketApi } from '#local/websocket-template.ts';
import type { WireLog } from '#local/wire-log.ts';

/** What the connections need from the host. */
export type WebsocketSurroundings = {
  readonly functions: Pick<LambdaFunctions, 'invoke'>;
  readonly wireLog: WireLog;
  readonly clock: HostClock;
  /** Host and port. */
  readonly domainName: string;
  log(line: string): void;
};

/** The WebSocket API, hosted. */
export type WebsocketServer = {
  /** Takes over the socket of a request to be upgraded. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Answers a request of the management API; undefined for one that is none. */
  manage(request: LoopbackRequest): Promise<LoopbackAnswer | undefined>;
  /** Cuts off all connections. Their clients have to come again. */
  close(): void;
};

/** https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-execution-service-websocket-limits-table.html */
const FRAME_BYTES = 32 * 1024;
const IDLE_MS = 10 * 60_000;
const LONGEST_MS = 2 * 60 * 60_000;

/** How long a client may take to answer the closing. */
const CLOSING_MS = 500;

/** Codes of RFC 6455. */
const GOING_AWAY = 1001;

/** Hosts a WebSocket API. */
export function openWebsocketServer(api: WebsocketApi, around: WebsocketSurroundings): WebsocketServer {
  // A message of several frames may have 128 KB on AWS; clients send each message as one frame.
  const server = new WebSocketServer({ noServer: true, maxPayload: FRAME_BYTES, perMessageDeflate: false });
  const connections = new Map<string, Connection>();
  const path = `/${api.stage}`;

  async function accept(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname !== path && pathname !== `${path}/`) return refuse(socket, 403, 'Forbidden');
    const identity: WebsocketIdentity = {
      connectionId: `${randomBytes(11).toString('base64url')}=`,
      connectedAt: around.clock.now(),
      sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
      userAgent: request.headers['user-agent'] ?? '',
    };
    const status = await connect(identity, request, searchParams);
    if (status >= 300) return refuse(socket, status, 'Refused');
    server.handleUpgrade(request, socket, head, (client) => {
      const connection = new Connection(client, identity, api, around);
      connections.set(identity.connectionId, connection);
      client.once('close', () => connections.delete(identity.connectionId));
    });
  }

  async function connect(
    identity: WebsocketIdentity,
    request: IncomingMessage,
    query: URLSearchParams,
  ): Promise<number> {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const outcome = await invoke(api, around, identity, '$connect', { eventType: 'CONNECT', headers, query });
    if (outcome === undefined) return 200;
    if (!outcome.ok) return 502;
    const { statusCode = 500 } = JSON.parse(outcome.payload) as { statusCode?: number };
    return Number(statusCode);
  }

  return {
    upgrade: (request, socket, head) => void accept(request, socket, head).catch(() => refuse(socket, 500, 'Failed')),
    manage: (request) =>
      manageConnections(request, `${path}/@connections/`, (id) => connections.get(id), around.wireLog),
    close() {
      for (const connection of connections.values()) connection.end();
      server.close();
    },
  };
}

function refuse(socket: Duplex, status: number, words: string): void {
  socket.end(`HTTP/1.1 ${status} ${words}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function invoke(
  api: WebsocketApi,
  { functions, wireLog, clock, domainName }: WebsocketSurroundings,
  identity: WebsocketIdentity,
  routeKey: string,
  happening: WebsocketHappening,
) {
  const name = api.routes.get(routeKey);
  if (name === undefined) return undefined;
  wireLog.call('websocket', routeKey);
  return functions.invoke(name, {
    event: toWebsocketEvent(happening, identity, { ...api, domainName, now: clock.now() }),
  });
}

/** One connection: its messages go to functions, and it ends when it is idle or old. */
class Connection implements ManagedConnection {
  readonly identity: WebsocketIdentity;
  lastActiveAt: number;
  readonly #client: WebSocket;
  readonly #api: WebsocketApi;
  readonly #around: WebsocketSurroundings;
  #cancelTimer: () => void = () => {};

  constructor(client: WebSocket, identity: WebsocketIdentity, api: WebsocketApi, around: WebsocketSurroundings) {
    this.identity = identity;
    this.lastActiveAt = identity.connectedAt;
    this.#client = client;
    this.#api = api;
    this.#around = around;
    client.on('message', (data, isBinary) => void this.#take(toBuffer(data), isBinary));
    client.on('close', (code, reason) => void this.#leave(code, reason.toString()));
    client.on('error', (error) => around.log(`websocket ${identity.connectionId}: ${error.message}`));
    this.#watch();
  }

  get waitingBytes(): number {
    return this.#client.bufferedAmount;
  }

  send(text: Buffer): void {
    this.lastActiveAt = this.#around.clock.now();
    this.#client.send(text, { binary: false });
  }

  end(): void {
    this.#client.close(GOING_AWAY, 'Going away');
    // A client that does not read would never answer the closing.
    this.#around.clock.after(CLOSING_MS, () => this.#client.terminate());
  }

  async #take(data: Buffer, isBinary: boolean): Promise<void> {
    this.lastActiveAt = this.#around.clock.now();
    const action = actionIn(data, this.#api.actionField);
    const routeKey = action !== undefined && this.#api.routes.has(action) ? action : '$default';
    const happening = { eventType: 'MESSAGE', routeKey, data, isBinary } as const;
    const outcome = await invoke(this.#api, this.#around, this.identity, routeKey, happening);
    if (outcome?.ok) return;
    const message = outcome === undefined ? 'Forbidden' : 'Internal server error';
    const { connectionId } = this.identity;
    this.#client.send(JSON.stringify({ message, connectionId, requestId: outcome?.requestId ?? '' }));
  }

  async #leave(code: number, reason: string): Promise<void> {
    this.#cancelTimer();
    await invoke(this.#api, this.#around, this.identity, '$disconnect', { eventType: 'DISCONNECT', code, reason });
  }

  #watch(): void {
    const { clock } = this.#around;
    const until = Math.min(this.lastActiveAt + IDLE_MS, this.identity.connectedAt + LONGEST_MS);
    if (until <= clock.now()) this.#client.close(GOING_AWAY, 'Going away');
    else this.#cancelTimer = clock.after(until - clock.now(), () => this.#watch());
  }
}

function toBuffer(data: Buffer | ArrayBuffer | Buffer[]): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}

function actionIn(data: Buffer, field: string): string | undefined {
  try {
    const value: unknown = JSON.parse(data.toString());
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, field)) return undefined;
    const action = (value as Record<string, unknown>)[field];
    return typeof action === 'string' ? action : undefined;
  } catch {
    return undefined;
  }
}
