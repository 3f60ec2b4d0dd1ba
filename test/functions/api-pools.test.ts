/** Pools over HTTP. */
import { describe, expect, it } from 'vitest';
import type { Json } from '#domain/json.ts';
import { newLimit } from '#domain/limit.ts';
import { createApi } from './api-client.ts';

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
