import { describe, expect, it } from 'vitest';
import type { Json } from '#domain/json.ts';
import type { RunRecord } from '#domain/run.ts';
import { withChildRuns } from '#scheduler/child-runs.ts';
import { type Api, createApi } from './api-client.ts';

const ONE = { name: 'one', nodes: [{ id: 'only', params: { function: 'fn' } }] };
const RUNS = '/v1/pipelines/one/runs';

async function withPipeline(api: Api = createApi()): Promise<Api> {
  await api.put(ONE);
  return api;
}

describe('POST /v1/pipelines/{name}/runs', () => {
  it('starts a run and tells where it is', async () => {
    const { call, get, time } = await withPipeline();
    const by = 'arn:aws:iam::111122223333:user/ada';
    const started = await call('POST', RUNS, { body: { input: { n: 1 }, tags: { team: 'data' } }, by });
    expect(started.status).toBe(201);
    expect(started.headers['location']).toBe(`/v1/runs/${started.body.id}`);
    expect(started.body).toMatchObject({
      pipeline: 'one',
      state: 'QUEUED',
      reason: 'Starting',
      input: { n: 1 },
      trigger: { type: 'api', by },
      tags: { team: 'data' },
      progress: 0,
      counts: { PENDING: 1 },
      rev: 1,
      createdAt: new Date(time.now).toISOString(),
    });
    expect((await get(`/v1/runs/${started.body.id}`)).body).toEqual(started.body);
  });

  it('takes no body for no input, and then the input is an empty object', async () => {
    const { post, untilOver, get } = await withPipeline();
    const { id, input } = (await post(RUNS)).body;
    expect(input).toEqual({});
    await untilOver(id);
    expect((await get(`/v1/runs/${id}`)).body).toMatchObject({
      state: 'SUCCEEDED',
      progress: 1,
      counts: { SUCCEEDED: 1 },
    });
  });

  it('starts a run of an older revision', async () => {
    const { put, post } = createApi();
    const { revision } = (await put(ONE)).body;
    await put({ ...ONE, description: 'newer' });
    expect((await post(RUNS, { revision })).body.revision).toBe(revision);
    expect((await post(RUNS, { revision: 'none' })).body.code).toBe('UNKNOWN_REVISION');
  });

  it('refuses what is no start of a run, naming the field', async () => {
    const { post, get } = await withPipeline();
    const bodies: [Json, string][] = [
      [{ inptu: 1 }, 'inptu'],
      [{ revision: 7 }, 'revision'],
      [{ tags: { 'a:b': 'c' } }, 'tags["a:b"]'],
      [{ tags: { a: 1 } }, 'tags.a'],
      [[1, 2], ''],
      [{ only: 'x' }, 'only'],
      [{ reuse: 'x' }, 'reuse'],
    ];
    for (const [body, path] of bodies) {
      const answer = await post(RUNS, body);
      expect(answer.body, JSON.stringify(body)).toMatchObject({ code: 'INVALID_REQUEST', errors: [{ path }] });
    }
    expect((await post(RUNS, { inputs: 1 })).body.errors[0].suggestion).toBe('input');
    expect((await get('/v1/runs')).body.items).toEqual([]);
  });

  it('T32 answers 404 for an unknown pipeline of any form', async () => {
    const { post } = await withPipeline();
    for (const name of ['two', 'o ne', '__proto__', 'x'.repeat(300)]) {
      expect((await post(`/v1/pipelines/${encodeURIComponent(name)}/runs`, {})).body.code).toBe('PIPELINE_NOT_FOUND');
    }
  });

  it('rings the run after it is stored', async () => {
    const { post, rings, deps } = await withPipeline();
    const { id } = (await post(RUNS)).body;
    expect(rings).toEqual([id]);
    // The very next tick sees it, should the ring be lost.
    expect((await deps.runs.readRun(id))?.dueAt).toBeLessThanOrEqual(deps.clock.now() + deps.options.tickMs);
  });
});

describe('Idempotency-Key', () => {
  const start = (api: Api, key: string, body: Json = { input: { n: 1 } }) =>
    api.post(RUNS, body, { 'idempotency-key': key });

  it('T23 C52: the same key and input find the first run, whether it runs, is over or was stopped', async () => {
    const api = await withPipeline();
    const first = await start(api, 'k');
    const { id } = first.body;
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    const running = await start(api, 'k');
    await api.untilOver(id);
    const finished = await start(api, 'k');
    const reordered = await api.call('POST', RUNS, {
      body: { text: '{ "input" : { "n" : 1 } }' },
      headers: { 'idempotency-key': 'k' },
    });
    for (const answer of [running, finished, reordered]) {
      expect([answer.status, answer.body.id, answer.headers['idempotent-replayed']]).toEqual([200, id, 'true']);
    }
    const stopped = (await start(api, 's')).body.id;
    await api.post(`/v1/runs/${stopped}/stop`);
    await api.untilOver(stopped);
    expect((await start(api, 's')).body).toMatchObject({ id: stopped, state: 'ABORTED' });
    expect((await api.get('/v1/runs')).body.items).toHaveLength(2);
  });

  it('C52: another input is a conflict that names the key and the first run', async () => {
    const api = await withPipeline();
    const { id } = (await start(api, 'k')).body;
    const other = await start(api, 'k', { input: { n: 2 } });
    expect([other.status, other.body.code]).toEqual([409, 'IDEMPOTENCY_CONFLICT']);
    expect(other.body.detail).toContain('"k"');
    expect(other.body.detail).toContain(id);
    expect((await api.get('/v1/runs')).body.items).toHaveLength(1);
  });

  it('C52: another pipeline has its own run under the same key', async () => {
    const api = await withPipeline();
    await api.put({ ...ONE, name: 'other' });
    const first = await start(api, 'k');
    const other = await api.post('/v1/pipelines/other/runs', { input: { n: 1 } }, { 'idempotency-key': 'k' });
    expect(other.status).toBe(201);
    expect(other.body.id).not.toBe(first.body.id);
  });

  it('C52: an empty, over-long or unprintable key is refused', async () => {
    const api = await withPipeline();
    for (const key of ['', ' ', 'x'.repeat(256), 'x'.repeat(10_000), 'a\u0007b']) {
      const answer = await start(api, key);
      expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_KEY']);
    }
    expect((await start(api, 'x'.repeat(255))).status).toBe(201);
  });

  it('C53: six parallel starts with one key make one run', async () => {
    const api = await withPipeline();
    const answers = await Promise.all(Array.from({ length: 6 }, () => start(api, 'k')));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201]);
    await api.untilOver(answers[0]?.body.id);
    expect([...api.executions.starts.values()]).toEqual([1]);
  });

  it('C53: after a crash between any two writes, the repeated start finds or makes the one run', async () => {
    for (const step of ['putValue', 'createRun', 'putHeader', 'ring'] as const) {
      for (const when of ['before', 'after'] as const) {
        const api = await withPipeline();
        const crash = crashOnce(api, step, when);
        await expect(start(api, 'k'), `${when} ${step}`).resolves.toMatchObject({ status: 500 });
        expect(crash.happened).toBe(true);
        const repeated = await start(api, 'k');
        const { id } = repeated.body;
        const run = await api.untilOver(id);
        expect(run.state).toBe('SUCCEEDED');
        const listed = (await api.get('/v1/runs')).body.items;
        expect(listed, `${when} ${step}`).toMatchObject([{ id, state: 'SUCCEEDED' }]);
        expect([...api.executions.starts.values()]).toEqual([1]);
      }
    }
  });
});

/** Lets one call of a port die, before or after it took effect. */
function crashOnce(api: Api, step: 'putValue' | 'createRun' | 'putHeader' | 'ring', when: 'before' | 'after') {
  const port = (step === 'ring' ? api.deps.inbox : api.deps.runs) as unknown as Record<
    string,
    (...args: unknown[]) => Promise<unknown>
  >;
  const real = port[step] as (...args: unknown[]) => Promise<unknown>;
  const crash = { happened: false };
  port[step] = async (...args) => {
    port[step] = real;
    crash.happened = true;
    if (when === 'after') await real(...args);
    throw new Error('the function died');
  };
  return crash;
}

describe('GET /v1/runs/{runId}', () => {
  it('names the first bad node of a failed run', async () => {
    const api = createApi(() => ({ status: 'FAILED', error: { name: 'BadInput', message: 'no such day' } }));
    await withPipeline(api);
    const { id } = (await api.post(RUNS)).body;
    await api.untilOver(id);
    const run = (await api.get(`/v1/runs/${id}`)).body;
    expect(run).toMatchObject({
      state: 'FAILED',
      reason: 'NodeFailed',
      message: 'Node "only" failed: BadInput: no such day',
      error: { name: 'BadInput', message: 'no such day', node: 'only' },
    });
  });

  it('shows the output of a run', async () => {
    const api = createApi();
    await api.put({ ...ONE, output: { was: '{% $nodes.only.output.ok %}' } });
    const { id } = (await api.post(RUNS)).body;
    await api.untilOver(id);
    expect((await api.get(`/v1/runs/${id}`)).body.output).toEqual({ was: true });
  });

  it('says that a run waits for an engine', async () => {
    const api = createApi();
    await api.put({ name: 'one', nodes: [{ id: 'train', engine: 'emr' }] });
    const { id } = (await api.post(RUNS)).body;
    await api.settle();
    expect((await api.get(`/v1/runs/${id}`)).body).toMatchObject({
      state: 'RUNNING',
      reason: 'NoEngine',
      message: 'no engines available to handle pipeline: "train" needs "emr"',
    });
  });

  it('waits for the end of a run, and no longer than asked', async () => {
    const api = await withPipeline();
    const { id } = (await api.post(RUNS)).body;
    const begun = api.time.now;
    expect((await api.get(`/v1/runs/${id}?wait=2`)).body.state).toBe('QUEUED');
    expect(api.time.now - begun).toBe(2_000);
    const waiting = api.get(`/v1/runs/${id}?wait=20`);
    await api.untilOver(id);
    expect((await waiting).body.state).toBe('SUCCEEDED');
  });

  it('answers 404 for an unknown id of any form', async () => {
    const { get, post } = await withPipeline();
    for (const id of ['a'.repeat(26), 'x', '%F0%9F%98%80', '..%2F..', '__proto__']) {
      expect((await get(`/v1/runs/${id}`)).status).toBe(404);
      expect((await post(`/v1/runs/${id}/stop`)).status).toBe(404);
    }
    expect((await get(`/v1/runs/${'a'.repeat(26)}/nodes`)).body.code).toBe('RUN_NOT_FOUND');
  });

  it('T7 tells a damaged run and one of newer code from a missing one', async () => {
    const api = await withPipeline();
    const stored = (api.deps.runs as unknown as { stored: Map<string, { body: string; schemaVersion: number }> })
      .stored;
    const damaged = (await api.post(RUNS)).body.id;
    stored.set(damaged, { ...(stored.get(damaged) as never as object), body: '{' } as never);
    const newer = (await api.post(RUNS)).body.id;
    stored.set(newer, { ...(stored.get(newer) as never as object), schemaVersion: 99 } as never);
    expect((await api.get(`/v1/runs/${damaged}`)).body.code).toBe('DAMAGED_RUN');
    expect((await api.post(`/v1/runs/${damaged}/stop`)).body.code).toBe('DAMAGED_RUN');
    const refused = await api.get(`/v1/runs/${newer}`);
    expect([refused.body.code, refused.headers['retry-after']]).toEqual(['NEWER_RUN', '60']);
    expect((await api.get('/v1/runs')).body.items).toHaveLength(2);
  });
});

describe('POST /v1/runs/{runId}/pause and …/resume', () => {
  it('starts nothing while it is paused, goes on when it is resumed, and says what was so already', async () => {
    const api = await withPipeline();
    const { id } = (await api.post(RUNS)).body;
    const by = 'arn:aws:iam::111122223333:user/ada';
    const paused = await api.call('POST', `/v1/runs/${id}/pause`, { by });
    expect([paused.status, paused.body.outcome, paused.body.run.state]).toEqual([202, 'ACCEPTED', 'PAUSED']);
    expect(paused.body.run).toMatchObject({ reason: 'RunPaused', counts: { QUEUED: 1 } });
    expect((await api.post(`/v1/runs/${id}/pause`)).body.outcome).toBe('ALREADY_PAUSED');
    await api.settle();
    expect(api.executions.started.size).toBe(0);
    const { items } = (await api.get(`/v1/runs/${id}/explain`)).body;
    expect(items).toMatchObject([{ state: 'QUEUED', reason: 'RunPaused', movedBy: 'Resume the run, or stop it.' }]);
    const resumed = await api.post(`/v1/runs/${id}/resume`);
    expect([resumed.status, resumed.body.outcome]).toEqual([202, 'ACCEPTED']);
    expect((await api.post(`/v1/runs/${id}/resume`)).body.outcome).toBe('NOT_PAUSED');
    await api.untilOver(id);
    const late = await api.post(`/v1/runs/${id}/pause`);
    expect([late.status, late.body.outcome, late.body.run.state]).toEqual([200, 'ALREADY_FINISHED', 'SUCCEEDED']);
    const history = (await api.get(`/v1/runs/${id}/history`)).body.items;
    expect(history).toContainEqual(expect.objectContaining({ state: 'PAUSED', by }));
  });
});

describe('POST /v1/runs/{runId}/stop', () => {
  it('T44 accepts a stop once, says so again, and says when the run was over before', async () => {
    const api = createApi(() => undefined);
    await withPipeline(api);
    const by = 'arn:aws:iam::111122223333:user/ada';
    const { id } = (await api.post(RUNS)).body;
    await api.settle();
    const accepted = await api.call('POST', `/v1/runs/${id}/stop`, { by });
    expect([accepted.status, accepted.body.outcome, accepted.body.run.state]).toEqual([202, 'ACCEPTED', 'STOPPING']);
    const again = await api.post(`/v1/runs/${id}/stop`, {});
    expect([again.status, again.body.outcome]).toEqual([200, 'ALREADY_STOPPING']);
    await api.untilOver(id);
    const late = await api.post(`/v1/runs/${id}/stop`);
    expect([late.status, late.body.outcome]).toEqual([200, 'ALREADY_FINISHED']);
    expect(late.body.run).toMatchObject({ state: 'ABORTED', message: `Stopped by ${by}: 1 ABORTED.` });
    expect([...api.executions.started.values()].map(({ status }) => status)).toEqual(['ABORTED']);
  });

  it('T44 starts nothing of a run that is stopped before its first pass', async () => {
    const api = await withPipeline();
    const { id } = (await api.post(RUNS)).body;
    const stopped = await api.post(`/v1/runs/${id}/stop`);
    expect(stopped.body).toMatchObject({ outcome: 'ACCEPTED', run: { state: 'ABORTED', counts: { ABORTED: 1 } } });
    await api.untilOver(id);
    expect(api.executions.started.size).toBe(0);
  });

  it('C41: a stop that races with the last completion is accepted and the run ABORTED, or it came too late', async () => {
    const outcomes = new Set<string>();
    for (let round = 0; round < 200; round++) {
      const api = createApi(() => undefined);
      await withPipeline(api);
      const { id } = (await api.post(RUNS)).body;
      await api.settle();
      const complete = async () => {
        for (const { name } of api.executions.started.values()) {
          api.executions.end(name, { status: 'SUCCEEDED', output: '1' });
        }
        await api.settle();
      };
      const order = round % 3;
      if (order === 0) await complete();
      const [answer] = await Promise.all([api.post(`/v1/runs/${id}/stop`), order === 2 ? complete() : undefined]);
      if (order === 1) await complete();
      const run: RunRecord = await api.untilOver(id);
      outcomes.add(`${answer.body.outcome} ${run.state}`);
      expect([...api.executions.started.values()].every(({ status }) => status !== 'RUNNING')).toBe(true);
    }
    expect([...outcomes].sort()).toEqual(['ACCEPTED ABORTED', 'ALREADY_FINISHED SUCCEEDED']);
  });
});

describe('the input of a run', () => {
  const definition = {
    name: 'typed',
    input: { schema: { type: 'object', required: ['day'], properties: { day: { type: 'string', format: 'date' } } } },
    nodes: [{ id: 'a', params: { function: 'fn' } }],
  };

  it('is checked against the schema of the pipeline before anything is stored', async () => {
    const api = createApi();
    expect((await api.put(definition)).status).toBe(201);
    const refused = await api.post('/v1/pipelines/typed/runs', { input: { day: 'today' } });
    expect(refused.body).toMatchObject({
      status: 422,
      code: 'INVALID_INPUT',
      detail: 'The input is not valid: /day: String does not match format "date".',
      errors: [{ path: '/day', code: 'INVALID_FIELD', value: 'today' }],
    });
    const none = await api.post('/v1/pipelines/typed/runs');
    expect(none.body).toMatchObject({ code: 'INVALID_INPUT', errors: [{ path: '' }] });
    expect((await api.get('/v1/runs')).body.items).toEqual([]);
    expect((await api.post('/v1/pipelines/typed/runs', { input: { day: '2026-11-30' } })).status).toBe(201);
  });

  it('of a run that was started before is not checked again by a newer schema', async () => {
    const api = createApi();
    await api.put(definition);
    const key = { 'idempotency-key': 'k' };
    const first = await api.post('/v1/pipelines/typed/runs', { input: { day: '2026-11-30' } }, key);
    await api.put({ ...definition, input: { schema: { required: ['hour'] } } } as never);
    const again = await api.post('/v1/pipelines/typed/runs', { input: { day: '2026-11-30' } }, key);
    expect([again.status, again.body.id]).toEqual([200, first.body.id]);
    expect((await api.post('/v1/pipelines/typed/runs', { input: { day: '2026-11-30' } })).body.code).toBe(
      'INVALID_INPUT',
    );
  });

  it('of a child is checked too: the node that starts it fails with what is wrong', async () => {
    const api = createApi();
    Object.assign(api.deps, withChildRuns({ ...api.deps }));
    await api.put(definition);
    const call = { id: 'call', engine: 'pipeline', params: { pipeline: 'typed', input: { day: 1 } } };
    await api.put({ name: 'caller', nodes: [call] });
    const { id } = (await api.post('/v1/pipelines/caller/runs')).body;
    await api.untilOver(id);
    const { error } = (await api.get(`/v1/runs/${id}/nodes/call`)).body;
    expect(error).toEqual({
      name: 'Millrace.EngineError',
      message: 'pipeline typed does not take this input: /day: type "number" is invalid. Expected "string"',
    });
  });

  it('has a schema that is checked when the pipeline is put, with its place in the text', async () => {
    const api = createApi();
    const text =
      'name: typed\ninput:\n  schema:\n    properties:\n      day: { typ: string }\nnodes:\n  - id: a\n    engine: emr\n';
    const refused = await api.call('PUT', '/v1/pipelines/typed', {
      body: { text },
      headers: { 'content-type': 'application/yaml' },
    });
    expect(refused.body).toMatchObject({
      status: 422,
      code: 'INVALID_DEFINITION',
      errors: [{ path: 'input.schema.properties.day.typ', code: 'INVALID_SCHEMA', line: 5, suggestion: 'type' }],
    });
    expect((await api.get('/v1/pipelines/typed')).status).toBe(404);
  });
});
