/** Pools over HTTP. */
import { describe, expect, it } from 'vitest';
import type { Json } from '#domain/json.ts';
import { newLimit } from '#domain/limit.ts';
import { type Api, createApi } from './api-client.ts';

describe('/v1/pools', () => {
  it('puts a pool, changes it, and looks for slots to grant each time', async () => {
    const api = createApi();
    const put = (slots: Json) => api.call('PUT', '/v1/pools/warehouse', { body: { slots } });
    expect(await put(3)).toMatchObject({ status: 200, body: { name: 'warehouse', slots: 3, held: 0 } });
    expect((await put(3)).status).toBe(200);
    const limit = await api.deps.limits.readLimit('pool/warehouse');
    expect(limit).toMatchObject({ rev: 1, slots: 3, dueAt: api.time.now });
    expect(api.rungThings).toEqual([{ kind: 'limit', id: 'pool/warehouse' }]);
    expect((await put(0)).body).toMatchObject({ slots: 0 });
    expect((await put(1000)).body).toMatchObject({ slots: 1000 });
    expect(api.rungThings).toHaveLength(3);
    expect((await api.get('/v1/pools/warehouse')).body).toEqual({
      name: 'warehouse',
      slots: 1000,
      held: 0,
      holders: [],
      waiting: { count: 0, first: [] },
    });
  });

  it.each<[what: string, name: string, body: Json, path: string]>([
    ['no slots', 'p', {}, 'slots'],
    ['fewer than none', 'p', { slots: -1 }, 'slots'],
    ['too many', 'p', { slots: 1001 }, 'slots'],
    ['text', 'p', { slots: '3' }, 'slots'],
    ['an unknown field', 'p', { slots: 3, size: 3 }, 'size'],
    ['an odd name', 'a%20b', { slots: 3 }, 'name'],
  ])('refuses %s', async (_what, name, body, path) => {
    const api = createApi();
    const answer = await api.call('PUT', `/v1/pools/${name}`, { body });
    expect([answer.status, answer.body.code, answer.body.errors[0].path]).toEqual([422, 'INVALID_REQUEST', path]);
  });

  it('lists pools by name; one that nodes only name is none yet', async () => {
    const api = createApi();
    for (const name of ['b', 'a', 'c']) await api.call('PUT', `/v1/pools/${name}`, { body: { slots: 1 } });
    await api.deps.limits.commitLimit({ ...newLimit('pool/aa', undefined), rev: 1 }, 0);
    const first = await api.get('/v1/pools?limit=2');
    expect(first.body.items.map(({ name }: { name: string }) => name)).toEqual(['a', 'b']);
    const second = await api.get(`/v1/pools?limit=2&cursor=${first.body.nextCursor}`);
    expect(second.body).toEqual({ items: [{ name: 'c', slots: 1, held: 0 }] });
    expect((await api.get('/v1/pools/aa')).body.code).toBe('POOL_NOT_FOUND');
    expect((await api.get(`/v1/engines?cursor=${first.body.nextCursor}`)).body.code).toBe('INVALID_PAGE_TOKEN');
  });
});

describe('a node that names a pool', () => {
  const put = (api: Api, slots: number) => api.call('PUT', '/v1/pools/warehouse', { body: { slots } });

  async function start(api: Api, nodes: number): Promise<string> {
    const params = { function: 'fn', payload: {} };
    await api.put({
      name: 'p',
      nodes: Array.from({ length: nodes }, (_, at) => ({ id: `n${at}`, pool: 'warehouse', params })),
    });
    const { id } = (await api.post('/v1/pipelines/p/runs', {})).body;
    await api.settle();
    return id;
  }

  const counts = async (api: Api, id: string) => (await api.get(`/v1/runs/${id}`)).body.counts;

  it('waits where there is no such pool, or one without slots, and goes on by itself (C13)', async () => {
    const api = createApi();
    const id = await start(api, 1);
    expect((await api.get(`/v1/runs/${id}/nodes/n0`)).body).toMatchObject({ state: 'QUEUED', reason: 'PoolFull' });
    await put(api, 0);
    await api.settle();
    expect(await counts(api, id)).toEqual({ QUEUED: 1 });
    expect((await api.get('/v1/pools/warehouse')).body).toMatchObject({ held: 0, waiting: { count: 1 } });
    await put(api, 1);
    await api.settle();
    expect(await counts(api, id)).toEqual({ SUCCEEDED: 1 });
    expect((await api.get('/v1/pools/warehouse')).body).toMatchObject({ held: 0, holders: [], waiting: { count: 0 } });
  });

  it('takes a slot of it; fewer slots stop nobody, more let others begin (C106)', async () => {
    const api = createApi(() => undefined);
    await put(api, 2);
    const id = await start(api, 4);
    expect(await counts(api, id)).toEqual({ RUNNING: 2, QUEUED: 2 });
    expect((await api.get('/v1/pools/warehouse')).body.holders).toEqual([
      { run: id, pipeline: 'p', slots: 2, nodes: ['n0', 'n1'] },
    ]);
    await put(api, 0);
    await api.settle();
    expect(await counts(api, id)).toEqual({ RUNNING: 2, QUEUED: 2 });
    expect((await api.get('/v1/pools/warehouse')).body).toMatchObject({ slots: 0, held: 2 });
    await put(api, 3);
    await api.settle();
    expect(await counts(api, id)).toEqual({ RUNNING: 3, QUEUED: 1 });
  });
});
