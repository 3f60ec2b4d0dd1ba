/** What a function's report of its progress sends, and that it never disturbs the function. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { logKey, requestIdIn } from '#domain/log-mark.ts';
import { wrapFunction } from '#function/define-function.ts';
import { reportProgress } from '#function/report-progress.ts';
import { signedHeaders } from '#function/signed-request.ts';

interface Received {
  readonly url: string;
  readonly headers: { readonly [name: string]: string | string[] | undefined };
  readonly body: unknown;
}

const received: Received[] = [];
let status = 204;
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as unknown;
  received.push({ url: request.url ?? '', headers: request.headers, body });
  response.writeHead(status).end();
});

let tokens = 0;

/** A client context with a token of its own, since one report a second is sent for each. */
function attempt(more: { readonly item?: number } = {}) {
  tokens += 1;
  return { run: 'run1', node: 'a b/ü', attempt: 2, timeoutSeconds: 60, token: `token${tokens}`, ...more };
}

beforeEach(async () => {
  received.length = 0;
  status = 204;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('MILLRACE_API_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

describe('reportProgress', () => {
  it('says how far the attempt of a wrapped function is, of a plain one, and of an execution', async () => {
    const clientContext = attempt({ item: 3 });
    const code = wrapFunction(
      (_: unknown, context) => reportProgress(context, 0.4, '12 of 30 files'),
      () => undefined,
    );
    expect(await code({}, { clientContext })).toBe(true);
    expect(await reportProgress({ clientContext: attempt() }, 0.5)).toBe(true);
    expect(await reportProgress({ millrace: attempt(), params: {} }, 1)).toBe(true);
    const path = `/v1/runs/run1/nodes/b64.${Buffer.from('a b/ü').toString('base64url')}/progress`;
    expect(received.map(({ url, body }) => [url, body])).toEqual([
      [`${path}?attempt=2&item=3`, { token: 'token1', progress: 0.4, message: '12 of 30 files' }],
      [`${path}?attempt=2`, { token: 'token2', progress: 0.5 }],
      [`${path}?attempt=2`, { token: 'token3', progress: 1 }],
    ]);
    expect(received[0]?.headers['content-type']).toBe('application/json');
  });

  it('keeps the token out of what a function may log', async () => {
    const clientContext = attempt();
    const code = wrapFunction(
      (_: unknown, context) => JSON.stringify(context),
      () => undefined,
    );
    expect(await code({}, { clientContext })).not.toContain(clientContext.token);
  });

  it('sends one report a second, and the end at once', async () => {
    const context = { clientContext: attempt() };
    const answers = [];
    for (const share of [0.1, 0.2, 1, 1]) answers.push(await reportProgress(context, share));
    expect(answers).toEqual([true, false, true, false]);
    vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 1_000);
    expect(await reportProgress(context, 0.3)).toBe(true);
    vi.restoreAllMocks();
    expect(received.length).toBe(3);
  });

  it('tells that nothing waits for an attempt that is over', async () => {
    status = 409;
    expect(await reportProgress({ clientContext: attempt() }, 0.5)).toBe(false);
  });

  it('keeps to what may be sent', async () => {
    await reportProgress({ clientContext: attempt() }, 7, '😊'.repeat(300));
    await reportProgress({ clientContext: attempt() }, -1);
    expect(await reportProgress({ clientContext: attempt() }, Number.NaN)).toBe(false);
    const bodies = received.map(({ body }) => body as { progress: number; message?: string });
    expect(bodies).toMatchObject([{ progress: 1 }, { progress: 0 }]);
    expect(bodies[0]?.message?.length).toBe(500);
  });

  it('never throws: without a run, without an API, where nobody answers', async () => {
    for (const nothing of [undefined, null, 1, {}, { clientContext: {} }, { millrace: null }]) {
      expect(await reportProgress(nothing, 0.5)).toBe(false);
    }
    const { token: _token, ...without } = attempt();
    expect(await reportProgress({ clientContext: without }, 0.5)).toBe(false);
    vi.stubEnv('MILLRACE_API_URL', 'http://127.0.0.1:1');
    expect(await reportProgress({ clientContext: attempt() }, 0.5)).toBe(false);
    vi.stubEnv('MILLRACE_API_URL', 'no address');
    expect(await reportProgress({ clientContext: attempt() }, 0.5)).toBe(false);
    vi.stubEnv('MILLRACE_API_URL', '');
    expect(await reportProgress({ clientContext: attempt() }, 0.5)).toBe(false);
    expect(received).toEqual([]);
  });
});

describe('the log of an attempt', () => {
  it('begins with the line by which it is found, where a run invoked the function', async () => {
    const print = vi.spyOn(console, 'log').mockImplementation(() => {});
    const code = wrapFunction(
      () => 1,
      () => undefined,
    );
    const clientContext = attempt({ item: 0 });
    await code({}, { clientContext, awsRequestId: 'request-1' });
    await code({}, { awsRequestId: 'request-2' });
    const lines = print.mock.calls.map(([line]) => String(line));
    print.mockRestore();
    expect(lines.length).toBe(1);
    expect(lines[0]).toContain(logKey(clientContext));
    expect(requestIdIn(lines[0] ?? '')).toBe('request-1');
    expect(lines[0]).not.toContain(clientContext.token);
  });
});

describe('a signed request', () => {
  it("carries the signature of the function's role over path, query and body", async () => {
    const credentials = { accessKeyId: 'AKID', secretAccessKey: 'secret', sessionToken: 'session' };
    const url = new URL('https://abc.execute-api.eu-central-1.amazonaws.com/v1/runs/r/nodes/b64.YQ/progress?attempt=1');
    const request = { method: 'POST', url, headers: { 'content-type': 'application/json' }, body: '{}' };
    const headers = await signedHeaders(request, credentials, 'eu-central-1');
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'x-amz-security-token': 'session' });
    expect(headers['authorization']).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKID\/\d{8}\/eu-central-1\/execute-api\/aws4_request, SignedHeaders=[\w;-]*host[\w;-]*, Signature=[0-9a-f]{64}$/,
    );
  });
});
