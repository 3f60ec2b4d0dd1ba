import type { LoopbackAnswer, LoopbackRequest } from '#local/loopback-server.ts';
import type { WebsocketIdentity } from '#local/websocket-event.ts';
import type { WireLog } from '#local/wire-log.ts';

/** A connection as the management API sees it. */
export type ManagedConnection = {
  readonly identity: WebsocketIdentity;
  /** When a message went either way last (ms since 1970). */
  readonly lastActiveAt: number;
  /** Bytes that were sent and that the client has not taken. */
  readonly waitingBytes: number;
  send(text: Buffer): void;
  end(): void;
};

const MESSAGE_BYTES = 128 * 1024;
/** What is kept for a client that does not read; after that it is slow. */
const WAITING_BYTES = 256 * 1024;

/**
 * Answers a request of the management API of a WebSocket API (`PostToConnection`, `GetConnection`, `DeleteConnection`).
 * @returns undefined for a request of another address than those that begin with `prefix`
 */
export async function manageConnections(
  { method, target, body }: LoopbackRequest,
  prefix: string,
  find: (connectionId: string) => ManagedConnection | undefined,
  wireLog: WireLog,
): Promise<LoopbackAnswer | undefined> {
  const path = target.split('?')[0] ?? '';
  if (!path.startsWith(prefix)) return undefined;
  const connection = find(decodeURIComponent(path.slice(prefix.length)));
  if (connection === undefined) return failure(410, 'GoneException', 'The connection is closed.');
  switch (method) {
    case 'POST':
      wireLog.call('websocket', 'PostToConnection');
      return post(connection, body);
    case 'GET':
      wireLog.call('websocket', 'GetConnection');
      return describe(connection);
    case 'DELETE':
      wireLog.call('websocket', 'DeleteConnection');
      connection.end();
      return { status: 204, body: '' };
    default:
      return failure(403, 'ForbiddenException', `${method} is no call of this API.`);
  }
}

function post(connection: ManagedConnection, body: Buffer): LoopbackAnswer {
  if (body.length > MESSAGE_BYTES) return failure(413, 'PayloadTooLargeException', 'A message has 128 KB at most.');
  if (connection.waitingBytes > WAITING_BYTES) {
    return failure(429, 'LimitExceededException', 'The client does not take what it is sent.');
  }
  connection.send(body);
  return { status: 200, body: '' };
}

function describe({ identity, lastActiveAt }: ManagedConnection): LoopbackAnswer {
  const { connectedAt, sourceIp, userAgent } = identity;
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      connectedAt: new Date(connectedAt).toISOString(),
      identity: { sourceIp, userAgent },
      lastActiveAt: new Date(lastActiveAt).toISOString(),
    }),
  };
}

function failure(status: number, code: string, message: string): LoopbackAnswer {
  const headers = { 'content-type': 'application/json', 'x-amzn-errortype': code };
  return { status, headers, body: JSON.stringify({ message }) };
}
