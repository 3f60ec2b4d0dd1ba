/** What waits for a limit says so over HTTP as the limit stands, with few reads. */
import { describe, expect, it } from 'vitest';
import type { Json } from '#domain/json.ts';
import { type Api, createApi } from './api-client.ts';

const ARN = 'arn:aws:states:eu-central-1:111122223333:stateMachine:millrace-spark';

const register = (api: Api, name: string, more: { [field: string]: Json } = {}) =>
  api.call('PUT', `/v1/engines/${name}`, { body: { stateMachineArn: ARN, ...more } });

async function start(api: Api, pipeline: string): Promise<string> {
  const { id } = (await api.post(`/v1/pipelines/${pipeline}/runs`, {})).body;
  await api.settle();
  return id;
}

describe('a run behind others', () => {
  it('names the holder, and counts who waits before it, in its nodes, in explain and as a whole', async () => {
    const api = createApi(() => undefined);
    await register(api, 'spark', { maxConcurrent: 1 });
    const nodes = [{ id: 'count', engine: 'spark', params: {} }];
    await api.put({ name: 'p', nodes } as never);
    const [first, , third] = [await start(api, 'p'), await start(api, 'p'), await start(api, 'p')];
    const message = `Waits for a slot of engine "spark": the only one is taken by run ${first}. 1 run of its pipeline waits before it.`;
    expect((await api.get(`/v1/runs/${third}/nodes`)).body.items[0]).toMatchObject({
      state: 'QUEUED',
      reason: 'EngineFull',
      message,
    });
    const { body } = await api.get(`/v1/runs/${third}/explain`);
    expect(body.items[0]).toMatchObject({
      message,
      engine: 'spark',
      movedBy: 'The end of an attempt on engine "spark".',
    });
    expect(body.run).toMatchObject({ reason: 'EngineFull', movedBy: 'The end of an attempt on engine "spark".' });
    expect((await api.get(`/v1/runs/${third}`)).body.message).toContain(message);
  });

  it('names the runs that are active while it waits for its turn, and says when its pipeline is paused', async () => {
    const api = createApi(() => undefined);
    const nodes = [{ id: 'work', params: { function: 'fn', payload: {} } }];
    await api.put({ name: 'turns', nodes, concurrency: { maxActiveRuns: 1 } } as never);
    const [first, second] = [await start(api, 'turns'), await start(api, 'turns')];
    expect((await api.get(`/v1/runs/${second}`)).body).toMatchObject({
      state: 'QUEUED',
      reason: 'ActiveRunsLimit',
      message: `Waits for its turn: as many runs of "turns" are active as may be (1): run ${first}.`,
    });
    await api.tick(first, 1_000);
    await api.post('/v1/pipelines/turns/pause');
    await api.settle();
    expect((await api.get(`/v1/runs/${second}/explain`)).body.run).toMatchObject({
      reason: 'PipelinePaused',
      movedBy: 'Resume pipeline "turns", or stop the run.',
    });
  });

  it('begins once its pipeline has no number of active runs any more', async () => {
    const api = createApi(() => undefined);
    const nodes = [{ id: 'work', params: { function: 'fn', payload: {} } }];
    await api.put({ name: 'turns', nodes, concurrency: { maxActiveRuns: 1 } } as never);
    const ids = [await start(api, 'turns'), await start(api, 'turns'), await start(api, 'turns')];
    await api.put({ name: 'turns', nodes } as never);
    await api.settle();
    const states = await Promise.all(ids.map(async (id) => (await api.get(`/v1/runs/${id}`)).body.state));
    expect(states).toEqual(['RUNNING', 'RUNNING', 'RUNNING']);
  });

  it('begins though its revision asks for a turn, and the pipeline has none to give', async () => {
    const api = createApi(() => undefined);
    const nodes = [{ id: 'work', params: { function: 'fn', payload: {} } }];
    const first = await api.put({ name: 'turns', nodes, concurrency: { maxActiveRuns: 1 } } as never);
    await api.put({ name: 'turns', nodes } as never);
    const { body } = await api.post('/v1/pipelines/turns/runs', { revision: first.body.revision });
    await api.settle();
    expect((await api.get(`/v1/runs/${body.id}`)).body).toMatchObject({
      state: 'RUNNING',
      revision: first.body.revision,
    });
  });
});

describe('a run that waits for many engines', () => {
  it('is told in full for ten of them, and for the others without their holders', async () => {
    const api = createApi(() => undefined);
    const names = Array.from({ length: 12 }, (_, at) => `e${at}`);
    for (const name of names) await register(api, name, { maxConcurrent: 1 });
    const nodes = names.map((engine) => ({ id: engine, engine, params: {} }));
    await api.put({ name: 'first', nodes } as never);
    await api.put({ name: 'second', nodes } as never);
    await start(api, 'first');
    const waiting = await start(api, 'second');
    const { items } = (await api.get(`/v1/runs/${waiting}/explain`)).body;
    const told = items.map(({ message }: { readonly message: string }) => message.includes('is taken by run'));
    expect(told).toEqual(names.map((_, at) => at < 10));
    expect(items.at(-1)).toMatchObject({ reason: 'EngineFull', message: 'Waits for a slot of engine "e11".' });
  });
});
