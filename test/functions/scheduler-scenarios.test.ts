/** Scenarios (T…) of ticks, messages and many runs: who is rung, how often a run is passed over, and bursts. */
import { describe, expect, it } from 'vitest';
import type { PassLine } from '#scheduler/deps.ts';
import { runPass } from '#scheduler/pass.ts';
import { runTick } from '#scheduler/tick.ts';
import { createHandler } from '../../functions/scheduler/handler.ts';
import { createApi } from './api-client.ts';
import { type Behaviour, SUCCEED } from './installation.ts';

const MINUTE = 60_000;
const NODES = [{ id: 'a', params: { function: 'fn', payload: {} } }];

async function create(behave: Behaviour = () => undefined, more: object = {}) {
  const api = createApi(behave);
  await api.put({ name: 'p', nodes: NODES, ...more } as never);
  await api.settle();
  const start = async (pipeline = 'p'): Promise<string> =>
    (await api.post(`/v1/pipelines/${pipeline}/runs`, {})).body.id;
  /** What a tick rings. */
  const tickOnce = async (): Promise<string[]> => {
    api.rings.length = 0;
    await runTick(api.deps);
    return api.rings.splice(0);
  };
  return { ...api, start, tickOnce };
}

describe('ticks', () => {
  it('T28 of an installation without runs ring nobody', async () => {
    const api = createApi();
    for (let minute = 0; minute < 3; minute++) {
      api.time.now += MINUTE;
      expect(await runTick(api.deps)).toBe(0);
    }
    expect([api.rings, api.rungThings, api.events]).toEqual([[], [], []]);
  });

  it('T29 at once, and passes at once, start each attempt once and commit its start once', async () => {
    const api = await create();
    const id = await api.start();
    api.rings.length = 0;
    api.time.now += MINUTE;
    await Promise.all(Array.from({ length: 5 }, () => runTick(api.deps)));
    const rung = api.rings.splice(0);
    expect(rung).toEqual(Array.from({ length: 5 }, () => id));
    await Promise.all(rung.map((run) => runPass(api.deps, run)));
    expect([...api.executions.starts.values()]).toEqual([1]);
    const { items } = (await api.get(`/v1/runs/${id}/history`)).body;
    expect(
      items.filter(({ node, state }: { node?: string; state: string }) => node && state === 'RUNNING'),
    ).toHaveLength(1);
  });

  it('T30 leave alone what is not due, ring what is, and a stop waits for none', async () => {
    const api = await create();
    const id = await api.start();
    expect(api.rings).toEqual([id]);
    await api.settle();
    expect(await api.tickOnce()).toEqual([]);
    const { dueAt } = (await api.deps.runs.readRun(id)) ?? {};
    api.time.now = (dueAt as number) - 1;
    expect(await api.tickOnce()).toEqual([]);
    api.time.now += 1;
    expect(await api.tickOnce()).toEqual([id]);
    await api.tick(id, MINUTE);
    expect(await api.tickOnce()).toEqual([]);
    await api.post(`/v1/runs/${id}/stop`);
    expect([...api.executions.started.values()].map(({ status }) => status)).toEqual(['ABORTED']);
  });

  it('T31 find a run of which nobody heard for long, and ring it until somebody does', async () => {
    const api = await create(SUCCEED);
    const id = await api.start();
    api.time.now += 55 * MINUTE;
    expect(await api.tickOnce()).toEqual([id]);
    api.time.now += MINUTE;
    expect(await api.tickOnce()).toEqual([id]);
    expect((await api.untilOver(id)).state).toBe('SUCCEEDED');
    expect(await api.tickOnce()).toEqual([]);
  });
});

describe('messages', () => {
  it.each([1, 50, 100])('T34 of %i runs bring one pass to each, however often they are repeated', async (count) => {
    const api = await create();
    const passes = new Map<string, number>();
    const log = ({ run }: PassLine) => void passes.set(run, (passes.get(run) ?? 0) + 1);
    const ids = await Promise.all(Array.from({ length: count }, () => api.start()));
    const logger = { info: () => {}, error: () => {} };
    const handler = createHandler({ pass: { ...api.deps, log }, logger, count: () => {} });
    const bodies = [...ids, ...ids, ...ids].sort().map((run) => JSON.stringify({ kind: 'ring', run }));
    for (let at = 0; at < bodies.length; at += 30) {
      const Records = bodies.slice(at, at + 30).map((body, index) => ({ messageId: `m${index}`, body }));
      expect(await handler({ Records }, {} as never)).toEqual({ batchItemFailures: [] });
    }
    expect(passes).toEqual(new Map(ids.map((id) => [id, 1])));
    expect([...api.executions.starts.values()]).toEqual(ids.map(() => 1));
  });
});

describe('bursts', () => {
  it('T45 of four starts where one run may be active, one begins and three are left out; others go on', async () => {
    const api = await create(() => undefined, { concurrency: { maxActiveRuns: 1, onOverlap: 'skip' } });
    await api.put({ name: 'q', nodes: NODES });
    const ids = await Promise.all([api.start(), api.start(), api.start(), api.start()]);
    const beside = await api.start('q');
    await api.settle();
    const runs = await Promise.all(ids.map(async (id) => (await api.get(`/v1/runs/${id}`)).body));
    expect(runs.map(({ state, reason }) => `${state} ${reason}`).sort()).toEqual([
      'ABORTED Overlap',
      'ABORTED Overlap',
      'ABORTED Overlap',
      'RUNNING Executing',
    ]);
    expect((await api.get(`/v1/runs/${beside}`)).body.state).toBe('RUNNING');
    expect(api.executions.started.size).toBe(2);
  });

  it('T45 of four puts of one pipeline are all taken', async () => {
    const api = createApi();
    const putOf = (at: number) => api.put({ name: 'p', nodes: [{ ...NODES[0], id: `n${at}` }] } as never);
    const answers = await Promise.all([0, 1, 2, 3].map(putOf));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201]);
    const { items } = (await api.get('/v1/pipelines/p/revisions')).body;
    expect(items).toHaveLength(4);
  });
});
