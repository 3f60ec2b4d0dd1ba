/** T7 C98: a run whose record or revision cannot be read touches nobody else, whoever has to do with it. */
import { describe, expect, it } from 'vitest';
import type { MemoryRunStore } from '#adapters/memory/memory-run-store.ts';
import { withChildRuns } from '#scheduler/child-runs.ts';
import { workThing } from '#scheduler/work-thing.ts';
import { type Api, createApi } from './api-client.ts';

const MINUTE = 60_000;
const ARN = 'arn:aws:states:eu-central-1:111122223333:stateMachine:millrace-spark';

const lambda = (id: string, dependsOn: string[] = []) => ({ id, dependsOn, params: { function: 'fn', payload: {} } });

function damage({ deps }: Api, run: string): void {
  const { stored } = deps.runs as MemoryRunStore;
  const packed = stored.get(run);
  if (packed) stored.set(run, { ...packed, body: '{"damaged":true}' });
}

describe('T7 C98 a damaged run', () => {
  it('that was granted a slot keeps nobody from hearing of a change of its engine', async () => {
    const api = createApi(() => undefined);
    const register = (maxConcurrent: number) =>
      api.call('PUT', '/v1/engines/spark', { body: { stateMachineArn: ARN, maxConcurrent } });
    await register(1);
    for (const name of ['p', 'q']) await api.put({ name, nodes: [{ id: 'a', engine: 'spark', params: {} }] });
    await api.settle();
    const start = async (pipeline: string): Promise<string> => {
      const { id } = (await api.post(`/v1/pipelines/${pipeline}/runs`, {})).body;
      await api.settle();
      return id;
    };
    const first = await start('p');
    const bad = await start('p');
    const good = await start('q');
    const [execution] = [...api.executions.started.values()];
    // The slot is granted to the next in line, which is damaged before it hears of that.
    damage(api, bad);
    api.executions.end(execution?.name ?? '', { status: 'SUCCEEDED', output: '1' });
    await api.settle();
    expect((await api.get(`/v1/runs/${first}`)).body.state).toBe('SUCCEEDED');
    await api.call('DELETE', '/v1/engines/spark');
    await api.settle();
    expect((await api.get('/v1/pipelines/q')).body.conditions).toMatchObject([{ status: 'False' }]);
    await register(2);
    await api.settle();
    expect((await api.get('/v1/pipelines/q')).body.conditions).toMatchObject([{ status: 'True' }]);
    for (let minute = 0; minute < 3; minute++) {
      await workThing(api.deps, { kind: 'limit', id: 'engine/spark' });
      await api.tick(good, MINUTE);
    }
    expect((await api.get(`/v1/runs/${good}/nodes/a`)).body.state).toBe('RUNNING');
    expect((await api.get('/v1/engines/spark')).status).toBe(200);
  });

  it('that is the child of another one ends the attempt that waits for it, and holds up nothing beside it', async () => {
    const api = createApi(() => undefined);
    Object.assign(api.deps, withChildRuns({ ...api.deps }));
    await api.put({ name: 'child', nodes: [lambda('work')] });
    const call = { id: 'call', engine: 'pipeline', params: { pipeline: 'child' } };
    await api.put({ name: 'parent', nodes: [call, lambda('beside'), lambda('after', ['beside'])] } as never);
    const { id } = (await api.post('/v1/pipelines/parent/runs', {})).body;
    await api.settle();
    const { items } = (await api.get('/v1/runs?pipeline=child')).body;
    damage(api, items[0].id);
    await api.tick(id, MINUTE);
    for (const { name, input } of api.executions.started.values()) {
      if (input.includes('"beside"')) api.executions.end(name, { status: 'SUCCEEDED', output: '1' });
    }
    await api.tick(id, MINUTE);
    expect((await api.get(`/v1/runs/${id}/nodes/after`)).body.state).toBe('RUNNING');
    for (let minute = 0; minute < 10; minute++) await api.tick(id, MINUTE);
    expect((await api.get(`/v1/runs/${id}/nodes/call`)).body).toMatchObject({
      state: 'FAILED',
      error: { name: 'Millrace.ExecutionLost' },
    });
  });

  it('that is the child of a run that is stopped does not keep it from ending', async () => {
    const api = createApi(() => undefined);
    Object.assign(api.deps, withChildRuns({ ...api.deps }));
    await api.put({ name: 'child', nodes: [lambda('work')] });
    await api.put({ name: 'parent', nodes: [{ id: 'call', engine: 'pipeline', params: { pipeline: 'child' } }] });
    const { id } = (await api.post('/v1/pipelines/parent/runs', {})).body;
    await api.settle();
    const { items } = (await api.get('/v1/runs?pipeline=child')).body;
    damage(api, items[0].id);
    expect((await api.post(`/v1/runs/${id}/stop`)).status).toBe(202);
    expect((await api.untilOver(id)).state).toBe('ABORTED');
  });
});
