/** T7 C98: a run that no pass can carry on ends FAILED with its reason after a bounded time, and gives back what it holds. */
import { describe, expect, it } from 'vitest';
import { workBatch } from '#scheduler/inbox-batch.ts';
import { runPass } from '#scheduler/pass.ts';
import { createApi } from './api-client.ts';

const MINUTE = 60_000;

async function running() {
  const api = createApi(() => undefined);
  const fn = { params: { function: 'fn', payload: {} } };
  const nodes = [
    { id: 'a', ...fn },
    { id: 'm', ...fn, map: { items: [1, 2] } },
    { id: 'b', dependsOn: ['a'], ...fn },
  ];
  await api.put({ name: 'p', nodes });
  const { id } = (await api.post('/v1/pipelines/p/runs', {})).body;
  await api.settle();
  // Another process, which has compiled nothing yet.
  const pipelines = { ...api.deps.pipelines };
  return { api, id, deps: { ...api.deps, pipelines } };
}

function statuses({ executions }: Awaited<ReturnType<typeof running>>['api']): string[] {
  return [...executions.started.values()].map(({ status }) => status);
}

describe('T7 C98 a run whose revision is gone', () => {
  it('is ended after ten minutes of looking for it, its executions are stopped', async () => {
    const { api, id, deps } = await running();
    deps.pipelines.readDefinition = async () => undefined;
    expect((await runPass(deps, id)).kind).toBe('damaged');
    for (let minute = 0; minute < 20; minute++) {
      api.time.now += MINUTE;
      await runPass(deps, id);
    }
    const run = await api.deps.runs.readRun(id);
    expect(run).toMatchObject({
      state: 'FAILED',
      reason: 'InternalError',
      flights: [],
      error: { name: 'Millrace.InternalError' },
    });
    expect(run?.dueAt).toBeUndefined();
    expect(statuses(api)).toEqual(['ABORTED', 'ABORTED', 'ABORTED']);
  });

  it('can be stopped at once', async () => {
    const { api, id, deps } = await running();
    deps.pipelines.readDefinition = async () => undefined;
    const outcome = await runPass(deps, id, { command: { kind: 'stop', by: 'ada' } });
    expect(outcome).toMatchObject({ kind: 'done', command: 'accepted' });
    for (let minute = 0; minute < 3; minute++) {
      api.time.now += MINUTE;
      await runPass(deps, id);
    }
    expect(await api.deps.runs.readRun(id)).toMatchObject({ state: 'ABORTED', stop: { by: 'ada' } });
  });
});

describe('T7 C98 a run over which every pass throws', () => {
  it('is ended in the end, by a fault of our own alone', async () => {
    for (const [error, state] of [
      [new TypeError('cannot read properties of undefined'), 'FAILED'],
      [new Error('the service does not answer'), 'RUNNING'],
    ] as const) {
      const { api, id, deps } = await running();
      let isBroken = true;
      const executions = {
        ...deps.executions,
        describe: async (arn: string, name: string) => {
          if (isBroken) throw error;
          return deps.executions.describe(arn, name);
        },
      };
      for (let minute = 0; minute < 30; minute++) {
        api.time.now += MINUTE;
        const message = { messageId: '1', body: JSON.stringify({ kind: 'ring', run: id }) };
        await workBatch({ ...deps, executions }, [message], () => {
          // Once it is being ended, its executions can be looked at again.
          if (minute > 20) isBroken = false;
        });
      }
      const run = await api.deps.runs.readRun(id);
      expect(run?.state === 'STOPPING' ? 'FAILED' : run?.state, String(error)).toBe(state);
    }
  });
});
