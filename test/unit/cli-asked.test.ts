/** `millrace mark`, `answer` and `delete`: what they send, and what they say. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { runHere } from './cli-capture.ts';

let server: Server | undefined;

/** A server that answers everything alike; gives what it was asked. */
async function serve(status: number, answer: object | undefined) {
  const asked: [call: string, body: unknown][] = [];
  server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    asked.push([`${request.method} ${request.url}`, text === '' ? undefined : JSON.parse(text)]);
    response.writeHead(status, { 'content-type': 'application/json' }).end(answer && JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { asked, run: (...argv: string[]) => runHere([...argv, '--url', url]) };
}

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
  server = undefined;
});

const WORK = { reason: 'MarkedByUser', since: '2026-11-30T12:00:00.000Z', attempt: 1 };
const NODE = { id: 'load', state: 'SUCCEEDED', message: 'Marked SUCCEEDED by hand: by me', ...WORK, engine: 'lambda' };

describe('millrace mark', () => {
  it.each<[string[], object]>([
    [['SUCCEEDED'], { state: 'SUCCEEDED' }],
    [
      ['SUCCEEDED', '--output', '{"rows": 3}', '--note', 'why'],
      { state: 'SUCCEEDED', output: { rows: 3 }, note: 'why' },
    ],
    [['SKIPPED'], { state: 'SKIPPED' }],
  ])('%j', async (options, body) => {
    const { asked, run } = await serve(200, NODE);
    const told = { code: 0, stdout: 'Node load is SUCCEEDED: Marked SUCCEEDED by hand: by me', stderr: '' };
    expect(await run('mark', 'r1', 'load', ...options)).toEqual(told);
    expect(asked).toEqual([['POST /v1/runs/r1/nodes/load/mark', body]]);
  });

  it('finds nodes whatever their id, and prints the answer with --json', async () => {
    const { asked, run } = await serve(200, NODE);
    expect((await run('mark', 'r1', 'a/b c', 'FAILED', '--json')).stdout).toBe(JSON.stringify(NODE));
    expect(asked[0]?.[0]).toBe('POST /v1/runs/r1/nodes/b64.YS9iIGM/mark');
  });

  it('refuses what is no state and no JSON', async () => {
    const { asked, run } = await serve(200, NODE);
    expect(await run('mark', 'r1', 'load', 'DONE')).toMatchObject({ code: 2, stdout: '' });
    expect((await run('mark', 'r1', 'load', 'SUCCEEDED', '--output', '{')).stderr).toContain('INVALID_INPUT');
    expect(asked).toEqual([]);
  });
});

describe('millrace answer', () => {
  it.each<[string[], string, object]>([
    [['--approve'], '', { approve: true }],
    [['--deny', '--comment', 'no'], '', { approve: false, comment: 'no' }],
    [['--approve', '--output', '1', '--item', '7'], '?item=7', { approve: true, output: 1 }],
  ])('%j', async (options, query, body) => {
    const { asked, run } = await serve(200, NODE);
    expect(await run('answer', 'r1', 'load', ...options)).toMatchObject({ code: 0 });
    expect(asked).toEqual([[`POST /v1/runs/r1/nodes/load/answer${query}`, body]]);
  });

  it('tells of an item by its index', async () => {
    const { run } = await serve(200, { index: 7, state: 'FAILED', message: 'Failed.', ...WORK });
    expect((await run('answer', 'r1', 'load', '--deny', '--item', '7')).stdout).toBe('Item 7 is FAILED: Failed.');
  });

  it.each([[[]], [['--approve', '--deny']]])('takes one of two answers, not %j', async (options) => {
    const { asked, run } = await serve(200, NODE);
    expect((await run('answer', 'r1', 'load', ...options)).stderr).toContain('either --approve or --deny');
    expect(asked).toEqual([]);
  });
});

describe('millrace delete', () => {
  it('says so, and forces it where it is told to', async () => {
    const { asked, run } = await serve(204, undefined);
    expect(await run('delete', 'r1')).toEqual({ code: 0, stdout: 'Run r1 is deleted.', stderr: '' });
    expect(await run('delete', 'r1', '--force', '--json')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(asked.map(([call]) => call)).toEqual(['DELETE /v1/runs/r1', 'DELETE /v1/runs/r1?force=true']);
  });
});
