import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request as a server got it. */
export interface Heard {
  readonly method: string;
  /** As it was sent, with its query. */
  readonly address: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Starts a server on loopback for the rest of a test; gives its address and what it hears. */
export async function listen(answer: (heard: Heard, response: ServerResponse, count: number) => void) {
  const heard: Heard[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const one = { method: request.method ?? '', address: request.url ?? '', headers: request.headers, body };
    heard.push(one);
    answer(one, response, heard.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard };
}

/** Answers with JSON. */
export function json(response: ServerResponse, status: number, value: unknown, headers: Record<string, string> = {}) {
  const type = status >= 400 ? 'application/problem+json' : 'application/json';
  response.writeHead(status, { 'content-type': type, ...headers }).end(JSON.stringify(value));
}

/** Answers with a problem. */
export function refuse(response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}) {
  const problem = { type: `https://millrace.dev/errors/${code}`, title: code, status, code, detail: `It is ${code}.` };
  json(response, status, { ...problem, requestId: 'request-1' }, headers);
}

/** A run, as the API answers it. */
export function runBody(over: Readonly<Record<string, unknown>> = {}) {
  const at = '2026-11-30T12:00:00.000Z';
  return {
    id: '4nwee6vv6paa4bafu3kgiuidb3',
    pipeline: 'etl',
    revision: '0123456789abcdef',
    state: 'RUNNING',
    reason: 'Executing',
    message: 'It goes on.',
    since: at,
    input: {},
    createdAt: at,
    trigger: { type: 'api' },
    tags: {},
    progress: 0.5,
    counts: { RUNNING: 1 },
    rev: 3,
    ...over,
  };
}

/** All that comes. */
export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
