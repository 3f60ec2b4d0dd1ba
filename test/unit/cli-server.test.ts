import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { runHere } from './cli-capture.ts';

type Answer = { readonly status: number; readonly body: string; readonly type?: string };

let server: Server | undefined;

/** Serves one answer after another, the last one again and again; keeps what was asked. */
async function serve(...answers: readonly Answer[]): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  server = createServer((request: IncomingMessage, response) => {
    const { status, body, type = 'application/json' } = answers[Math.min(asked.length, answers.length - 1)] as Answer;
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(status, { 'content-type': type, 'retry-after': '0' }).end(body);
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

const problem = (status: number, code: string, detail: string, errors?: object[]): Answer => ({
  status,
  type: 'application/problem+json',
  body: JSON.stringify({
    type: `x/${code}`,
    title: 'T',
    status,
    code,
    detail,
    requestId: 'q',
    ...(errors && { errors }),
  }),
});
const noRuns = { status: 200, body: '{ "items": [],\n "later": 1e400 }' };

describe('a server', () => {
  it('is named by --url, by MILLRACE_URL, or is the development host', async () => {
    const { url, asked } = await serve({ status: 200, body: '{"items":[]}' });
    expect(await runHere(['runs', '--url', `${url}/`])).toEqual({ code: 0, stdout: 'No runs.', stderr: '' });
    expect(await runHere(['runs'], { env: { MILLRACE_URL: `${url}/stage/` } })).toMatchObject({ code: 0 });
    expect(asked).toEqual(['GET /v1/runs?limit=20', 'GET /stage/v1/runs?limit=20']);
  });

  it('that answers JSON is quoted unchanged with --json', async () => {
    const { url, asked } = await serve(noRuns);
    const argv = [
      'runs',
      '--json',
      '--url',
      url,
      '--pipeline',
      'a b',
      '--state',
      'failed',
      '--state',
      'ABORTED',
      '--limit',
      '5',
      '--cursor',
      'c=',
    ];
    expect(await runHere(argv)).toEqual({ code: 0, stdout: noRuns.body, stderr: '' });
    expect(asked).toEqual(['GET /v1/runs?pipeline=a%20b&state=FAILED&state=ABORTED&limit=5&cursor=c%3D']);
  });

  it('that only passes through trouble is asked again', async () => {
    const trouble = { status: 500, body: '{"message":"Internal Server Error"}' };
    const busy = problem(429, 'THROTTLED', 'Try again.');
    const { url, asked } = await serve(
      trouble,
      busy,
      { status: 503, body: '{"message":"Service Unavailable"}' },
      noRuns,
    );
    expect(await runHere(['runs', '--url', url])).toMatchObject({ code: 0 });
    expect(asked).toHaveLength(4);
  });

  it('that says what is wrong is not asked again', async () => {
    const { url, asked } = await serve(problem(500, 'INTERNAL_ERROR', 'The log has the reason.'));
    expect(await runHere(['runs', '--url', url])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'millrace: INTERNAL_ERROR: The log has the reason.',
    });
    expect(asked).toHaveLength(1);
  });
});

describe('an answer that is no success', () => {
  it.each([
    [
      ['status', 'x'],
      problem(404, 'RUN_NOT_FOUND', 'There is no run "x".'),
      1,
      'RUN_NOT_FOUND: There is no run "x". `millrace runs` lists those that are there.',
    ],
    [
      ['pipelines', 'x'],
      problem(404, 'PIPELINE_NOT_FOUND', 'There is no pipeline "x".'),
      1,
      'PIPELINE_NOT_FOUND: There is no pipeline "x". `millrace pipelines` lists those that are there.',
    ],
    [
      ['run', 'x'],
      problem(404, 'PIPELINE_NOT_FOUND', 'There is no pipeline "x".'),
      2,
      'PIPELINE_NOT_FOUND: There is no pipeline "x". `millrace pipelines` lists those that are there.',
    ],
    [
      ['runs', '--state', 'x'],
      problem(400, 'INVALID_PARAMETER', 'state: wrong.', [
        { path: 'state', code: 'A', message: 'wrong' },
        { path: 'tag', code: 'B', message: 'wrong too' },
      ]),
      2,
      'INVALID_PARAMETER: state: wrong. · tag: wrong too [B]',
    ],
    [
      ['stop', 'x'],
      { status: 403, body: '{"message":"Forbidden"}' },
      1,
      'FORBIDDEN: POST URL/v1/runs/x/stop: 403: Forbidden. Are the credentials those of the right account,',
    ],
    [
      ['explain', 'x'],
      { status: 200, body: '<html>', type: 'text/html' },
      1,
      'NOT_MILLRACE: this is no Millrace API: GET URL/v1/runs/x/explain?limit=30 answered 200 with text/html, not with JSON. Name the address of a Millrace API with --url or MILLRACE_URL.',
    ],
    [
      ['history', 'x'],
      { status: 200, body: '{"items":[{}]}' },
      1,
      'NOT_MILLRACE: this is no Millrace API: GET URL/v1/runs/x/history?limit=100 answered something else than expected at items.0.at: Invalid input: expected string, received undefined. Name',
    ],
  ])('of %j is told in one line', async (argv, answer, code, message) => {
    const { url } = await serve(answer);
    const told = await runHere([...argv, '--url', url]);
    expect({ code: told.code, stdout: told.stdout }).toEqual({ code, stdout: '' });
    expect(told.stderr.replaceAll(url, 'URL')).toContain(`millrace: ${message}`);
    expect(told.stderr).not.toContain('\n');
  });
});

describe('a name that has no address', () => {
  it.each(['', '..'])('%j is told', async (name) => {
    const { url, asked } = await serve(noRuns);
    const { code, stdout, stderr } = await runHere(['status', name, '--url', url]);
    expect({ code, stdout, asked }).toEqual({ code: 2, stdout: '', asked: [] });
    expect(stderr).toMatch(/^millrace: INVALID_NAME: runId is [^\n]+\.$/);
  });
});

describe('no server', () => {
  it('is told with the next step', async () => {
    const { url } = await serve(noRuns);
    await new Promise((closed) => server?.close(closed));
    const { code, stdout, stderr } = await runHere(['runs', '--url', url]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(
      /^millrace: SERVER_UNREACHABLE: nothing answers at http:\/\/127\.0\.0\.1:\d+ \(.*ECONNREFUSED.*\)\. Start a server with `millrace dev`, or name another one with --url or MILLRACE_URL\.$/,
    );
  });

  it.each(['nonsense', 'ftp://x', 'http://'])('is what %s names', async (url) => {
    const named = await runHere(['runs', '--url', url]);
    expect(named).toMatchObject({ code: 2, stdout: '' });
    expect(named.stderr).toBe(
      `millrace: INVALID_URL: --url: "${url}" is no address. It takes one such as http://127.0.0.1:8787.`,
    );
    expect((await runHere(['runs'], { env: { MILLRACE_URL: url } })).stderr).toContain('MILLRACE_URL: ');
  });
});
