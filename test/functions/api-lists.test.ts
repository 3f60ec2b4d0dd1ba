import { describe, expect, it } from 'vitest';
import type { RunStateName } from '#domain/run.ts';
import { type Api, createApi } from './api-client.ts';

/** Writes lines of the list of runs, as passes would. */
async function addRuns(
  api: Api,
  count: number,
  stateOf: (at: number) => RunStateName,
  pipeline = 'p',
): Promise<string[]> {
  const ids: string[] = [];
  for (let at = 0; at < count; at++) {
    api.time.now += 1_000;
    const id = api.deps.ids.runId();
    ids.push(id);
    await api.deps.runs.putHeader({
      id,
      pipeline,
      revision: 'r',
      rev: 1,
      state: stateOf(at),
      createdAt: api.time.now,
      trigger: { type: 'api' },
      tags: [['parity', at % 2 === 0 ? 'even' : 'odd']],
    });
  }
  return ids;
}

async function walk(api: Api, address: string, between?: () => Promise<void>): Promise<string[]> {
  const found: string[] = [];
  let cursor = '';
  do {
    const page = await api.get(`${address}${cursor}`);
    found.push(...page.body.items.map(({ id }: { id: string }) => id));
    cursor = page.body.nextCursor ? `&cursor=${page.body.nextCursor}` : '';
    if (cursor) await between?.();
  } while (cursor);
  return found;
}

describe('GET /v1/runs', () => {
  it('lists runs newest first, with what does not change between creation, start and end', async () => {
    const api = createApi();
    await api.put({ name: 'one', nodes: [{ id: 'only', params: { function: 'fn' } }] });
    const first = (await api.post('/v1/pipelines/one/runs', { tags: { team: 'data' } })).body.id;
    await api.untilOver(first);
    api.time.now += 1_000;
    const second = (await api.post('/v1/pipelines/one/runs', {})).body.id;
    const { items } = (await api.get('/v1/runs')).body;
    expect(items).toMatchObject([
      { id: second, state: 'QUEUED' },
      { id: first, state: 'SUCCEEDED', tags: { team: 'data' }, endedAt: expect.any(String) },
    ]);
    expect((await api.get('/v1/runs?tag=team:data')).body.items).toMatchObject([{ id: first }]);
  });

  it('filters by pipeline, states, tags and creation', async () => {
    const api = createApi();
    const begun = api.time.now;
    const ids = await addRuns(api, 6, (at) => (['FAILED', 'SUCCEEDED', 'ABORTED'] as const)[at % 3] as RunStateName);
    const others = await addRuns(api, 2, () => 'FAILED', 'q');
    const at = (index: number) => encodeURIComponent(new Date(begun + index * 1_000).toISOString());
    expect(await walk(api, '/v1/runs?pipeline=q')).toEqual([...others].reverse());
    expect(await walk(api, '/v1/runs?pipeline=p&state=FAILED&state=ABORTED')).toEqual([ids[5], ids[3], ids[2], ids[0]]);
    expect(await walk(api, '/v1/runs?pipeline=p&tag=parity:odd&state=FAILED')).toEqual([ids[3]]);
    expect(await walk(api, `/v1/runs?from=${at(2)}&to=${at(4)}`)).toEqual([ids[2], ids[1]]);
    expect((await api.get('/v1/runs?pipeline=nobody')).body).toEqual({ items: [] });
  });

  it('C110: a filter holds on every page, and each match is met exactly once while runs come and end', async () => {
    const api = createApi();
    const ids = await addRuns(api, 250, (at) => (at % 2 === 0 ? 'SUCCEEDED' : 'FAILED'));
    const failed = ids.filter((_, at) => at % 2 === 1).reverse();
    let isFirst = true;
    const found = await walk(api, '/v1/runs?state=FAILED&limit=50', async () => {
      if (!isFirst) return;
      isFirst = false;
      await addRuns(api, 10, (at) => (at % 2 === 0 ? 'RUNNING' : 'FAILED'));
    });
    expect(found).toEqual(failed);
  });

  it('C110: a cursor belongs to its query; the size of a page does not', async () => {
    const api = createApi();
    await addRuns(api, 20, () => 'FAILED');
    const { nextCursor } = (await api.get('/v1/runs?state=FAILED&limit=5')).body;
    expect((await api.get(`/v1/runs?state=FAILED&limit=7&cursor=${nextCursor}`)).body.items).toHaveLength(7);
    const refused = [
      `/v1/runs?state=SUCCEEDED&cursor=${nextCursor}`,
      `/v1/runs?cursor=${nextCursor}`,
      `/v1/runs?state=FAILED&pipeline=p&cursor=${nextCursor}`,
      `/v1/runs?state=FAILED&tag=a:b&cursor=${nextCursor}`,
      `/v1/pipelines?cursor=${nextCursor}`,
      `/v1/runs?state=FAILED&cursor=${nextCursor.slice(0, -2)}`,
      `/v1/runs?state=FAILED&cursor=${nextCursor.slice(0, 30)}A${nextCursor.slice(31)}`,
      '/v1/runs?state=FAILED&cursor=garbled',
      '/v1/runs?state=FAILED&cursor=',
    ];
    for (const address of refused) {
      const answer = await api.get(address);
      expect([answer.status, answer.body.code], address).toEqual([400, 'INVALID_PAGE_TOKEN']);
    }
  });

  it('answers 100 runs at most where no limit is given', async () => {
    const api = createApi();
    await addRuns(api, 120, () => 'FAILED');
    expect((await api.get('/v1/runs')).body.items).toHaveLength(100);
    expect((await api.get('/v1/runs?limit=1000')).body.items).toHaveLength(120);
  });
});
