/** Runs started again and in part, over HTTP. */
import { describe, expect, it, vi } from 'vitest';
import type { Json } from '#domain/json.ts';
import { withChildRuns } from '#scheduler/child-runs.ts';
import { type Api, createApi } from './api-client.ts';
import type { Behaviour } from './installation.ts';

function node(id: string, dependsOn: string[] = [], more: { readonly [field: string]: Json } = {}) {
  return { id, dependsOn, params: { function: 'fn' }, ...more };
}

/** Attempts end as `fate` says at the time; every execution that began is counted. */
function createScripted(fate: { bad: ReadonlySet<string> }) {
  const begun: string[] = [];
  const behave: Behaviour = (id, _attempt, item) => {
    const place = item === undefined ? id : `${id}[${item}]`;
    begun.push(place);
    if (fate.bad.has(place)) return { status: 'FAILED', error: { name: 'Broken', message: 'told so' } };
    return { status: 'SUCCEEDED', output: JSON.stringify({ of: place, n: begun.length }) };
  };
  return { api: createApi(behave), begun };
}

async function finish(api: Api, id: string) {
  await api.untilOver(id);
  return (await api.get(`/v1/runs/${id}`)).body;
}

async function start(api: Api, pipeline: string, body: Json = {}) {
  const answer = await api.post(`/v1/pipelines/${pipeline}/runs`, body);
  expect(answer.status, answer.text).toBe(201);
  return finish(api, answer.body.id);
}

async function rerun(api: Api, id: string, body: Json) {
  const answer = await api.post(`/v1/runs/${id}/rerun`, body);
  expect(answer.status, answer.text).toBe(201);
  return finish(api, answer.body.id);
}

async function nodesOf(api: Api, id: string) {
  const { items } = (await api.get(`/v1/runs/${id}/nodes?limit=1000`)).body;
  // biome-ignore lint/suspicious/noExplicitAny: views whose shape the schema has checked
  return Object.fromEntries(items.map((view: any) => [view.id, view])) as Record<string, any>;
}

const statesOf = (nodes: Record<string, { state: string }>) =>
  Object.fromEntries(Object.entries(nodes).map(([id, { state }]) => [id, state]));

const DIAMOND = {
  name: 'diamond',
  nodes: [node('apply'), node('a', ['apply']), node('b', ['apply']), node('j', ['a', 'b'])],
};

describe('POST /v1/runs/{runId}/rerun', () => {
  it('C47 from failed runs what failed and what is below it; the rest keeps outputs and times', async () => {
    const fate = { bad: new Set(['b']) };
    const { api, begun } = createScripted(fate);
    await api.put(DIAMOND);
    const first = await start(api, 'diamond', { input: { n: 1 }, tags: { team: 'data' } });
    expect(first.state).toBe('FAILED');
    const before = await nodesOf(api, first.id);
    fate.bad = new Set();
    begun.length = 0;
    api.time.now += 3_600_000;
    const again = await rerun(api, first.id, { from: 'failed', revision: 'original' });
    expect(again).toMatchObject({
      state: 'SUCCEEDED',
      input: { n: 1 },
      tags: { team: 'data' },
      trigger: { type: 'rerun', runId: first.id },
      revision: first.revision,
    });
    expect(begun).toEqual(['b', 'j']);
    const after = await nodesOf(api, again.id);
    for (const id of ['apply', 'a']) {
      const { output, startedAt, endedAt } = before[id];
      expect(after[id]).toMatchObject({
        state: 'SUCCEEDED',
        output,
        startedAt,
        endedAt,
        reusedFrom: first.id,
        attempt: 0,
      });
    }
    expect(after['b']).toMatchObject({ state: 'SUCCEEDED', attempt: 1 });
    expect(after['b'].reusedFrom).toBeUndefined();
    const history = (await api.get(`/v1/runs/${again.id}/history`)).body.items;
    expect(history.slice(0, 3)).toMatchObject([
      { rev: 1, state: 'QUEUED' },
      { rev: 1, node: 'apply', state: 'SUCCEEDED', reason: 'Completed', reusedFrom: first.id },
      { rev: 1, node: 'a', state: 'SUCCEEDED', reusedFrom: first.id },
    ]);
    expect((await api.get(`/v1/runs/${again.id}/nodes/a/output`)).body).toEqual(before['a'].output);
  });

  it('from all runs everything, on the input that it is given', async () => {
    const { api, begun } = createScripted({ bad: new Set() });
    await api.put(DIAMOND);
    const first = await start(api, 'diamond');
    begun.length = 0;
    const again = await rerun(api, first.id, { from: 'all', revision: 'original', input: { n: 2 } });
    expect([again.state, again.input, begun]).toEqual(['SUCCEEDED', { n: 2 }, ['apply', 'a', 'b', 'j']]);
  });

  it('from chosen nodes runs these and everything below', async () => {
    const { api, begun } = createScripted({ bad: new Set() });
    await api.put(DIAMOND);
    const first = await start(api, 'diamond');
    begun.length = 0;
    const again = await rerun(api, first.id, { from: ['a'], revision: 'original' });
    expect([again.state, begun]).toEqual(['SUCCEEDED', ['a', 'j']]);
  });

  it('from chosen nodes leaves out what failed elsewhere, and runs what failed above', async () => {
    const fate = { bad: new Set(['b', 'x']) };
    const { api, begun } = createScripted(fate);
    await api.put({ name: 'two', nodes: [...DIAMOND.nodes, node('x'), node('y', ['x'])] });
    const first = await start(api, 'two');
    fate.bad = new Set();
    begun.length = 0;
    const again = await rerun(api, first.id, { from: ['j'], revision: 'original' });
    expect([again.state, begun]).toEqual(['SUCCEEDED', ['b', 'j']]);
    const nodes = await nodesOf(api, again.id);
    expect(nodes['x']).toMatchObject({ state: 'SKIPPED', reason: 'NotSelected' });
    expect(nodes['y']).toMatchObject({ state: 'SKIPPED', reason: 'NotSelected' });
  });

  it('goes on with a map: items that succeeded are taken over, the others run', async () => {
    const fate = { bad: new Set(['m[1]', 'm[4]']) };
    const { api, begun } = createScripted(fate);
    const map = { items: [1, 2, 3, 4, 5, 6], maxConcurrency: 6 };
    await api.put({ name: 'map', nodes: [node('gen'), node('m', ['gen'], { map }), node('z', ['m'])] });
    const first = await start(api, 'map');
    expect(first.state).toBe('FAILED');
    fate.bad = new Set();
    begun.length = 0;
    const again = await rerun(api, first.id, { from: 'failed', revision: 'original' });
    expect([again.state, begun]).toEqual(['SUCCEEDED', ['m[1]', 'm[4]', 'z']]);
    const { m } = await nodesOf(api, again.id);
    expect(m.map).toEqual({ total: 6, counts: { SUCCEEDED: 6 } });
    expect(m.output.map(({ of }: { of: string }) => of)).toEqual([0, 1, 2, 3, 4, 5].map((at) => `m[${at}]`));
    const items = (await api.get(`/v1/runs/${again.id}/nodes/m/items`)).body.items;
    expect(items.map(({ attempt }: { attempt: number }) => attempt)).toEqual([0, 1, 0, 0, 1, 0]);
    expect(items[2]).toMatchObject({ state: 'SUCCEEDED', reusedFrom: first.id, output: { of: 'm[2]' } });
    begun.length = 0;
    const third = await rerun(api, again.id, { from: ['z'], revision: 'original' });
    expect([third.state, begun]).toEqual(['SUCCEEDED', ['z']]);
    const taken = await nodesOf(api, third.id);
    expect(taken['m']).toMatchObject({
      output: m.output,
      startedAt: m.startedAt,
      endedAt: m.endedAt,
      reusedFrom: again.id,
    });
    const [, one, two] = (await api.get(`/v1/runs/${third.id}/nodes/m/items`)).body.items;
    expect([one.reusedFrom, two.reusedFrom]).toEqual([again.id, first.id]);
  });

  it('C50 runs a map over an empty list again, and takes it over', async () => {
    const fate = { bad: new Set(['z']) };
    const { api, begun } = createScripted(fate);
    await api.put({ name: 'empty', nodes: [node('m', [], { map: { items: [] } }), node('z', ['m'])] });
    const first = await start(api, 'empty');
    fate.bad = new Set();
    for (const from of ['failed', 'all']) {
      begun.length = 0;
      const again = await rerun(api, first.id, { from, revision: 'original' });
      expect([again.state, begun]).toEqual(['SUCCEEDED', ['z']]);
      expect((await nodesOf(api, again.id))['m']).toMatchObject({ state: 'SUCCEEDED', output: [] });
    }
  });

  it('keeps skips and choices that stand, and decides those anew that may change', async () => {
    const fate = { bad: new Set(['late']) };
    const { api, begun } = createScripted(fate);
    await api.put({
      name: 'ways',
      nodes: [
        node('pick', [], { branch: "{% 'left' %}" }),
        node('left', ['pick']),
        node('right', ['pick']),
        node('never', [], { when: '{% false %}' }),
        node('late', ['left', 'right', 'never'], { trigger: 'none_failed' }),
        node('alarm', ['late'], { trigger: 'one_failed' }),
        node('next', ['late']),
      ],
    });
    const first = await start(api, 'ways');
    const before = statesOf(await nodesOf(api, first.id));
    expect(before).toMatchObject({ right: 'SKIPPED', never: 'SKIPPED', alarm: 'SUCCEEDED', next: 'UPSTREAM_FAILED' });
    fate.bad = new Set();
    begun.length = 0;
    const again = await rerun(api, first.id, { from: 'failed', revision: 'original' });
    expect([again.state, begun]).toEqual(['SUCCEEDED', ['late', 'next']]);
    const after = await nodesOf(api, again.id);
    expect(after['right']).toMatchObject({ reason: 'BranchNotChosen', reusedFrom: first.id });
    expect(after['never']).toMatchObject({ reason: 'ConditionFalse', reusedFrom: first.id });
    expect(after['alarm']).toMatchObject({ state: 'SKIPPED', reason: 'TriggerNotMet' });
    expect(after['pick'].branch).toEqual({ chosen: ['left'] });
    begun.length = 0;
    const chosen = await rerun(api, first.id, { from: ['right'], revision: 'original' });
    expect([chosen.state, begun]).toEqual(['SUCCEEDED', ['late', 'next']]);
    expect((await nodesOf(api, chosen.id))['right'].reason).toBe('BranchNotChosen');
  });

  it('on the newest revision takes over what does the same work from the same upstreams', async () => {
    const fate = { bad: new Set(['j']) };
    const { api, begun } = createScripted(fate);
    await api.put(DIAMOND);
    const first = await start(api, 'diamond');
    fate.bad = new Set();
    const changed = DIAMOND.nodes.map((one) =>
      one.id === 'a' ? { ...one, params: { function: 'other' } } : { ...one, timeoutSeconds: 77 },
    );
    const { revision } = (await api.put({ ...DIAMOND, nodes: [...changed.reverse(), node('new', ['b'])] })).body;
    begun.length = 0;
    const again = await rerun(api, first.id, { from: 'failed', revision: 'latest' });
    expect([again.state, again.revision, [...begun].sort()]).toEqual(['SUCCEEDED', revision, ['a', 'j', 'new']]);
    expect((await nodesOf(api, again.id))['b']).toMatchObject({ reusedFrom: first.id, output: { of: 'b' } });
    begun.length = 0;
    await rerun(api, first.id, { from: 'failed', revision: 'original' });
    expect(begun).toEqual(['j']);
  });

  it('marks nodes by hand, and decides anew what is below them', async () => {
    const { api, begun } = createScripted({ bad: new Set(['b']) });
    await api.put(DIAMOND);
    const first = await start(api, 'diamond');
    begun.length = 0;
    const by = 'arn:aws:iam::111122223333:user/ada';
    const body = { from: 'failed', revision: 'original', mark: { b: { state: 'SUCCEEDED', output: { by: 'hand' } } } };
    const answer = await api.call('POST', `/v1/runs/${first.id}/rerun`, { body, by });
    const again = await finish(api, answer.body.id);
    expect([again.state, again.trigger.by, begun]).toEqual(['SUCCEEDED', by, ['j']]);
    const nodes = await nodesOf(api, again.id);
    expect(nodes['b']).toMatchObject({ state: 'SUCCEEDED', reason: 'MarkedByUser', output: { by: 'hand' } });
    begun.length = 0;
    const third = await rerun(api, again.id, { from: ['j'], revision: 'original' });
    expect([third.state, begun]).toEqual(['SUCCEEDED', ['j']]);
    expect((await nodesOf(api, third.id))['b']).toMatchObject({
      reason: 'MarkedByUser',
      output: { by: 'hand' },
      reusedFrom: again.id,
    });
    for (const [state, run, j] of [
      ['SKIPPED', 'SUCCEEDED', 'SKIPPED'],
      ['FAILED', 'FAILED', 'UPSTREAM_FAILED'],
    ] as const) {
      const other = await rerun(api, again.id, { from: 'failed', revision: 'original', mark: { b: { state } } });
      expect([other.state, statesOf(await nodesOf(api, other.id))]).toMatchObject([
        run,
        { a: 'SUCCEEDED', b: state, j },
      ]);
    }
  });

  it('takes over what the scheduler decided itself, and nodes of other pipelines', async () => {
    const { api, begun } = createScripted({ bad: new Set() });
    Object.assign(api.deps, withChildRuns({ ...api.deps }));
    await api.put({ name: 'below', nodes: [node('x')], output: "{% 'from below' %}" });
    const pass = node('pass', [], { engine: 'pass', params: { output: { n: 1 } } });
    const child = node('child', ['pass'], { engine: 'pipeline', params: { pipeline: 'below' } });
    await api.put({ name: 'above', nodes: [pass, child, node('last', ['child'])] });
    const first = await start(api, 'above');
    expect(first.state).toBe('SUCCEEDED');
    begun.length = 0;
    const again = await rerun(api, first.id, { from: ['last'], revision: 'original' });
    expect([again.state, begun]).toEqual(['SUCCEEDED', ['last']]);
    expect(await nodesOf(api, again.id)).toMatchObject({
      pass: { output: { n: 1 }, reusedFrom: first.id },
      child: { output: 'from below', reusedFrom: first.id },
    });
  });

  it('answers plainly where nothing is left to run', async () => {
    const { api } = createScripted({ bad: new Set() });
    await api.put(DIAMOND);
    const first = await start(api, 'diamond');
    for (const from of ['failed', []]) {
      const answer = await api.post(`/v1/runs/${first.id}/rerun`, { from, revision: 'original' });
      expect([answer.status, answer.body.code]).toEqual([409, 'NOTHING_TO_RUN']);
    }
    expect((await api.get('/v1/runs')).body.items).toHaveLength(1);
  });

  it('refuses an active run, unknown runs and nodes, and inputs that do not fit', async () => {
    const { api } = createScripted({ bad: new Set() });
    await api.put({ ...DIAMOND, input: { schema: { type: 'object', required: ['n'] } } });
    const active = (await api.post('/v1/pipelines/diamond/runs', { input: { n: 1 } })).body;
    const whole = { from: 'all', revision: 'original' };
    expect((await api.post(`/v1/runs/${active.id}/rerun`, whole)).body.code).toBe('RUN_ACTIVE');
    await finish(api, active.id);
    expect((await api.post('/v1/runs/nothing/rerun', whole)).body.code).toBe('RUN_NOT_FOUND');
    expect((await api.post(`/v1/runs/${'z'.repeat(26)}/rerun`, whole)).body.code).toBe('RUN_NOT_FOUND');
    const address = `/v1/runs/${active.id}/rerun`;
    expect((await api.post(address, { ...whole, input: {} })).body.code).toBe('INVALID_INPUT');
    expect(
      (await api.post(address, { from: ['aply'], revision: 'latest', mark: { q: { state: 'SKIPPED' } } })).body,
    ).toMatchObject({
      code: 'UNKNOWN_NODE',
      errors: [{ path: 'from[0]', suggestion: 'apply' }, { path: 'mark.q' }],
    });
    for (const body of [{}, { from: 'failed' }, { from: 'some', revision: 'latest' }, { ...whole, mark: { a: 1 } }]) {
      expect((await api.post(address, body)).body.code).toBe('INVALID_REQUEST');
    }
  });

  it('says that the earlier run is not there where it is deleted while it is copied', async () => {
    const { api } = createScripted({ bad: new Set(['m[1]']) });
    await api.put({ name: 'map', nodes: [node('m', [], { map: { items: [1, 2, 3] } })] });
    const first = await start(api, 'map');
    vi.spyOn(api.deps.runs, 'copyResults').mockImplementationOnce(async () => {
      expect((await api.call('DELETE', `/v1/runs/${first.id}`)).status).toBe(204);
      await api.settle();
      return 0;
    });
    const again = await api.post(`/v1/runs/${first.id}/rerun`, { from: 'failed', revision: 'original' });
    expect([again.status, again.body.code]).toEqual([404, 'RUN_NOT_FOUND']);
    expect((await api.get('/v1/runs')).body.items).toEqual([]);
  });

  it('finds the first run again by the key, and refuses the key for another request', async () => {
    const { api } = createScripted({ bad: new Set() });
    await api.put(DIAMOND);
    const first = await start(api, 'diamond');
    const send = (body: Json, key = 'k') => api.post(`/v1/runs/${first.id}/rerun`, body, { 'idempotency-key': key });
    const body = { from: ['a', 'b'], revision: 'original' };
    const one = await send(body);
    const two = await send({ ...body, from: ['b', 'a'] });
    expect([one.status, two.status, two.headers['idempotent-replayed']]).toEqual([201, 200, 'true']);
    expect(two.body.id).toBe(one.body.id);
    expect((await send({ ...body, from: 'all' })).body.code).toBe('IDEMPOTENCY_CONFLICT');
    expect((await send(body, ' ')).body.code).toBe('INVALID_KEY');
  });
});

describe('a partial start', () => {
  it('runs the named nodes and the ancestors that they need', async () => {
    const { api, begun } = createScripted({ bad: new Set() });
    await api.put({ ...DIAMOND, output: '{% $nodes.j.output %}' });
    const run = await start(api, 'diamond', { only: ['a'] });
    expect([run.state, run.output, begun]).toEqual(['SUCCEEDED', undefined, ['apply', 'a']]);
    const nodes = await nodesOf(api, run.id);
    expect(nodes['b']).toMatchObject({ state: 'SKIPPED', reason: 'NotSelected' });
    expect(nodes['b'].message).toContain('Left out');
    expect(run.counts).toEqual({ SUCCEEDED: 2, SKIPPED: 2 });
    begun.length = 0;
    const again = await rerun(api, run.id, { from: 'all', revision: 'original' });
    expect([again.counts, begun]).toEqual([{ SUCCEEDED: 2, SKIPPED: 2 }, ['apply', 'a']]);
    begun.length = 0;
    const more = await rerun(api, run.id, { from: ['b'], revision: 'original' });
    expect([more.counts, begun]).toEqual([{ SUCCEEDED: 4 }, ['b', 'j']]);
  });

  it('T38 reuses the successes of another run for ancestors, and runs what was named', async () => {
    const fate = { bad: new Set(['b']) };
    const { api, begun } = createScripted(fate);
    await api.put(DIAMOND);
    const first = await start(api, 'diamond');
    fate.bad = new Set();
    begun.length = 0;
    const run = await start(api, 'diamond', { only: ['j'], reuse: { runId: first.id } });
    expect([run.state, begun]).toEqual(['SUCCEEDED', ['b', 'j']]);
    expect((await nodesOf(api, run.id))['a']).toMatchObject({ reusedFrom: first.id, output: { of: 'a' } });
    begun.length = 0;
    await start(api, 'diamond', { only: ['a'], reuse: { runId: first.id } });
    expect(begun).toEqual(['a']);
    begun.length = 0;
    await start(api, 'diamond', { reuse: { runId: first.id } });
    expect(begun).toEqual(['b', 'j']);
    const nothing = await api.post('/v1/pipelines/diamond/runs', { reuse: { runId: run.id } });
    expect([nothing.status, nothing.body.code]).toEqual([409, 'NOTHING_TO_RUN']);
  });

  it('refuses unknown nodes and runs, and runs of other pipelines', async () => {
    const { api } = createScripted({ bad: new Set() });
    await api.put(DIAMOND);
    await api.put({ name: 'other', nodes: [node('a')] });
    const other = await start(api, 'other');
    const send = async (body: Json) => (await api.post('/v1/pipelines/diamond/runs', body)).body;
    expect(await send({ only: ['x'] })).toMatchObject({ code: 'UNKNOWN_NODE', errors: [{ path: 'only[0]' }] });
    expect(await send({ only: [] })).toMatchObject({ code: 'NOTHING_TO_RUN' });
    expect(await send({ reuse: { runId: 'x' } })).toMatchObject({ code: 'RUN_NOT_FOUND' });
    expect(await send({ reuse: { runId: other.id } })).toMatchObject({
      code: 'INVALID_REQUEST',
      errors: [{ path: 'reuse.runId' }],
    });
  });

  it('tells a part from the whole under one key', async () => {
    const { api } = createScripted({ bad: new Set() });
    await api.put(DIAMOND);
    const send = (body: Json) => api.post('/v1/pipelines/diamond/runs', body, { 'idempotency-key': 'k' });
    expect((await send({ only: ['a'] })).status).toBe(201);
    expect((await send({ only: ['a', 'a'] })).status).toBe(200);
    expect((await send({})).status).toBe(409);
    expect((await send({ only: ['b'] })).status).toBe(409);
  });
});
