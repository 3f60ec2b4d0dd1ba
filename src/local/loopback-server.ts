import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { HostError } from '#local/host-error.ts';

/** A request whose body has been read. */
export type LoopbackRequest = {
  readonly method: string;
  /** Path and query, as they were sent. */
  readonly target: string;
  readonly protocol: string;
  /** Lower-case names; values of a repeated header are joined. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
  readonly sourceIp: string;
};

/** What is answered. */
export type LoopbackAnswer = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body: string | Buffer;
};

/** How to listen. */
export type LoopbackOptions = {
  /** 0 takes a free one. */
  readonly port: number;
  /** Larger bodies are answered 413. */
  readonly maxBodyBytes: number;
  /** Larger headers are answered 431, in bytes. */
  readonly maxHeaderBytes: number;
  /** Until the host is ready, requests are answered 503. */
  handle(request: LoopbackRequest): Promise<LoopbackAnswer>;
  /** Takes over the sockets of requests to be upgraded. @default they are cut off */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): void;
};

/** A listener on 127.0.0.1. */
export type LoopbackServer = {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Takes no more requests, and cuts off those under way. */
  close(): Promise<void>;
};

/**
 * Listens on 127.0.0.1 alone. Pages of other sites can reach a loopback port through the browser, so a request that
 * names another host (DNS rebinding) or comes from another origin is answered 403.
 * @throws {HostError} `PORT_IN_USE`
 */
export async function openLoopbackServer(options: LoopbackOptions): Promise<LoopbackServer> {
  const ownHosts = new Set<string>();
  const server = createServer({ maxHeaderSize: options.maxHeaderBytes, keepAliveTimeout: 0 }, (request, response) => {
    void respond(request, response, ownHosts, options);
  });
  server.on('upgrade', (request, socket, head) => {
    socket.on('error', () => socket.destroy());
    if (isForeign(request, ownHosts)) socket.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
    else if (options.upgrade) options.upgrade(request, socket, head);
    else socket.destroy();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, options.port)));
    server.listen(options.port, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  for (const name of ['127.0.0.1', 'localhost']) ownHosts.add(`${name}:${port}`);
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listenError(error: NodeJS.ErrnoException, port: number): Error {
  if (error.code !== 'EADDRINUSE') return error;
  const message = `port ${port} of 127.0.0.1 is in use; stop what listens there, or take another port (--port 0 takes a free one)`;
  return new HostError('PORT_IN_USE', message, { cause: error });
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  ownHosts: ReadonlySet<string>,
  options: LoopbackOptions,
): Promise<void> {
  let answer: LoopbackAnswer;
  try {
    answer = isForeign(request, ownHosts) ? refusal(403, 'Forbidden') : await handled(request, options);
  } catch {
    answer = refusal(500, 'Internal Server Error');
  }
  if (response.destroyed) return;
  const { status, headers = {}, body } = answer;
  const length = { 'content-length': String(Buffer.byteLength(body)) };
  try {
    response.writeHead(status, { ...copied(headers), ...length }).end(body);
  } catch {
    response.writeHead(500).end();
  }
}

async function handled(request: IncomingMessage, options: LoopbackOptions): Promise<LoopbackAnswer> {
  const body = await readBody(request, options.maxBodyBytes);
  if (body === undefined) return { ...refusal(413, 'Request Entity Too Large'), headers: { connection: 'close' } };
  return options.handle({
    method: request.method ?? 'GET',
    target: request.url ?? '/',
    protocol: `HTTP/${request.httpVersion}`,
    headers: request.headers,
    body,
    sourceIp: request.socket.remoteAddress ?? '127.0.0.1',
  });
}

/** An answer in the form of API Gateway's own. */
export function refusal(status: number, message: string): LoopbackAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ message }) };
}

function isForeign(request: IncomingMessage, ownHosts: ReadonlySet<string>): boolean {
  const { host, origin } = request.headers;
  if (host === undefined || !ownHosts.has(host.toLowerCase())) return true;
  if (origin === undefined) return false;
  return !origin.startsWith('http://') || !ownHosts.has(origin.slice('http://'.length).toLowerCase());
}

/** Undefined if it is longer than `maxBytes`; what is left of it then comes to nothing. */
function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const take = (chunk: Buffer) => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes <= maxBytes) return;
      request.off('data', take).resume();
      resolve(undefined);
    };
    request.on('data', take);
    request.once('end', () => resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks)));
    request.once('error', reject);
  });
}

function copied(headers: NonNullable<LoopbackAnswer['headers']>): Record<string, string | string[]> {
  const entries = Object.entries(headers).map(
    ([name, value]) => [name, typeof value === 'string' ? value : [...value]] as const,
  );
  return Object.fromEntries(entries);
}
