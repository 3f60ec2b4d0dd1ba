/** Runs on registered engines: they wait for one, run on it, are checked by its schema, and outlive it. */
import { describe, expect, it } from 'vitest';
import type { Json } from '#domain/json.ts';
import { type Api, createApi } from './api-client.ts';
import { SUCCEED } from './installation.ts';

const ARN = 'arn:aws:states:eu-central-1:111122223333:stateMachine:millrace-spark';

const register = (api: Api, more: { [field: string]: Json } = {}) =>
  api.call('PUT', '/v1/engines/spark', { body: { stateMachineArn: ARN, ...more } });

async function start(api: Api, params: Json = { jar: 's3://jars/a.jar' }, more: object = {}): Promise<string> {
  await api.put({ name: 'p', nodes: [{ id: 'count', engine: 'spark', params, ...more }] } as never);
  const { id } = (await api.post('/v1/pipelines/p/runs', {})).body;
  await api.settle();
  return id;
}

const nodeOf = async (api: Api, id: string) => (await api.get(`/v1/runs/${id}/nodes/count`)).body;

describe('a run on a registered engine', () => {
  it('waits until there is one, goes on by itself, and runs on its state machine', async () => {
    const api = createApi();
    const id = await start(api);
    expect(await nodeOf(api, id)).toMatchObject({ state: 'QUEUED', reason: 'NoEngine' });
    await register(api);
    await api.settle();
    expect(await nodeOf(api, id)).toMatchObject({ state: 'SUCCEEDED', engine: 'spark' });
    expect([...api.executions.started.values()].map(({ stateMachineArn }) => stateMachineArn)).toEqual([ARN]);
  });

  it('waits while it drains, and goes on once it is put again', async () => {
    const api = createApi();
    await register(api, { maxConcurrent: 1 });
    await api.post('/v1/engines/spark/drain');
    await api.settle();
    const id = await start(api);
    expect(await nodeOf(api, id)).toMatchObject({ state: 'QUEUED', reason: 'EngineDraining' });
    await register(api, { maxConcurrent: 1 });
    await api.settle();
    expect((await nodeOf(api, id)).state).toBe('SUCCEEDED');
  });

  it('shows which node holds the slot', async () => {
    const api = createApi(() => undefined);
    await register(api, { maxConcurrent: 1 });
    const id = await start(api);
    const { body } = await api.get('/v1/engines/spark');
    expect(body).toMatchObject({ running: 1, holders: [{ run: id, pipeline: 'p', slots: 1, nodes: ['count'] }] });
    const second = (await api.post('/v1/pipelines/p/runs', {})).body.id;
    await api.settle();
    expect(await nodeOf(api, second)).toMatchObject({ state: 'QUEUED', reason: 'EngineFull' });
    expect((await api.get('/v1/engines/spark')).body.waiting).toMatchObject({ count: 1, first: [{ run: second }] });
  });

  it('is watched to its end on an engine that is removed', async () => {
    const ends = { now: false };
    const api = createApi((...of) => (ends.now ? SUCCEED(...of) : undefined));
    await register(api);
    const id = await start(api);
    await api.call('DELETE', '/v1/engines/spark');
    await api.settle();
    expect((await nodeOf(api, id)).state).toBe('RUNNING');
    ends.now = true;
    await api.untilOver(id);
    expect((await nodeOf(api, id)).state).toBe('SUCCEEDED');
  });
});

describe('paramsSchema', () => {
  const paramsSchema = {
    type: 'object',
    properties: { jar: { type: 'string' }, workers: { type: 'integer', maximum: 8 } },
    required: ['jar'],
    additionalProperties: false,
  };

  it('T48 is held against what the params come to, before anything starts, and never twice', async () => {
    const api = createApi();
    await register(api, { paramsSchema });
    const retry = { maxAttempts: 3 };
    const id = await start(api, { jar: 'a.jar', workers: '{% 4 * 4 %}' }, { retry });
    const node = await nodeOf(api, id);
    expect(node).toMatchObject({ state: 'FAILED', error: { name: 'Millrace.InvalidParams' } });
    expect(node.error.message).toContain('the engine "spark" does not take them: params/workers: ');
    expect(api.executions.started.size).toBe(0);
    expect((await api.get(`/v1/runs/${id}`)).body.state).toBe('FAILED');
  });

  it('lets through what fits', async () => {
    const api = createApi();
    await register(api, { paramsSchema });
    const id = await start(api, { jar: 'a.jar', workers: '{% 2 * 4 %}' });
    expect((await nodeOf(api, id)).state).toBe('SUCCEEDED');
  });
});

describe('a state machine that is gone', () => {
  it('fails the attempt that found out; from then on nodes wait until it is back', async () => {
    const api = createApi();
    await register(api);
    api.executions.missingMachines.add(ARN);
    const first = await start(api);
    expect(await nodeOf(api, first)).toMatchObject({ state: 'FAILED', error: { name: 'Millrace.EngineError' } });
    expect((await api.get('/v1/engines/spark')).body).toMatchObject({
      status: 'Unavailable',
      reason: 'StateMachineGone',
    });
    const second = (await api.post('/v1/pipelines/p/runs', {})).body.id;
    await api.settle();
    expect((await nodeOf(api, second)).state).toBe('QUEUED');
    api.executions.missingMachines.clear();
    await register(api);
    await api.settle();
    expect((await nodeOf(api, second)).state).toBe('SUCCEEDED');
  });
});
