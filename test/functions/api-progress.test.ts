/** Progress of running attempts over HTTP: reported by a node's own code, shown, and never lowered. */
import { describe, expect, it } from 'vitest';
import type { MemoryExecution } from '#adapters/memory/memory-executions.ts';
import type { Json } from '#domain/json.ts';
import { type Api, createApi } from './api-client.ts';

const SLOW = { id: 'slow', heartbeatSeconds: 60, params: { function: 'fn' } };

interface Attempt {
  readonly attempt: number;
  readonly item?: number;
  readonly token: string;
}

function attemptsOf(api: Api, node: string): Attempt[] {
  const toAttempt = ({ input }: MemoryExecution) =>
    (JSON.parse(input) as { millrace: Attempt & { node: string } }).millrace;
  return [...api.executions.started.values()].map(toAttempt).filter((one) => one.node === node);
}

async function started(nodes: readonly Json[]) {
  const api = createApi(() => undefined);
  expect((await api.put({ name: 'p', nodes } as Json & { name: string })).status).toBe(201);
  const { id } = (await api.post('/v1/pipelines/p/runs', {})).body;
  await api.settle();
  const run = `/v1/runs/${id}`;
  const report = (of: string, body: Json, query = '') => api.post(`${run}/nodes/${of}/progress${query}`, body);
  return { api, id, run, report, tokenOf: (node: string, at = -1) => attemptsOf(api, node).at(at)?.token as string };
}

describe('the progress of a running node', () => {
  it('is shown in the node, its attempt, the explanation and the run', async () => {
    const { api, run, report, tokenOf } = await started([
      SLOW,
      { id: 'after', dependsOn: ['slow'], params: { function: 'fn' } },
    ]);
    const at = new Date(api.time.now).toISOString();
    const said = { progress: 0.4, message: '12 of 30 files' };
    expect((await report('slow', { token: tokenOf('slow'), ...said })).status).toBe(204);
    const node = (await api.get(`${run}/nodes/slow`)).body;
    expect(node).toMatchObject({ state: 'RUNNING', progress: 0.4, report: { ...said, at } });
    expect(node.message).toContain('; 40 % done (12 of 30 files), as it said at ');
    expect((await api.get(`${run}/nodes`)).body.items[0]).toEqual(node);
    expect((await api.get(`${run}/nodes/slow/attempts`)).body.items).toMatchObject([{ report: { ...said, at } }]);
    const [explained] = (await api.get(`${run}/explain`)).body.items;
    expect(explained.report).toEqual({ ...said, at });
    expect((await api.get(run)).body.progress).toBe(0.2);
  });

  it('T8 T17 is never lowered, is kept once a second, and its end at once', async () => {
    const { api, run, report, tokenOf } = await started([SLOW]);
    const token = tokenOf('slow');
    const shown = async () => (await api.get(`${run}/nodes/slow`)).body.report;
    await report('slow', { token, progress: 0.5, message: 'half' });
    await report('slow', { token, progress: 0.7 });
    expect(await shown()).toMatchObject({ progress: 0.5, message: 'half' });
    api.time.now += 1_000;
    await report('slow', { token, progress: 0.1, message: 'back' });
    expect(await shown()).toEqual({ progress: 0.5, message: 'back', at: new Date(api.time.now).toISOString() });
    await report('slow', { token, progress: 1 });
    expect(await shown()).toMatchObject({ progress: 1 });
  });

  it('is that of each item in a map, which counts as before', async () => {
    const { api, run, report } = await started([{ ...SLOW, map: { items: ['a', 'b'] } }]);
    const [first, second] = attemptsOf(api, 'slow') as [Attempt, Attempt];
    expect((await report('slow', { token: first.token, progress: 0.3 }, '?item=0&attempt=1')).status).toBe(204);
    expect((await report('slow', { token: first.token, progress: 0.3 }, '?item=1')).body.code).toBe('INVALID_TOKEN');
    expect((await report('slow', { token: second.token, progress: 0.3 })).body.code).toBe('INVALID_TOKEN');
    const { items } = (await api.get(`${run}/nodes/slow/items`)).body;
    expect(items.map((item: { report?: Json }) => item.report)).toMatchObject([{ progress: 0.3 }, undefined]);
    expect((await api.get(`${run}/nodes/slow`)).body.progress).toBe(0);
  });
});

describe('a report that is not taken', () => {
  it('answers that the attempt is over, for one before the last, one being ended, and after the end', async () => {
    const retry = { maxAttempts: 3, intervalSeconds: 1 };
    const { api, id, run, report, tokenOf } = await started([{ ...SLOW, retry }]);
    await api.tick(id, 61_000);
    await api.tick(id, 61_000);
    await api.tick(id, 61_000);
    expect((await api.get(`${run}/nodes/slow`)).body).toMatchObject({ attempt: 2, state: 'RUNNING' });
    const first = tokenOf('slow', 0);
    expect((await report('slow', { token: first, progress: 0.1 })).body.code).toBe('ATTEMPT_OVER');
    expect((await report('slow', { token: first, progress: 0.1 }, '?attempt=1')).body.code).toBe('ATTEMPT_OVER');
    expect((await report('slow', { token: first, progress: 0.1 }, '?attempt=2')).body.code).toBe('INVALID_TOKEN');
    const second = tokenOf('slow', 1);
    expect((await report('slow', { token: second, progress: 0.1 })).status).toBe(204);
    await api.post(`${run}/stop`, {});
    expect((await report('slow', { token: second, progress: 0.2 })).body.code).toBe('ATTEMPT_OVER');
    await api.untilOver(id);
    expect((await report('slow', { token: second, progress: 0.2 })).body.code).toBe('ATTEMPT_OVER');
    expect((await api.get(`${run}/nodes/slow`)).body.report).toBeUndefined();
  });

  it('T8 is refused where it is none, where the token is another, where there is no such run', async () => {
    const { api, report, tokenOf } = await started([SLOW, { ...SLOW, id: 'other' }]);
    const token = tokenOf('slow');
    for (const body of [
      { token, progress: 1.1 },
      { token, progress: -0.1 },
      { token, progress: '1' },
      { token },
      { progress: 1 },
      { token, progress: 1, message: 'x'.repeat(501) },
      { token, progress: 1, extra: 1 },
    ]) {
      expect((await report('slow', body as Json)).body.code, JSON.stringify(body)).toBe('INVALID_REQUEST');
    }
    expect((await report('slow', { token: `${token}x`, progress: 1 })).body.code).toBe('INVALID_TOKEN');
    expect((await report('other', { token, progress: 1 })).body.code).toBe('INVALID_TOKEN');
    expect((await report('none', { token, progress: 1 })).body.code).toBe('NODE_NOT_FOUND');
    expect((await api.post(`/v1/runs/${'a'.repeat(26)}/nodes/slow/progress`, { token, progress: 1 })).body.code).toBe(
      'RUN_NOT_FOUND',
    );
    expect((await report('slow', { token, progress: 1 }, '?attempt=0')).body.code).toBe('INVALID_PARAMETER');
  });
});

describe('a node that has to report', () => {
  it('is overdue, then stopped, then ended with its reason', async () => {
    const { api, id, run } = await started([SLOW]);
    await api.tick(id, 60_000);
    api.time.now += 5_000;
    expect((await api.get(`${run}/nodes/slow`)).body).toMatchObject({ state: 'RUNNING', reason: 'Overdue' });
    await api.tick(id, 60_000);
    expect((await api.get(`${run}/nodes/slow`)).body).toMatchObject({
      state: 'TIMED_OUT',
      reason: 'HeartbeatTimeout',
      message: 'Failed: Millrace.HeartbeatTimeout: attempt 1 did not report for 60 s',
      error: { name: 'Millrace.HeartbeatTimeout' },
    });
    expect((await api.get(`${run}/nodes/slow/attempts`)).body.items).toMatchObject([{ state: 'TIMED_OUT' }]);
    expect((await api.get(run)).body).toMatchObject({ state: 'FAILED', error: { node: 'slow' } });
  });

  it('tells until when it has to report, and goes on when it does', async () => {
    const { api, id, run, report, tokenOf } = await started([SLOW]);
    await api.tick(id, 60_000);
    await report('slow', { token: tokenOf('slow'), progress: 0.1 });
    const reportedAt = api.time.now;
    const [explained] = (await api.get(`${run}/explain`)).body.items;
    expect(explained.deadline).toBe(new Date(reportedAt + 63_000).toISOString());
    await api.tick(id, 62_000);
    expect((await api.get(`${run}/nodes/slow`)).body).toMatchObject({ state: 'RUNNING', reason: 'Executing' });
    await api.tick(id, 60_000);
    expect((await api.get(`${run}/nodes/slow`)).body.state).toBe('TIMED_OUT');
  });

  it('counts in the progress of a run, which reads twenty reports at most, those that are owed first', async () => {
    const free = Array.from({ length: 30 }, (_, at) => ({ id: `n${at}`, params: { function: 'fn' } }));
    const { api, run, report, tokenOf } = await started([...free, SLOW]);
    await report('slow', { token: tokenOf('slow'), progress: 0.5 });
    let reads = 0;
    const { readReport } = api.deps.reports;
    api.deps.reports.readReport = async (...of) => {
      reads += 1;
      return readReport(...of);
    };
    expect((await api.get(run)).body.progress).toBeCloseTo(0.5 / 31);
    expect(reads).toBe(20);
  });

  it('reads no reports where nobody has to make any', async () => {
    const api = createApi(() => undefined);
    let reads = 0;
    api.deps.reports.readReport = async () => {
      reads += 1;
      return undefined;
    };
    await api.put({ name: 'p', nodes: [{ id: 'a', params: { function: 'fn' } }] });
    const { id } = (await api.post('/v1/pipelines/p/runs', {})).body;
    await api.settle();
    for (let minute = 0; minute < 5; minute++) await api.tick(id, 60_000);
    expect(reads).toBe(0);
  });
});
