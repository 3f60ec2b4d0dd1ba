/** Nodes decided by hand, and runs that are deleted, over HTTP. */
import { describe, expect, it } from 'vitest';
import type { Json } from '#domain/json.ts';
import { withChildRuns } from '#scheduler/child-runs.ts';
import { type Api, createApi } from './api-client.ts';
import type { Behaviour } from './installation.ts';

const ADA = 'arn:aws:iam::111122223333:user/ada';

function node(id: string, dependsOn: string[] = [], more: { readonly [key: string]: Json } = {}) {
  return { id, dependsOn, params: { function: 'fn', payload: {} }, ...more };
}

/** `hangs` never ends by itself; the rest succeeds. */
const HANGS: Behaviour = (id) => (id === 'hangs' ? undefined : { status: 'SUCCEEDED', output: `{"of":"${id}"}` });

async function started(nodes: readonly Json[], more: { readonly [key: string]: Json } = {}, behave = HANGS) {
  const api = createApi(behave);
  Object.assign(api.deps, withChildRuns({ ...api.deps }));
  await api.put({ name: 'p', nodes, ...more } as Json & { name: string });
  const { id } = (await api.post('/v1/pipelines/p/runs')).body;
  await api.settle();
  const run = `/v1/runs/${id}`;
  const mark = (of: string, body: Json, by = ADA) => api.call('POST', `${run}/nodes/${of}/mark`, { body, by });
  const state = async (of: string) => (await api.get(`${run}/nodes/${of}`)).body.state;
  return { api, id, run, mark, state };
}

async function historyOf(api: Api, run: string, id: string) {
  const { items } = (await api.get(`${run}/history`)).body;
  return items.filter((entry: { node?: string }) => entry.node === id);
}

describe('POST /v1/runs/{runId}/nodes/{node}/mark', () => {
  it('stops what runs, goes on from there, and records who did it', async () => {
    const nodes = [
      node('hangs'),
      node('after', ['hangs'], { params: { function: 'f', payload: '{% $nodes.hangs.output %}' } }),
    ];
    const { api, run, mark } = await started(nodes, { output: '{% $nodes.hangs.output.n %}' });
    const body = { state: 'SUCCEEDED', output: { n: 7 }, note: 'done by hand' };
    const marked = await mark('hangs', body);
    expect([marked.status, marked.body.state, marked.body.reason]).toEqual([200, 'RUNNING', 'Stopping']);
    expect(marked.body.message).toContain(`Marked SUCCEEDED, by ${ADA}`);
    expect((await mark('hangs', body)).status).toBe(200);
    await api.settle();
    await api.untilOver(run.slice('/v1/runs/'.length));
    expect((await api.get(run)).body).toMatchObject({ state: 'SUCCEEDED', output: 7 });
    expect((await api.get(`${run}/nodes/hangs`)).body).toMatchObject({
      state: 'SUCCEEDED',
      reason: 'MarkedByUser',
      message: `Marked SUCCEEDED by hand, by ${ADA}: done by hand`,
      output: { n: 7 },
    });
    expect((await api.get(`${run}/nodes/hangs/output`)).body).toEqual({ n: 7 });
    expect((await historyOf(api, run, 'hangs')).at(-1)).toMatchObject({
      state: 'SUCCEEDED',
      by: ADA,
      note: 'done by hand',
    });
    const [attempt] = (await api.get(`${run}/nodes/hangs/attempts`)).body.items;
    expect(attempt).toMatchObject({ attempt: 1, state: 'ABORTED', by: ADA });
    expect([...api.executions.started.values()].map(({ status }) => status)).toEqual(['ABORTED', 'SUCCEEDED']);
    const { payload } = JSON.parse([...api.executions.started.values()][1]?.input ?? '').params;
    expect(payload).toEqual({ n: 7 });
  });

  it.each([
    ['SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED'],
    ['FAILED', 'UPSTREAM_FAILED', 'FAILED'],
    ['SKIPPED', 'SKIPPED', 'SUCCEEDED'],
  ])('marks a node that waits %s at once', async (state, below, end) => {
    const {
      api,
      run,
      id,
      mark,
      state: stateOf,
    } = await started([node('hangs'), node('waits', ['hangs']), node('below', ['waits'])]);
    const { status, body } = await mark('waits', { state });
    expect([status, body.state, body.reason]).toEqual([200, state, 'MarkedByUser']);
    expect(body.attempt).toBe(0);
    await api.settle();
    expect(await stateOf('below')).toBe(below);
    await mark('hangs', { state: 'SKIPPED' });
    await api.untilOver(id);
    expect((await api.get(run)).body.state).toBe(end);
    if (state === 'SUCCEEDED') expect((await api.get(`${run}/nodes/waits/output`)).text).toBe('null');
    if (state === 'FAILED') expect((await api.get(run)).body.error.name).toBe('Millrace.MarkedByUser');
  });

  it('marks in a paused run, between two attempts, and what waits for an engine', async () => {
    const nodes = [
      node('fails', [], { retry: { maxAttempts: 3, intervalSeconds: 600 } }),
      node('nowhere', [], { engine: 'nowhere' }),
      node('hangs'),
    ];
    const { api, run, mark, state } = await started(nodes, {}, (id) =>
      id === 'fails' ? { status: 'FAILED', error: { name: 'E', message: 'm' } } : undefined,
    );
    await api.post(`${run}/pause`);
    expect([await state('fails'), await state('nowhere')]).toEqual(['RETRY_WAIT', 'QUEUED']);
    expect((await mark('fails', { state: 'SUCCEEDED', output: 1 })).body).toMatchObject({
      state: 'SUCCEEDED',
      output: 1,
    });
    expect((await mark('nowhere', { state: 'SKIPPED' })).body).toMatchObject({ state: 'SKIPPED' });
    expect((await api.get(run)).body.state).toBe('PAUSED');
  });

  it('gives a map the output, and ends all of its items', async () => {
    const map = { items: [1, 2, 3], maxConcurrency: 2 };
    const nodes = [
      node('m', [], { map }),
      node('after', ['m'], { params: { function: 'f', payload: '{% $nodes.m.output %}' } }),
    ];
    const { api, id, run, mark } = await started(nodes, {}, (of, _attempt, item) =>
      of === 'm' && item !== 0 ? undefined : { status: 'SUCCEEDED', output: '1' },
    );
    const { body } = await mark('m', { state: 'SUCCEEDED', output: ['a'] });
    expect([body.state, body.reason]).toEqual(['RUNNING', 'Stopping']);
    await api.untilOver(id);
    const whole = (await api.get(`${run}/nodes/m`)).body;
    expect(whole).toMatchObject({ state: 'SUCCEEDED', reason: 'MarkedByUser', output: ['a'] });
    expect(whole.map).toEqual({ total: 3, counts: { SUCCEEDED: 1, ABORTED: 2 } });
    expect((await api.get(`${run}/nodes/m/output`)).body).toEqual(['a']);
    const { items } = (await api.get(`${run}/nodes/m/items`)).body;
    expect(items[1]).toMatchObject({ state: 'ABORTED', reason: 'MarkedByUser' });
    const last = [...api.executions.started.values()].at(-1);
    expect(JSON.parse(last?.input ?? '').params.payload).toEqual(['a']);
  });

  it('lets a branch choose by the output that is given', async () => {
    const nodes = [
      node('hangs', [], { branch: '{% $output.way %}' }),
      node('left', ['hangs']),
      node('right', ['hangs']),
    ];
    const { api, id, mark, state } = await started(nodes);
    await mark('hangs', { state: 'SUCCEEDED', output: { way: 'left' } });
    await api.untilOver(id);
    expect([await state('left'), await state('right')]).toEqual(['SUCCEEDED', 'SKIPPED']);
  });

  it('refuses what is over, what is stopping, and what is no mark', async () => {
    const { api, id, run, mark } = await started([node('quick'), node('hangs')]);
    const over = await mark('quick', { state: 'FAILED' });
    expect([over.status, over.body.code]).toEqual([409, 'NODE_FINISHED']);
    expect((await mark('nobody', { state: 'FAILED' })).body.code).toBe('NODE_NOT_FOUND');
    const bodies: Json[] = [
      {},
      { state: 'RUNNING' },
      { state: 'FAILED', output: 1 },
      { state: 'SUCCEEDED', output: 'x'.repeat(300_000) },
      { state: 'SKIPPED', extra: 1 },
      { state: 'SKIPPED', note: '' },
    ];
    for (const body of bodies) expect((await mark('hangs', body)).body.code).toBe('INVALID_REQUEST');
    await api.post(`${run}/stop`);
    expect((await mark('hangs', { state: 'SKIPPED' })).body.code).toBe('RUN_STOPPING');
    await api.untilOver(id);
    expect((await mark('hangs', { state: 'SKIPPED' })).body.code).toBe('NODE_FINISHED');
  });

  it('of two marks keeps the first, and says so to the other', async () => {
    const { api, id, mark } = await started([node('hangs')]);
    await mark('hangs', { state: 'SUCCEEDED', output: 1 });
    for (const body of [{ state: 'SUCCEEDED', output: 2 }, { state: 'FAILED' }]) {
      expect((await mark('hangs', body)).body.code).toBe('NODE_FINISHED');
    }
    await api.untilOver(id);
    expect((await mark('hangs', { state: 'SUCCEEDED', output: 1 })).status).toBe(200);
    expect((await mark('hangs', { state: 'SUCCEEDED', output: 2 })).body.code).toBe('NODE_FINISHED');
  });
});

describe('DELETE /v1/runs/{runId}', () => {
  it('T44 deletes a run that is over, and leaves nothing of it', async () => {
    const { api, id, run } = await started([node('a', [], { map: { items: [1, 2, 3] } }), node('b', ['a'])]);
    await api.untilOver(id);
    const record = await api.deps.runs.readRun(id);
    expect((await api.call('DELETE', run)).status).toBe(204);
    expect((await api.get(run)).status).toBe(404);
    expect((await api.call('DELETE', run)).status).toBe(204);
    for (const path of ['nodes', 'nodes/a', 'history', 'explain', 'output']) {
      expect((await api.get(`${run}/${path}`)).body.code, path).toBe('RUN_NOT_FOUND');
    }
    for (const path of ['stop', 'pause', 'resume', 'nodes/a/mark']) {
      const body = path === 'nodes/a/mark' ? { state: 'FAILED' } : {};
      expect((await api.post(`${run}/${path}`, body)).body.code, path).toBe('RUN_NOT_FOUND');
    }
    await api.settle();
    expect(await api.deps.runs.readRun(id)).toBeUndefined();
    expect(await api.deps.runs.listResults(record as { id: string; nonce: string })).toEqual([]);
    expect((await api.get('/v1/runs')).body.items).toEqual([]);
    expect((await api.call('DELETE', run)).status).toBe(404);
  });

  it('T44 D10 refuses one that is active, or stops it first', async () => {
    const { api, id, run } = await started([node('hangs'), node('after', ['hangs'])]);
    const refused = await api.call('DELETE', run);
    expect([refused.status, refused.body.code]).toEqual([409, 'ACTIVE_RUNS']);
    expect((await api.get(run)).body.state).toBe('RUNNING');
    expect((await api.call('DELETE', `${run}?force=true`)).status).toBe(204);
    expect((await api.get(run)).status).toBe(404);
    expect((await api.get('/v1/runs')).body.items).toEqual([]);
    await api.settle();
    expect(await api.deps.runs.readRun(id)).toBeUndefined();
    expect([...api.executions.started.values()].map(({ status }) => status)).toEqual(['ABORTED']);
    expect((await api.get('/v1/runs')).body.items).toEqual([]);
  });

  it('C83 lets the same key make a run anew once nothing of the old one is left', async () => {
    const api = createApi(HANGS);
    await api.put({ name: 'p', nodes: [node('hangs')] } as unknown as Json & { name: string });
    const start = () => api.post('/v1/pipelines/p/runs', {}, { 'idempotency-key': 'k' });
    const { id } = (await start()).body;
    await api.settle();
    await api.call('DELETE', `/v1/runs/${id}?force=true`);
    const early = await start();
    expect([early.status, early.body.code, early.headers['retry-after']]).toEqual([503, 'BUSY', '1']);
    await api.settle();
    await api.tick(id, 60_000);
    const anew = await start();
    expect([anew.status, anew.body.id]).toEqual([201, id]);
    await api.settle();
    expect([...api.executions.started.keys()]).toHaveLength(2);
  });
});
