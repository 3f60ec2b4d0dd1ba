import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseFrom } from '../../src/cli/node-options.ts';
import { runHere } from './cli-capture.ts';

const RUN = {
  id: 'b'.repeat(26),
  pipeline: 'etl',
  revision: 'r',
  state: 'QUEUED',
  reason: 'Starting',
  message: 'm',
  since: '2026-11-30T12:00:00.000Z',
  input: {},
  createdAt: '2026-11-30T12:00:00.000Z',
  trigger: { type: 'rerun', runId: 'a'.repeat(26) },
  tags: {},
  progress: 0,
  counts: {},
  rev: 1,
};

let server: Server;
let url: string;
const asked: { readonly path: string | undefined; readonly body: unknown; readonly hasKey: boolean }[] = [];

beforeEach(async () => {
  asked.length = 0;
  server = createServer(async (request, response) => {
    const body = await text(request);
    const hasKey = request.headers['idempotency-key'] !== undefined;
    asked.push({ path: request.url, body: body && JSON.parse(body), hasKey });
    const pipeline = {
      ...RUN,
      name: 'etl',
      updatedAt: RUN.createdAt,
      paused: false,
      conditions: [],
      definition: { name: 'etl', nodes: [] },
    };
    const answer = request.method === 'GET' ? pipeline : RUN;
    response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(() => void server.close());

describe('millrace rerun', () => {
  it('starts a run again from what failed, on its own revision, unless told otherwise', async () => {
    const { code, stdout } = await runHere(['rerun', RUN.trigger.runId, '--url', url]);
    expect(code).toBe(0);
    expect(stdout).toContain(`Run ${RUN.id} of etl was started`);
    const path = `/v1/runs/${RUN.trigger.runId}/rerun`;
    expect(asked).toEqual([{ path, body: { from: 'failed', revision: 'original' }, hasKey: true }]);
  });

  it('sends nodes, marks, revision and input', async () => {
    const argv = ['rerun', 'x', '--from', 'load,check', '--latest', '--input', '{"n":1}', '--url', url, '--json'];
    const marks = ['--mark', 'a=b=SUCCEEDED:{"rows":3}', '--mark', 'c=skipped', '--mark', 'd=FAILED'];
    expect((await runHere([...argv, ...marks])).code).toBe(0);
    expect(asked[0]?.body).toEqual({
      from: ['load', 'check'],
      revision: 'latest',
      input: { n: 1 },
      mark: { 'a=b': { state: 'SUCCEEDED', output: { rows: 3 } }, c: { state: 'SKIPPED' }, d: { state: 'FAILED' } },
    });
  });

  it('refuses marks and ids that are none, before anything is sent', async () => {
    const send = async (...argv: string[]) => (await runHere(['rerun', 'x', '--url', url, ...argv])).code;
    expect(await send('--mark', 'a')).toBe(2);
    expect(await send('--mark', 'a=DONE')).toBe(2);
    expect(await send('--mark', 'a=SUCCEEDED:{')).toBe(2);
    expect(await send('--from', '[1]')).toBe(2);
    expect(asked).toEqual([]);
  });

  it('takes ids with commas as JSON', () => {
    expect(parseFrom('["a,b", "c"]')).toEqual(['a,b', 'c']);
    expect(parseFrom('all')).toBe('all');
  });
});

describe('millrace run', () => {
  it('starts in part', async () => {
    const { code } = await runHere(['run', 'etl', '--only', 'a,b', '--reuse', 'r1', '--url', url]);
    expect([code, asked.at(-1)?.body]).toEqual([0, { only: ['a', 'b'], reuse: { runId: 'r1' } }]);
  });
});
