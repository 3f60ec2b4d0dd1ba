/** Scenarios (T…, U…) of engines that come, go and are replaced: what pipelines say, and what becomes of runs. */
import { describe, expect, it } from 'vitest';
import { runPass } from '#scheduler/pass.ts';
import { workThing } from '#scheduler/work-thing.ts';
import { createApi } from './api-client.ts';
import { type Behaviour, SUCCEED } from './installation.ts';

const PLACE = 'arn:aws:states:eu-central-1:111122223333:stateMachine';
const MINUTE = 60_000;

const on = (id: string, engine: string, more: object = {}) => ({ id, engine, params: {}, ...more });

interface ToldOfPipeline {
  readonly revision: string;
  readonly deleted?: true;
  readonly conditions: readonly { readonly status: string; readonly reason: string }[];
}

/** An installation without engines, of which the test ends every execution itself unless told otherwise. */
function create(behave: Behaviour = () => undefined) {
  const api = createApi(behave);
  const register = async (name: string, more: object = {}) => {
    await api.call('PUT', `/v1/engines/${name}`, { body: { stateMachineArn: `${PLACE}:millrace-${name}`, ...more } });
    await api.settle();
  };
  return {
    ...api,
    register,
    remove: async (name: string) => {
      await api.call('DELETE', `/v1/engines/${name}`);
      await api.settle();
    },
    putNodes: async (nodes: object[], more: object = {}) => {
      const { body } = await api.put({ name: 'p', nodes, ...more } as never);
      await api.settle();
      return body;
    },
    start: async (): Promise<string> => {
      const { id } = (await api.post('/v1/pipelines/p/runs', {})).body;
      await api.settle();
      return id;
    },
    nodeOf: async (id: string, of: string) => (await api.get(`/v1/runs/${id}/nodes/${of}`)).body,
    ready: async () => (await api.get('/v1/pipelines/p')).body.conditions[0],
    told: () =>
      api.events
        .filter(({ detailType }) => detailType === 'PipelineChanged')
        .map(({ detail }) => {
          const { deleted, conditions } = detail as unknown as ToldOfPipeline;
          return `${conditions[0]?.status} ${conditions[0]?.reason}${deleted ? ' deleted' : ''}`;
        }),
    ended: (state: 'SUCCEEDED' | 'FAILED') => {
      for (const { name } of api.executions.started.values()) {
        api.executions.end(name, { status: state, ...(state === 'SUCCEEDED' && { output: '1' }) });
      }
    },
  };
}

describe('a pipeline that is put', () => {
  it('U1 is Ready at once where its engine is there, and says so once', async () => {
    const api = create();
    await api.register('spark');
    const put = await api.putNodes([on('a', 'spark')]);
    expect(put.conditions).toMatchObject([{ status: 'True', observedRevision: put.revision }]);
    expect(api.told()).toEqual(['True EnginesAvailable']);
    for (let pass = 0; pass < 5; pass++) await workThing(api.deps, { kind: 'pipeline', id: 'p' });
    await api.register('spark');
    expect(api.told()).toEqual(['True EnginesAvailable']);
  });

  it('U2 and then revised leaves the runs of the revision before alone; later ones have the new one', async () => {
    const api = create();
    await api.register('spark');
    const first = await api.putNodes([on('a', 'spark'), on('b', 'spark', { dependsOn: ['a'] })]);
    const old = await api.start();
    const second = await api.putNodes([on('z', 'spark')]);
    const anew = await api.start();
    api.ended('SUCCEEDED');
    await api.settle();
    api.ended('SUCCEEDED');
    await api.untilOver(old);
    await api.untilOver(anew);
    const runs = await Promise.all([old, anew].map(async (id) => (await api.get(`/v1/runs/${id}`)).body));
    expect(runs.map(({ state }) => state)).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    expect(runs.map(({ revision }) => revision)).toEqual([first.revision, second.revision]);
    expect((await api.nodeOf(old, 'b')).state).toBe('SUCCEEDED');
  });

  it('U3 and whose new revision no engine takes does not end what runs on the one before', async () => {
    const api = create();
    await api.register('spark');
    await api.putNodes([on('a', 'spark')]);
    const old = await api.start();
    await api.putNodes([on('a', 'gpu')]);
    await api.tick(old, 20 * MINUTE);
    expect((await api.nodeOf(old, 'a')).state).toBe('RUNNING');
    api.ended('SUCCEEDED');
    expect((await api.untilOver(old)).state).toBe('SUCCEEDED');
  });

  it('U4 says of the newest revision that no engine can take it', async () => {
    const api = create();
    await api.register('spark');
    await api.putNodes([on('a', 'spark')]);
    const { revision } = await api.putNodes([on('a', 'spark'), on('train', 'gpu')]);
    expect(await api.ready()).toMatchObject({
      status: 'False',
      reason: 'NoEngine',
      message: 'no engines available to handle pipeline: "train" needs "gpu"',
      observedRevision: revision,
    });
    expect(api.told()).toEqual(['True EnginesAvailable', 'False NoEngine']);
  });

  it('U14 needs every engine that it names, and tells of changes alone', async () => {
    const api = create();
    await api.putNodes([on('a', 'spark'), on('b', 'gpu')]);
    await api.register('gpu');
    expect(await api.ready()).toMatchObject({
      status: 'False',
      message: expect.stringMatching(/: "a" needs "spark"$/),
    });
    const since = (await api.ready()).lastTransitionTime;
    expect(since).toBe('2026-11-30T12:00:00.000Z');
    await api.register('spark');
    expect((await api.ready()).status).toBe('True');
    await api.register('other');
    await api.remove('other');
    await api.register('gpu', { maxConcurrent: 4 });
    expect(api.told()).toEqual(['False NoEngine', 'False NoEngine', 'True EnginesAvailable']);
    await api.remove('gpu');
    await api.putNodes([on('a', 'spark')]);
    await api.remove('gpu');
    expect(api.told().slice(3)).toEqual(['False NoEngine', 'True EnginesAvailable']);
  });
});

describe('engines that come and go under a pipeline', () => {
  it('U6 turn it to and fro, by one rule whatever it was before', async () => {
    const api = create();
    await api.putNodes([on('a', 'spark')]);
    const steps: [string, () => Promise<unknown>][] = [
      ['True EnginesAvailable', () => api.register('spark')],
      ['False EngineDraining', () => api.post('/v1/engines/spark/drain')],
      ['True EnginesAvailable', () => api.register('spark')],
      ['False NoEngine', () => api.remove('spark')],
      ['True EnginesAvailable', () => api.register('spark')],
      ['False EngineDraining', () => api.post('/v1/engines/spark/drain')],
      ['False NoEngine', () => api.remove('spark')],
    ];
    const told = ['False NoEngine'];
    for (const [expected, change] of steps) {
      await change();
      await api.settle();
      const { status, reason } = await api.ready();
      expect(`${status} ${reason}`).toBe(expected);
      told.push(expected);
    }
    expect(api.told()).toEqual(told);
  });

  it('U5 U6 do not bring back one that is being deleted, nor its runs', async () => {
    const api = create(SUCCEED);
    await api.putNodes([on('a', 'spark')]);
    const waiting = await api.start();
    expect((await api.call('DELETE', '/v1/pipelines/p?force=true')).status).toBe(204);
    await api.register('spark');
    for (let minute = 0; minute < 4; minute++) {
      await api.tick(waiting, MINUTE);
      await workThing(api.deps, { kind: 'pipeline', id: 'p' });
      await api.settle();
    }
    expect((await api.get('/v1/pipelines/p')).status).toBe(404);
    expect((await api.get(`/v1/runs/${waiting}`)).status).toBe(404);
    expect(await api.deps.pipelines.readHead('p')).toBeUndefined();
    expect(await api.deps.limits.listWaiting('engine/spark', 9)).toEqual([]);
    expect(await api.deps.pipelines.listUses('spark', 9)).toEqual({ items: [] });
    expect(api.executions.started.size).toBe(0);
  });

  it('U18 one without an engine is put and deleted: both are told, each once', async () => {
    const api = create();
    await api.putNodes([on('a', 'spark')]);
    await api.call('DELETE', '/v1/pipelines/p');
    await api.settle();
    for (let pass = 0; pass < 3; pass++) await workThing(api.deps, { kind: 'pipeline', id: 'p' });
    expect(api.told()).toEqual(['False NoEngine', 'False NoEngine deleted']);
  });
});

describe('runs without an engine', () => {
  it('T18 wait, with the reason, without an attempt, and nothing is told or asked again', async () => {
    const api = create();
    await api.putNodes([on('a', 'spark'), on('b', 'spark'), on('c', 'spark', { dependsOn: ['a', 'b'] })]);
    const id = await api.start();
    const before = { events: api.events.length, rev: (await api.deps.runs.readRun(id))?.rev };
    let calls = 0;
    for (const name of ['start', 'describe', 'listRunning'] as const) {
      api.executions[name] = (async () => {
        calls += 1;
        return { kind: 'later', message: '' };
      }) as never;
    }
    for (let minute = 0; minute < 10; minute++) await api.tick(id, MINUTE);
    expect((await api.get(`/v1/runs/${id}`)).body).toMatchObject({ state: 'RUNNING', reason: 'NoEngine' });
    for (const of of ['a', 'b']) {
      const node = await api.nodeOf(id, of);
      expect(node).toMatchObject({ state: 'QUEUED', reason: 'NoEngine', attempt: 0 });
      expect(node).not.toHaveProperty('executionArn');
    }
    expect({ events: api.events.length, rev: (await api.deps.runs.readRun(id))?.rev }).toEqual(before);
    expect(calls).toBe(0);
  });

  it('T21 T22 are given up when their time is over, however many passes and changes came in between', async () => {
    const api = create();
    await api.putNodes([
      on('train', 'spark', { queueTimeoutSeconds: 60 }),
      on('after', 'spark', { dependsOn: ['train'] }),
      { id: 'quick', params: { function: 'fn', payload: {} } },
    ]);
    const id = await api.start();
    const { since } = await api.nodeOf(id, 'train');
    for (let pass = 0; pass < 10; pass++) {
      api.time.now += 5_000;
      await runPass(api.deps, id);
      await api.post(`/v1/pipelines/p/runs`, {});
      if (pass === 4) api.ended('SUCCEEDED');
      await api.settle();
    }
    expect(await api.nodeOf(id, 'train')).toMatchObject({ state: 'QUEUED', since });
    expect((await api.nodeOf(id, 'quick')).state).toBe('SUCCEEDED');
    api.time.now = Date.parse(since) + 60_000;
    await runPass(api.deps, id);
    expect(await api.nodeOf(id, 'train')).toMatchObject({ state: 'TIMED_OUT', reason: 'QueueTimeout', attempt: 0 });
    expect((await api.nodeOf(id, 'after')).state).toBe('UPSTREAM_FAILED');
    expect((await api.get(`/v1/runs/${id}`)).body.state).toBe('FAILED');
  });
});

describe('T20 an engine that is replaced under what runs on it', () => {
  it('keeps watching it where it was begun; what comes later goes to the new one', async () => {
    const api = create();
    await api.register('spark');
    await api.putNodes([on('a', 'spark', { retry: { maxAttempts: 2, intervalSeconds: 1 } })]);
    const id = await api.start();
    await api.remove('spark');
    await api.register('spark', { stateMachineArn: `${PLACE}:millrace-spark-new` });
    for (let minute = 0; minute < 5; minute++) await api.tick(id, MINUTE);
    expect(await api.nodeOf(id, 'a')).toMatchObject({ state: 'RUNNING', reason: 'Executing', attempt: 1 });
    expect((await api.nodeOf(id, 'a')).executionArn).toContain(':millrace-spark:');
    api.ended('FAILED');
    await api.settle();
    await api.tick(id, 2_000);
    expect(await api.nodeOf(id, 'a')).toMatchObject({ state: 'RUNNING', attempt: 2 });
    expect((await api.nodeOf(id, 'a')).executionArn).toContain(':millrace-spark-new:');
    api.ended('SUCCEEDED');
    expect((await api.untilOver(id)).state).toBe('SUCCEEDED');
    expect([...api.executions.starts.values()]).toEqual([1, 1]);
  });
});
