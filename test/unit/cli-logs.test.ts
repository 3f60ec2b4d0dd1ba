/** `millrace logs`: pages of a log, once or for as long as more comes. */
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { runHere } from './cli-capture.ts';

let server: Server | undefined;
const asked: string[] = [];

/** Answers calls for logs one after the other, the last one again and again; a run is over after so many looks at it. */
async function serve(pages: readonly (object | undefined)[], overAfter = 0): Promise<string> {
  let looks = 0;
  let page = 0;
  server = createServer((request: IncomingMessage, response) => {
    const address = request.url ?? '';
    if (address.includes('/logs')) {
      asked.push(address);
      const body = pages[Math.min(page, pages.length - 1)];
      page += 1;
      response.writeHead(body ? 200 : 404, { 'content-type': 'application/json' });
      response.end(JSON.stringify(body ?? { code: 'LOGS_NOT_FOUND', title: 'T', status: 404, detail: 'Not yet.' }));
      return;
    }
    looks += 1;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(runOf(looks > overAfter)));
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const AT = '2026-11-30T12:00:00.000Z';

function runOf(isOver: boolean) {
  return {
    id: 'r',
    pipeline: 'p',
    revision: 'v',
    state: isOver ? 'SUCCEEDED' : 'RUNNING',
    reason: isOver ? 'Completed' : 'Executing',
    message: 'm',
    since: AT,
    input: {},
    createdAt: AT,
    ...(isOver && { endedAt: AT }),
    trigger: { type: 'api' },
    tags: {},
    progress: 1,
    counts: {},
    rev: 1,
  };
}

function pageOf(messages: readonly string[], nextCursor?: string) {
  return { items: messages.map((message) => ({ at: AT, message })), ...(nextCursor && { nextCursor }) };
}

afterEach(() => {
  vi.useRealTimers();
  asked.length = 0;
  server?.closeAllConnections();
  server?.close();
});

describe('millrace logs', () => {
  it('prints what is there, and no control characters', async () => {
    const url = await serve([pageOf(['a', 'b\u001b[31m'], 'c1'), pageOf(['c'], 'c2'), pageOf([], 'c3')]);
    const { code, stdout } = await runHere(['logs', 'r', 'a b', '--attempt', '2', '--item', '3', '--url', url]);
    expect([code, stdout.split('\n').length, stdout.includes('\u001b')]).toEqual([0, 3, false]);
    expect(stdout.split('\n')[0]).toBe(`${AT}  a`);
    const path = `/v1/runs/r/nodes/b64.${Buffer.from('a b').toString('base64url')}/logs?attempt=2&item=3&limit=1000`;
    expect(asked).toEqual([path, `${path}&cursor=c1`, `${path}&cursor=c2`]);
  });

  it('gives the pages as they are with --json', async () => {
    const url = await serve([pageOf(['a'])]);
    expect((await runHere(['logs', 'r', 'n', '--json', '--url', url])).stdout).toBe(JSON.stringify(pageOf(['a'])));
  });

  it('says where there is no log, and ends with 1', async () => {
    const url = await serve([undefined]);
    const { code, stderr } = await runHere(['logs', 'r', 'n', '--url', url]);
    expect([code, stderr]).toEqual([1, 'millrace: LOGS_NOT_FOUND: Not yet.']);
  });

  it('follows a log that is not there yet, to its end', async () => {
    const url = await serve([undefined, pageOf(['a'], 'c1'), pageOf([], 'c1'), pageOf(['b'])], 100);
    const { code, stdout } = await runHere(['logs', 'r', 'n', '--follow', '--url', url]);
    expect([code, stdout]).toEqual([0, `${AT}  a\n${AT}  b`]);
    expect(asked.length).toBe(4);
  });

  it('stops to wait for a log once its run is over', async () => {
    const url = await serve([undefined], 1);
    const { code, stderr } = await runHere(['logs', 'r', 'n', '--follow', '--url', url]);
    expect([code, stderr]).toEqual([1, 'millrace: LOGS_NOT_FOUND: Not yet.']);
    expect(asked.length).toBe(2);
  });

  it.each([
    ['--attempt', '0'],
    ['--attempt', 'x'],
    ['--item', '-1'],
  ])('refuses %s %s', async (...option) => {
    expect((await runHere(['logs', 'r', 'n', ...option])).code).toBe(2);
  });
});
