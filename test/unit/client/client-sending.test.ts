import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { ConnectionError, createClient, isProblem, MillraceError, ProblemError, problems } from '#client/index.ts';
import { collect, json, listen, refuse, runBody } from './listening-server.ts';

const SOON = { firstDelayMs: 1, longestDelayMs: 2 };

/** Why a call is rejected. */
async function errorOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => expect.fail('it is rejected'),
    (error: unknown) => error,
  );
}

describe('a call that finds the server busy', () => {
  it('is made again, with the same key, until it is answered', async () => {
    const { url, heard } = await listen((_request, response, count) => {
      if (count === 1) refuse(response, 503, 'BUSY');
      else if (count === 2) refuse(response, 429, 'THROTTLED');
      else if (count === 3) json(response, 500, { message: 'Internal Server Error' });
      else if (count === 4) response.destroy();
      else if (count === 5) response.writeHead(502, { 'content-type': 'text/html' }).end('<html>');
      else json(response, 201, runBody());
    });
    const client = createClient({ url, retries: SOON });
    expect(await client.runs.start('etl', { input: 1 })).toMatchObject({ id: '4nwee6vv6paa4bafu3kgiuidb3' });
    expect(heard.map(({ body }) => body)).toEqual(Array(6).fill('{"input":1}'));
    const keys = new Set(heard.map(({ headers }) => headers['idempotency-key']));
    expect([...keys]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  });

  it('waits for as long as the server asks', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] });
    try {
      const sentAt: number[] = [];
      const begun = Date.now();
      const client = createClient({
        url: 'https://example.test',
        retries: { firstDelayMs: 10, longestDelayMs: 10 },
        fetch: async () => {
          sentAt.push(Date.now() - begun);
          const headers = { 'retry-after': sentAt.length === 1 ? '7' : new Date(Date.now() + 5000).toUTCString() };
          return sentAt.length < 3
            ? new Response('{"message":"Too Many Requests"}', { status: 429, headers })
            : new Response(JSON.stringify(runBody()));
        },
      });
      const got = client.runs.get('r');
      await vi.runAllTimersAsync();
      expect(await got).toMatchObject({ state: 'RUNNING' });
      expect(sentAt[1]).toBeGreaterThanOrEqual(7010);
      expect(sentAt[1]).toBeLessThan(7040);
      expect((sentAt[2] ?? 0) - (sentAt[1] ?? 0)).toBeGreaterThan(4000);
    } finally {
      vi.useRealTimers();
    }
  });

  it.each([
    {
      what: 'asks for a longer wait than anybody has',
      status: 503,
      code: 'NEWER_RUN',
      headers: { 'retry-after': '60' },
    },
    { what: 'says that it is its own fault', status: 500, code: 'INTERNAL_ERROR', headers: {} },
    { what: 'refuses', status: 409, code: 'RUN_ACTIVE', headers: { 'retry-after': '1' } },
  ])('is not made again where the server $what', async ({ status, code, headers }) => {
    const { url, heard } = await listen((_request, response) => refuse(response, status, code, headers));
    const error = await errorOf(createClient({ url, retries: SOON }).runs.get('r'));
    expect(error).toMatchObject({ code, status, requestId: 'request-1', message: `It is ${code}.` });
    expect(heard).toHaveLength(1);
  });

  it('is given up after so many times, or at once where none is wanted', async () => {
    const { url, heard } = await listen((_request, response) => refuse(response, 503, 'BUSY'));
    expect(await errorOf(createClient({ url, retries: { ...SOON, limit: 3 } }).health())).toBeInstanceOf(problems.BUSY);
    expect(heard).toHaveLength(4);
    await errorOf(createClient({ url, retries: false }).health());
    expect(heard).toHaveLength(5);
  });

  it('is given up soon where nothing answers', async () => {
    const { url, heard } = await listen((_request, response) => response.destroy());
    expect(await errorOf(createClient({ url, retries: SOON }).health())).toBeInstanceOf(ConnectionError);
    expect(heard).toHaveLength(3);
  });

  it('is made once alone where a second time would be refused for the first', async () => {
    const { url, heard } = await listen((_request, response) => response.destroy());
    const put = createClient({ url, retries: SOON }).pipelines.put('p', { name: 'p', nodes: [] }, { ifMatch: 'r' });
    expect(await errorOf(put)).toBeInstanceOf(ConnectionError);
    expect(heard).toHaveLength(1);
  });

  it('knows that what it deleted is gone, though the answer was lost', async () => {
    const { url } = await listen((_request, response, count) => {
      if (count === 1) response.destroy();
      else refuse(response, 404, 'RUN_NOT_FOUND');
    });
    const client = createClient({ url, retries: SOON });
    expect(await client.runs.delete('r')).toBeUndefined();
    expect(await errorOf(client.runs.delete('r'))).toBeInstanceOf(problems.RUN_NOT_FOUND);
  });
});

describe('a call that is ended by its caller', () => {
  it('is rejected with the reason, while it is under way and while it waits', async () => {
    const hanging = await listen(() => {});
    const controller = new AbortController();
    const call = createClient({ url: hanging.url }).runs.get('r', { signal: controller.signal });
    await vi.waitFor(() => expect(hanging.heard).toHaveLength(1));
    controller.abort('enough');
    expect(await errorOf(call)).toBe('enough');

    const busy = await listen((_request, response) => refuse(response, 503, 'BUSY', { 'retry-after': '20' }));
    const second = new AbortController();
    const waiting = createClient({ url: busy.url }).runs.get('r', { signal: second.signal });
    await vi.waitFor(() => expect(busy.heard).toHaveLength(1));
    second.abort();
    expect(await errorOf(waiting)).toMatchObject({ name: 'AbortError' });
    expect(await errorOf(createClient({ url: busy.url }).health({ signal: second.signal }))).toBe(second.signal.reason);
  });
});

describe('what came back', () => {
  it('is a problem of its class, with all that it says', async () => {
    const errors = [{ path: 'nodes[0].id', code: 'INVALID_ID', message: 'is no id', value: 7, line: 3, column: 1 }];
    const { url } = await listen((_request, response, count) => {
      const code = count === 1 ? 'INVALID_DEFINITION' : 'NEWER_CODE';
      json(response, 422, { type: 't', title: 'T', status: 422, code, detail: 'No.', requestId: 'q', errors, more: 1 });
    });
    const client = createClient({ url });
    const known = await errorOf(client.pipelines.put('p', 'name: p'));
    expect(known).toBeInstanceOf(problems.INVALID_DEFINITION);
    expect(known).not.toBeInstanceOf(problems.RUN_NOT_FOUND);
    expect(known).toMatchObject({ code: 'INVALID_DEFINITION', type: 't', title: 'T', requestId: 'q', errors });
    expect([isProblem(known), isProblem(known, 'BUSY', 'INVALID_DEFINITION'), isProblem(known, 'BUSY')]).toEqual([
      true,
      true,
      false,
    ]);
    const unknown = await errorOf(client.health());
    expect(unknown).toBeInstanceOf(ProblemError);
    expect(unknown).toMatchObject({ code: 'NEWER_CODE' });
    expect(isProblem(new Error('No.'))).toBe(false);
  });

  it.each([
    { status: 401, body: '{"message":"Unauthorized"}', name: 'AccessError', code: 'NOT_AUTHENTICATED' },
    { status: 403, body: '{"message":"Forbidden"}', name: 'AccessError', code: 'FORBIDDEN' },
    { status: 403, body: '{"Message":"User: x is not authorized"}', name: 'AccessError', code: 'FORBIDDEN' },
    { status: 403, body: '<html>no</html>', name: 'AccessError', code: 'FORBIDDEN' },
    { status: 404, body: '{"message":"Not Found"}', name: 'GatewayError', code: 'HTTP_404' },
    { status: 502, body: 'bad gateway', name: 'GatewayError', code: 'HTTP_502' },
    { status: 404, body: '<html>no</html>', name: 'NotMillraceError', code: 'NOT_MILLRACE' },
    { status: 200, body: '<html>hello</html>', name: 'NotMillraceError', code: 'NOT_MILLRACE' },
    { status: 200, body: '', name: 'NotMillraceError', code: 'NOT_MILLRACE' },
    { status: 200, body: '{"hello":"world"}', name: 'NotMillraceError', code: 'NOT_MILLRACE' },
    { status: 200, body: JSON.stringify(runBody({ rev: 'three' })), name: 'NotMillraceError', code: 'NOT_MILLRACE' },
    { status: 200, body: JSON.stringify(runBody({ state: 7 })), name: 'NotMillraceError', code: 'NOT_MILLRACE' },
  ])('is told apart: $status with $body is a $name', async ({ status, body, name, code }) => {
    const { url } = await listen((_request, response) => response.writeHead(status).end(body));
    const error = await errorOf(createClient({ url, retries: false }).runs.get('r'));
    expect(error).toBeInstanceOf(MillraceError);
    expect(error).toMatchObject({ name, code });
  });

  it('may say more than this client knows', async () => {
    const newer = runBody({
      colour: 'green',
      reason: 'NewReason',
      state: 'RESTING',
      trigger: { type: 'moon', phase: 1 },
    });
    const { url } = await listen((_request, response) => json(response, 200, newer));
    expect(await createClient({ url }).runs.get('r')).toEqual(newer);
  });

  it('may be nothing at all', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const gone = await errorOf(createClient({ url: `http://127.0.0.1:${port}`, retries: false }).health());
    expect(gone).toBeInstanceOf(ConnectionError);
    expect(gone).toMatchObject({ message: expect.stringContaining('ECONNREFUSED') });
    const { url } = await listen(() => {});
    const late = await errorOf(createClient({ url, timeoutMs: 20, retries: false }).health());
    expect(late).toMatchObject({
      code: 'SERVER_UNREACHABLE',
      message: expect.stringContaining('no answer after 0.02 s'),
    });
  });

  it('is asked for with a token where there is one', async () => {
    const { url, heard } = await listen((_request, response) => json(response, 200, runBody()));
    await createClient({ url, token: 'abc' }).runs.get('r');
    await createClient({ url, token: async () => 'def' }).runs.get('r');
    expect(heard.map(({ headers }) => headers.authorization)).toEqual(['Bearer abc', 'Bearer def']);
  });
});

describe('lists and runs', () => {
  it('a list is read page after page, and again from the start', async () => {
    const { url, heard } = await listen(({ address }, response) => {
      const cursor = new URL(address, 'http://x').searchParams.get('cursor');
      const name = cursor === null ? 'a' : 'b';
      json(response, 200, { items: [{ name, slots: 1, held: 0 }], ...(cursor === null && { nextCursor: 'next' }) });
    });
    const pools = createClient({ url }).pools.list({ limit: 1 });
    expect(heard).toEqual([]);
    expect((await collect(pools)).map(({ name }) => name)).toEqual(['a', 'b']);
    expect((await collect(pools.pages())).map(({ items }) => items.length)).toEqual([1, 1]);
    expect((await pools.all()).map(({ name }) => name)).toEqual(['a', 'b']);
    expect(await pools.page()).toMatchObject({ nextCursor: 'next' });
    expect((await pools.page('next')).items[0]?.name).toBe('b');
    for await (const { name } of pools) {
      expect(name).toBe('a');
      break;
    }
    expect(heard.map(({ address }) => address.split('?')[1]).slice(-3)).toEqual([
      'limit=1',
      'limit=1&cursor=next',
      'limit=1',
    ]);
  });

  it('a run is followed by its revision numbers until it is over', async () => {
    const states = [
      runBody({ rev: 1 }),
      runBody({ rev: 1 }),
      runBody({ rev: 4, progress: 0.7 }),
      runBody({ rev: 5, state: 'SUCCEEDED', reason: 'Completed' }),
    ];
    const waits: (string | null)[] = [];
    let looks = 0;
    const { url } = await listen(({ address }, response) => {
      const { pathname, searchParams } = new URL(address, 'http://x');
      const entry = { at: '2026-11-30T12:00:00.000Z', state: 'RUNNING', reason: 'Executing' };
      if (pathname.endsWith('/history')) {
        json(response, 200, { items: Array.from({ length: looks }, (_, rev) => ({ ...entry, rev })) });
      } else {
        waits.push(searchParams.get('wait'));
        json(response, 200, states[looks++]);
      }
    });
    const client = createClient({ url });
    const seen = await collect(client.runs.follow('r', { everyMs: 5, history: true }));
    expect(seen.map(({ run, entries }) => [run.rev, run.state, entries.map(({ rev }) => rev)])).toEqual([
      [1, 'RUNNING', [0]],
      [4, 'RUNNING', [1, 2]],
      [5, 'SUCCEEDED', [3]],
    ]);
    expect(waits).toEqual([null, null, null, null]);
  });

  it('the server waits with its answer where looks are seconds apart', async () => {
    const { url, heard } = await listen((_request, response, count) =>
      json(response, 200, runBody({ rev: count, ...(count > 1 && { state: 'FAILED', reason: 'NodeFailed' }) })),
    );
    expect(await createClient({ url }).runs.untilOver('r')).toMatchObject({ state: 'FAILED' });
    expect(heard.map(({ address }) => address)).toEqual(['/v1/runs/r', '/v1/runs/r?wait=20']);
  });
});
