/** Pipelines that start runs by themselves, over HTTP: schedules, pauses, backfills, deletions. */
import { describe, expect, it, vi } from 'vitest';
import type { Json } from '#domain/json.ts';
import { workThing } from '#scheduler/work-thing.ts';
import { createApi } from './api-client.ts';

const MINUTE = 60_000;
const NODES = [{ id: 'report', params: { function: 'report-fn' } }];

function scheduled(more: Readonly<Record<string, Json>> = {}): Json & { readonly name: string } {
  return { name: 'reports', schedule: [{ id: 'each', cron: '* * * * *' }], nodes: NODES, ...more };
}

function create() {
  // Attempts go on until a test ends them.
  const api = createApi(() => undefined);
  const passes = async (count = 1) => {
    for (let pass = 0; pass < count; pass++) await workThing(api.deps, { kind: 'pipeline', id: 'reports' });
  };
  const runs = async (): Promise<{ id: string; state: string; trigger: { instant?: string; type: string } }[]> =>
    (await api.get('/v1/runs?pipeline=reports')).body.items.reverse();
  const instants = async () => (await runs()).map(({ trigger }) => trigger.instant?.slice(11, 16)).sort();
  return { ...api, passes, runs, instants };
}

describe('schedules', () => {
  it('C77 start one run for each instant, however many passes look, and say which', async () => {
    const api = create();
    api.time.now += 10_000;
    const put = await api.put(scheduled());
    expect(put.body.nextInstants).toEqual([{ entry: 'each', instant: '2026-11-30T12:01:00.000Z' }]);
    await api.passes(2);
    expect(await api.runs()).toEqual([]);
    api.time.now += 2 * MINUTE;
    await Promise.all([api.passes(2), api.passes(2)]);
    expect(await api.instants()).toEqual(['12:01', '12:02']);
    const first = (await api.runs()).find(({ trigger }) => trigger.instant?.includes('12:01'));
    expect(first?.trigger).toEqual({
      type: 'schedule',
      entry: 'each',
      instant: '2026-11-30T12:01:00.000Z',
      previousInstant: '2026-11-30T12:00:00.000Z',
    });
    expect((await api.get('/v1/pipelines/reports')).body.nextInstants[0].instant).toBe('2026-11-30T12:03:00.000Z');
  });

  it('rings itself for an instant that is near, and is due for the next one', async () => {
    const api = create();
    await api.put(scheduled());
    expect(api.rungThings).toContainEqual({ kind: 'pipeline', id: 'reports' });
    const { dueAt } = (await api.deps.pipelines.readHead('reports')) ?? {};
    expect(dueAt).toBe(api.time.now + MINUTE);
  });

  it('show expressions their instant and the one before', async () => {
    const api = create();
    const payload = { at: '{% $run.instant %}', since: '{% $run.previousInstant %}' };
    await api.put(scheduled({ nodes: [{ id: 'report', params: { function: 'report-fn', payload } }] }));
    api.time.now += MINUTE;
    await api.passes();
    await api.settle();
    const [execution] = [...api.executions.started.values()];
    expect(JSON.parse(execution?.input ?? '').params.payload).toEqual({
      at: '2026-11-30T12:01:00.000Z',
      since: '2026-11-30T12:00:00.000Z',
    });
  });

  it('C74 begin strictly after an edit of their timing, and stay where anything else is edited', async () => {
    const api = create();
    const at = (cron: string, more = {}) => scheduled({ schedule: [{ id: 'daily', cron }], ...more });
    await api.put(at('30 11 * * *'));
    expect((await api.put(at('31 11 * * *'))).body.nextInstants[0].instant).toBe('2026-12-01T11:31:00.000Z');
    const moved = await api.put(at('30 12 * * *'));
    expect(moved.body.nextInstants[0].instant).toBe('2026-11-30T12:30:00.000Z');
    api.time.now += 29 * MINUTE;
    const described = await api.put(at('30 12 * * *', { description: 'Other' }));
    expect(described.body.nextInstants).toEqual(moved.body.nextInstants);
    api.time.now += 2 * MINUTE;
    await api.passes();
    expect(await api.instants()).toEqual(['12:30']);
  });

  it('go on after an input that the pipeline refuses, and tell it', async () => {
    const api = create();
    const input = { schema: { type: 'object', required: ['day'] } };
    await api.put(scheduled({ input }));
    api.time.now += MINUTE;
    await api.passes(2);
    expect(await api.runs()).toEqual([]);
    const rejected = api.events.filter(({ detailType }) => detailType === 'RunRejected');
    expect(rejected).toMatchObject([
      {
        source: 'millrace.scheduler',
        detail: { pipeline: 'reports', entry: 'each', instant: '2026-11-30T12:01:00.000Z', code: 'INVALID_INPUT' },
      },
    ]);
    const { body } = await api.get('/v1/pipelines/reports');
    expect(body.rejectedStarts).toMatchObject([{ entry: 'each', instant: '2026-11-30T12:01:00.000Z' }]);
    expect(body.nextInstants[0].instant).toBe('2026-11-30T12:02:00.000Z');
    const schedule = [{ id: 'each', cron: '* * * * *', input: { day: 'Monday' } }];
    expect((await api.put(scheduled({ input, schedule }))).body.rejectedStarts).toBeUndefined();
    api.time.now += MINUTE;
    await api.passes();
    expect(await api.instants()).toEqual(['12:02']);
  });
});

describe('pauses', () => {
  it('C76 instants inside a pause never start, whatever catchUp says, nor those before a pipeline was made anew', async () => {
    const api = create();
    const all = scheduled({ schedule: [{ id: 'each', cron: '* * * * *', catchUp: 'all' }] });
    await api.put(all);
    api.time.now += 10_000;
    const paused = await api.call('POST', '/v1/pipelines/reports/pause', { by: 'ann' });
    expect(paused.body).toMatchObject({ paused: true, pausedBy: 'ann', nextInstants: [] });
    api.time.now += 20 * MINUTE;
    await api.passes();
    expect(await api.runs()).toEqual([]);
    const resumed = await api.post('/v1/pipelines/reports/resume');
    expect(resumed.body.nextInstants[0].instant).toBe('2026-11-30T12:21:00.000Z');
    expect(resumed.body).toMatchObject({ paused: false });
    api.time.now += MINUTE;
    await api.passes();
    expect(await api.instants()).toEqual(['12:21']);
    const left = await api.runs();
    expect((await api.call('DELETE', '/v1/pipelines/reports?force=true')).status).toBe(204);
    for (let tick = 0; tick < 3; tick++) {
      api.time.now += MINUTE;
      await api.settle();
      for (const { id } of left) await api.tick(id, 0);
      await api.passes();
    }
    await api.put(all);
    api.time.now += MINUTE;
    await api.passes();
    expect(await api.instants()).toEqual(['12:25']);
  });

  it('C79 twice is once; the first instant after a resume runs, and once', async () => {
    const api = create();
    await api.put(scheduled());
    const first = await api.post('/v1/pipelines/reports/pause');
    api.time.now += 1_000;
    const again = await api.post('/v1/pipelines/reports/pause');
    expect(again.body).toEqual(first.body);
    await api.post('/v1/pipelines/reports/resume');
    await api.post('/v1/pipelines/reports/resume');
    api.time.now += MINUTE;
    await api.passes(3);
    expect(await api.instants()).toEqual(['12:01']);
    const told = api.events.filter(({ detailType }) => detailType === 'PipelineChanged');
    expect(told.map(({ detail }) => (detail as { paused: boolean }).paused)).toEqual([false, true, false]);
  });

  it('C80 leave starts by hand and runs in flight alone, and hold back what was in line', async () => {
    const api = create();
    await api.put(scheduled({ concurrency: { maxActiveRuns: 1 } }));
    const one = (await api.post('/v1/pipelines/reports/runs')).body;
    const queued = (await api.post('/v1/pipelines/reports/runs')).body;
    await api.settle();
    await api.post('/v1/pipelines/reports/pause');
    api.time.now += MINUTE;
    await api.passes();
    const byHand = (await api.post('/v1/pipelines/reports/runs')).body;
    await api.settle();
    const [running] = [...api.executions.started.values()];
    api.executions.end(running?.name ?? '', { status: 'SUCCEEDED', output: '{}' });
    await api.settle();
    const states = async (...ids: string[]) =>
      Promise.all(ids.map(async (id) => (await api.get(`/v1/runs/${id}`)).body.state));
    expect(await states(one.id, queued.id, byHand.id)).toEqual(['SUCCEEDED', 'QUEUED', 'RUNNING']);
    await api.post('/v1/pipelines/reports/resume');
    const last = [...api.executions.started.values()].find(({ status }) => status === 'RUNNING');
    api.executions.end(last?.name ?? '', { status: 'SUCCEEDED', output: '{}' });
    await api.settle();
    expect(await states(queued.id, byHand.id)).toEqual(['RUNNING', 'SUCCEEDED']);
  });

  it('answer 404 for what is not there', async () => {
    const api = create();
    for (const word of ['pause', 'resume']) {
      expect((await api.post(`/v1/pipelines/nobody/${word}`)).body.code).toBe('PIPELINE_NOT_FOUND');
      expect((await api.post(`/v1/pipelines/nobody/${word}`, { field: 1 })).status).toBe(422);
    }
  });
});

describe('backfills', () => {
  const hourly = scheduled({ schedule: [{ id: 'hourly', cron: '0 * * * *', input: { kind: 'hour' } }] });
  const range = { from: '2026-11-30T06:00:00Z', to: '2026-11-30T11:59:00Z' };
  const address = '/v1/pipelines/reports/backfills';

  it('say in a dry run what they would start, and start nothing', async () => {
    const api = create();
    await api.put(hourly);
    const answer = await api.post(address, { ...range, direction: 'backward', dryRun: true });
    expect([answer.status, answer.body.instants.length]).toEqual([200, 6]);
    expect(answer.body.instants[0]).toEqual({ entry: 'hourly', instant: '2026-11-30T11:00:00.000Z' });
    await api.passes();
    expect(await api.runs()).toEqual([]);
  });

  it('run every instant once, in order, so many at once', async () => {
    const api = create();
    await api.put(hourly);
    const accepted = await api.call('POST', address, { body: { ...range, maxActiveRuns: 2 }, by: 'ann' });
    expect(accepted.status).toBe(202);
    expect(accepted.body).toMatchObject({ total: 6, started: 0, maxActiveRuns: 2, by: 'ann' });
    const again = await api.post(address, { ...range, maxActiveRuns: 2 });
    expect(again.body.id).toBe(accepted.body.id);
    for (let round = 0; round < 10; round++) {
      await api.settle();
      const running = [...api.executions.started.values()].filter(({ status }) => status === 'RUNNING');
      expect(running.length).toBeLessThanOrEqual(2);
      if (running[0]) api.executions.end(running[0].name, { status: 'SUCCEEDED', output: '{}' });
    }
    await api.settle();
    expect(await api.instants()).toEqual(['06:00', '07:00', '08:00', '09:00', '10:00', '11:00']);
    expect((await api.runs()).every(({ state, trigger }) => state === 'SUCCEEDED' && trigger.type === 'backfill')).toBe(
      true,
    );
    expect((await api.get('/v1/pipelines/reports')).body.backfills).toBeUndefined();
    expect((await api.deps.pipelines.readHead('reports'))?.dueAt).toBe(
      api.time.now - (api.time.now % MINUTE) + 60 * MINUTE,
    );
    await api.post(address, { ...range, maxActiveRuns: 2 });
    await api.settle();
    expect(await api.runs()).toHaveLength(6);
  });

  it('refuse what cannot be, with the count', async () => {
    const api = create();
    await api.put(scheduled());
    const refused = async (body: Json) => {
      const answer = await api.post(address, body);
      return [answer.status, answer.body.code, answer.body.detail];
    };
    expect(await refused({ from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z' })).toEqual([
      422,
      'INVALID_BACKFILL',
      'The range has 1441 instants or more; a backfill has at most 1000.',
    ]);
    expect((await refused({ from: '2026-11-02T00:00:00Z', to: '2026-11-01T00:00:00Z' }))[1]).toBe('INVALID_BACKFILL');
    expect((await refused({ from: '2026-11-30T11:00:00Z', to: '2026-11-30T13:00:00Z' }))[2]).toContain('future');
    expect((await refused({ from: '2026-11-30T11:00:01Z', to: '2026-11-30T11:00:59Z' }))[2]).toContain('No instant');
    expect((await refused({ ...range, maxActiveRuns: 0 }))[1]).toBe('INVALID_REQUEST');
    expect((await refused({ from: 'yesterday', to: 'today' }))[1]).toBe('INVALID_REQUEST');
    await api.put(scheduled({ schedule: [] }));
    expect((await refused(range))[2]).toBe('The pipeline has no schedule.');
  });
});

describe('DELETE /v1/pipelines/{name}', () => {
  const DELETE = 'DELETE';
  const address = '/v1/pipelines/reports';

  it('U9 is there no more at once where nothing is active, and can be put anew', async () => {
    const api = create();
    const first = await api.put(scheduled({ nodes: [{ id: 'a', engine: 'gpu', params: {} }] }));
    expect((await api.call(DELETE, address)).status).toBe(204);
    expect((await api.get(address)).status).toBe(404);
    expect((await api.get('/v1/pipelines')).body.items).toEqual([]);
    expect((await api.call(DELETE, address)).status).toBe(404);
    expect(await api.deps.pipelines.listUses('gpu', 9)).toEqual({ items: [] });
    expect(api.events.at(-1)?.detail).toMatchObject({ pipeline: 'reports', deleted: true });
    expect((await api.put(scheduled())).status).toBe(201);
    expect((await api.get(address)).body.revision).not.toBe(first.body.revision);
  });

  it('takes a run with it that it could not find, as who made that died before its line was in the list', async () => {
    const api = createApi(() => undefined);
    await api.put({ name: 'reports', nodes: [{ id: 'a', params: { function: 'fn' } }] });
    const lost = vi.spyOn(api.deps.runs, 'putHeader').mockResolvedValue();
    const { id } = (await api.post('/v1/pipelines/reports/runs', {})).body;
    api.rings.splice(0);
    expect((await api.call('DELETE', '/v1/pipelines/reports?force=true')).status).toBe(204);
    for (let minute = 0; minute < 5; minute++) {
      api.time.now += 60_000;
      api.rungThings.push({ kind: 'pipeline', id: 'reports' });
      await api.settle();
    }
    expect((await api.get('/v1/pipelines/reports')).status).toBe(404);
    lost.mockRestore();
    await api.tick(id, 0);
    await api.tick(id, 60_000);
    expect((await api.get(`/v1/runs/${id}`)).status).toBe(404);
    expect(api.executions.started.size).toBe(0);
  });

  it('U10 C82 answers 409 with the number of active runs, changes nothing; forced, removes them and then itself', async () => {
    const api = create();
    await api.put(scheduled({ concurrency: { maxActiveRuns: 1 } }));
    const ids: string[] = [];
    for (let at = 0; at < 4; at++) ids.push((await api.post(`${address}/runs`)).body.id);
    await api.settle();
    const refused = await api.call(DELETE, address);
    expect([refused.status, refused.body.code]).toEqual([409, 'ACTIVE_RUNS']);
    expect(refused.body.detail).toContain('4 runs are active');
    expect((await api.get(address)).status).toBe(200);
    expect((await api.call(DELETE, `${address}?force=true`)).status).toBe(204);
    expect((await api.get(address)).status).toBe(404);
    expect((await api.put(scheduled())).body.code).toBe('PIPELINE_DELETING');
    expect((await api.post(`${address}/runs`)).status).toBe(404);
    for (let tick = 0; tick < 4; tick++) {
      for (const id of ids) await api.tick(id, 15_000);
      await api.passes();
    }
    expect(await api.deps.pipelines.readHead('reports')).toBeUndefined();
    expect([...api.executions.started.values()].map(({ status }) => status)).toEqual(['ABORTED']);
    for (const id of ids) expect((await api.get(`/v1/runs/${id}`)).status).toBe(404);
    expect((await api.put(scheduled())).status).toBe(201);
    expect(await api.runs()).toEqual([]);
    api.time.now += MINUTE;
    await api.passes();
    expect(await api.runs()).toHaveLength(1);
  });
});
