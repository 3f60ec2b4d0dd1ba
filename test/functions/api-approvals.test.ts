/** Nodes that the scheduler decides itself, over HTTP: approvals, and the engine `pass`. */
import { describe, expect, it } from 'vitest';
import type { Json } from '#domain/json.ts';
import { withChildRuns } from '#scheduler/child-runs.ts';
import { createApi } from './api-client.ts';

const ADA = 'arn:aws:iam::111122223333:user/ada';
const BOB = 'arn:aws:iam::111122223333:user/bob';
const SCHEMA = { type: 'object', properties: { amount: { type: 'integer' } }, required: ['amount'] };

function ask(id: string, more: { readonly [key: string]: Json } = {}, params: { readonly [key: string]: Json } = {}) {
  return { id, engine: 'approval', params: { prompt: 'Ship {it}?', ...params }, ...more };
}

function pass(id: string, dependsOn: string[] = [], more: { readonly [key: string]: Json } = {}) {
  return { id, dependsOn, engine: 'pass', params: { output: '{% $nodes %}' }, ...more };
}

async function started(nodes: readonly Json[], more: { readonly [key: string]: Json } = {}) {
  const api = createApi();
  Object.assign(api.deps, withChildRuns({ ...api.deps }));
  const put = await api.put({ name: 'p', nodes, ...more } as Json & { name: string });
  expect(put.body.errors).toBeUndefined();
  const { id } = (await api.post('/v1/pipelines/p/runs', { input: { n: 3 } })).body;
  await api.settle();
  const run = `/v1/runs/${id}`;
  const answer = (of: string, body: Json, by = ADA) => api.call('POST', `${run}/nodes/${of}/answer`, { body, by });
  const nodeOf = async (of: string) => (await api.get(`${run}/nodes/${of}`)).body;
  return { api, id, run, answer, nodeOf };
}

describe('an approval', () => {
  it('waits at no cost, is approved with an output, and says by whom', async () => {
    const nodes = [
      ask('ok', {}, { prompt: '{% "Pay " & $run.input.n & "?" %}', output: SCHEMA }),
      pass('after', ['ok']),
    ];
    const { api, id, run, answer, nodeOf } = await started(nodes, { output: '{% $nodes.ok.output.amount %}' });
    const waiting = await nodeOf('ok');
    expect(waiting).toMatchObject({
      state: 'RUNNING',
      reason: 'AwaitingCallback',
      attempt: 1,
      approval: { prompt: 'Pay 3?', expiresAt: new Date(Date.parse(waiting.since) + 86_400_000).toISOString() },
    });
    expect(waiting.message).toBe(`Waits until ${waiting.approval.expiresAt} for an answer to: Pay 3?`);
    expect(waiting.executionArn).toBeUndefined();
    const [explained] = (await api.get(`${run}/explain`)).body.items;
    expect(explained).toMatchObject({ id: 'ok', reason: 'AwaitingCallback', deadline: waiting.approval.expiresAt });
    await api.tick(id, 60_000);
    const before = await api.deps.runs.readRun(id);
    expect(before?.dueAt).toBe(Math.floor(Date.parse(waiting.approval.expiresAt) / 60_000) * 60_000);

    const wrong = await answer('ok', { approve: true, output: { amount: 'much' } });
    expect([wrong.status, wrong.body.code]).toEqual([422, 'INVALID_ANSWER']);
    expect((await answer('ok', { approve: true })).body.code).toBe('INVALID_ANSWER');
    const { status, body } = await answer('ok', {
      approve: true,
      output: { amount: 5 },
      comment: 'fine',
      token: waiting.approval.token,
    });
    expect([status, body.state, body.output]).toEqual([200, 'SUCCEEDED', { amount: 5 }]);
    await api.untilOver(id);
    expect((await api.get(run)).body).toMatchObject({ state: 'SUCCEEDED', output: 5 });
    expect((await api.get(`${run}/nodes/ok/attempts`)).body.items).toMatchObject([
      { attempt: 1, state: 'SUCCEEDED', by: ADA, note: 'fine', ignored: [] },
    ]);
    const { items } = (await api.get(`${run}/history`)).body;
    const end = items.find(
      (entry: { node?: string; state: string }) => entry.node === 'ok' && entry.state === 'SUCCEEDED',
    );
    expect(end).toMatchObject({ by: ADA, note: 'fine', attempt: 1 });
    expect(api.executions.started.size).toBe(0);
  });

  it('is denied, and is not asked again', async () => {
    const nodes = [ask('ok', { retry: { maxAttempts: 5 } }), pass('below', ['ok'])];
    const { api, id, run, answer, nodeOf } = await started(nodes);
    expect((await answer('ok', { approve: false, output: 1 })).body.code).toBe('INVALID_REQUEST');
    expect((await answer('ok', { approve: false, comment: 'too much' })).body).toMatchObject({ state: 'FAILED' });
    await api.untilOver(id);
    expect((await nodeOf('ok')).error).toEqual({
      name: 'Millrace.ApprovalDenied',
      message: `denied by ${ADA}: too much`,
    });
    expect((await nodeOf('below')).state).toBe('UPSTREAM_FAILED');
    expect((await api.get(run)).body.state).toBe('FAILED');
  });

  it('keeps the first of two answers, and tells the other who gave it', async () => {
    const { api, answer } = await started([ask('ok')]);
    const said = { approve: true, output: 1 };
    const [one, other] = await Promise.all([answer('ok', said, ADA), answer('ok', { approve: false }, BOB)]);
    expect([one.status, other.status].sort()).toEqual([200, 409]);
    const late = one.status === 409 ? one : other;
    expect(late.body.code).toBe('ALREADY_ANSWERED');
    expect(late.body.detail).toContain(one.status === 200 ? `approved by ${ADA}` : `denied by ${BOB}`);
    await api.settle();
    const again = one.status === 200 ? await answer('ok', said, ADA) : await answer('ok', { approve: false }, BOB);
    expect(again.status).toBe(200);
    expect((await answer('ok', { approve: true, output: 2 }, ADA)).body.code).toBe('ALREADY_ANSWERED');
  });

  it('expires, and is asked again where it may be', async () => {
    const nodes = [ask('ok', { timeoutSeconds: 600, retry: { maxAttempts: 2, intervalSeconds: 1 } })];
    const { api, id, answer, nodeOf } = await started(nodes);
    const { token } = (await nodeOf('ok')).approval;
    await api.tick(id, 540_000);
    expect((await nodeOf('ok')).reason).toBe('AwaitingCallback');
    await api.tick(id, 61_000);
    expect((await nodeOf('ok')).state).toBe('RETRY_WAIT');
    expect((await answer('ok', { approve: true })).body.code).toBe('NOT_WAITING');
    await api.tick(id, 2_000);
    expect(await nodeOf('ok')).toMatchObject({ state: 'RUNNING', attempt: 2 });
    expect((await answer('ok', { approve: true, token })).body.code).toBe('NOT_WAITING');
    await api.tick(id, 601_000);
    expect(await nodeOf('ok')).toMatchObject({
      state: 'TIMED_OUT',
      error: { name: 'States.Timeout', message: 'nobody answered within 600 s' },
    });
  });

  it('reports nothing, and is not ended for that', async () => {
    const { api, id, nodeOf } = await started([ask('ok', { heartbeatSeconds: 10 })]);
    for (let minute = 0; minute < 15; minute++) await api.tick(id, 60_000);
    expect((await nodeOf('ok')).reason).toBe('AwaitingCallback');
  });

  it('is refused an answer where nothing waits', async () => {
    const { api, id, answer, run } = await started([pass('quick'), ask('ok'), ask('later', { dependsOn: ['ok'] })]);
    expect((await answer('quick', { approve: true })).body.code).toBe('NOT_WAITING');
    expect((await answer('later', { approve: true })).body.code).toBe('NOT_WAITING');
    expect((await answer('nobody', { approve: true })).body.code).toBe('NODE_NOT_FOUND');
    for (const body of [{}, { approve: 'yes' }, { approve: true, extra: 1 }] as Json[]) {
      expect((await answer('ok', body)).body.code).toBe('INVALID_REQUEST');
    }
    await api.post(`${run}/stop`);
    expect((await answer('ok', { approve: true })).body.code).toBe('NOT_WAITING');
    expect((await api.deps.runs.readRun(id))?.state).toBe('ABORTED');
  });

  it('is marked by hand, at once', async () => {
    const { api, id, run, nodeOf } = await started([ask('ok'), pass('after', ['ok'])]);
    const { body } = await api.call('POST', `${run}/nodes/ok/mark`, {
      body: { state: 'SUCCEEDED', output: 1 },
      by: ADA,
    });
    expect([body.state, body.output]).toEqual(['SUCCEEDED', 1]);
    await api.untilOver(id);
    expect((await nodeOf('after')).output).toMatchObject({ ok: { output: 1 } });
  });

  it('answers in a paused run, which then starts nothing', async () => {
    const { api, run, answer, nodeOf } = await started([ask('ok'), pass('after', ['ok'])]);
    await api.post(`${run}/pause`);
    expect((await answer('ok', { approve: true })).body).toMatchObject({ state: 'SUCCEEDED', output: null });
    expect((await nodeOf('after')).reason).toBe('RunPaused');
  });

  it('asks for each item of a map, and fails on a prompt that is none', async () => {
    const nodes = [
      ask('each', { map: { items: ['a', 'b'], toleratedFailureCount: 1 } }, { prompt: '{% "Ship " & $item & "?" %}' }),
      ask('bad', {}, { prompt: '{% $run.input.n %}' }),
    ];
    const { api, id, answer, nodeOf, run } = await started(nodes);
    expect((await nodeOf('bad')).error.message).toContain('params.prompt must give a text of 1 to 1000 characters');
    expect(await nodeOf('each')).toMatchObject({ reason: 'AwaitingCallback' });
    const { items } = (await api.get(`${run}/nodes/each/items`)).body;
    expect(items.map((item: { approval: { prompt: string } }) => item.approval.prompt)).toEqual(['Ship a?', 'Ship b?']);
    expect((await answer('each', { approve: true })).body.code).toBe('INVALID_PARAMETER');
    const at = (item: number, body: Json) =>
      api.call('POST', `${run}/nodes/each/answer?item=${item}`, { body, by: ADA });
    expect((await at(7, { approve: true })).body.code).toBe('ITEM_NOT_FOUND');
    expect((await at(0, { approve: true, output: 'yes' })).body).toMatchObject({
      index: 0,
      state: 'SUCCEEDED',
      output: 'yes',
    });
    expect((await at(1, { approve: false })).body).toMatchObject({ index: 1, state: 'FAILED' });
    await api.untilOver(id);
    expect((await nodeOf('each')).output).toEqual([
      'yes',
      { error: { name: 'Millrace.ApprovalDenied', message: `denied by ${ADA}` } },
    ]);
  });
});

describe('a pass node', () => {
  it('gives what its parameters say, without an execution', async () => {
    const nodes = [
      pass('one', [], { params: { output: { n: '{% $run.input.n %}' } } }),
      pass('none', ['one'], { params: {} }),
      pass('each', ['one'], { map: { items: [1, 2] }, params: { output: '{% $item * 10 %}' } }),
      pass('bad', [], { params: { output: '{% $error("no") %}' }, allowFailure: true, retry: { maxAttempts: 3 } }),
      pass('way', ['one'], { params: { output: 'left' }, branch: '{% $output %}' }),
      pass('left', ['way'], { params: {} }),
      pass('right', ['way'], { params: {} }),
    ];
    const { api, id, run, nodeOf } = await started(nodes, { output: '{% $nodes %}' });
    await api.untilOver(id);
    const { body } = await api.get(run);
    expect(body.state).toBe('SUCCEEDED');
    expect(body.output).toMatchObject({
      one: { state: 'SUCCEEDED', output: { n: 3 } },
      none: { state: 'SUCCEEDED', output: null },
      each: { output: [10, 20] },
      bad: { state: 'FAILED' },
      left: { state: 'SUCCEEDED' },
      right: { state: 'SKIPPED' },
    });
    expect(await nodeOf('one')).toMatchObject({ output: { n: 3 }, attempt: 1, reason: 'Completed' });
    expect((await nodeOf('bad')).reason).toBe('ExpressionError');
    expect((await api.get(`${run}/nodes/each/output?item=1`)).text).toBe('20');
    expect((await api.get(`${run}/nodes/one/attempts`)).body.items).toMatchObject([{ attempt: 1, state: 'SUCCEEDED' }]);
    expect(api.executions.started.size).toBe(0);
  });

  it('refuses an output that is too large', async () => {
    const long = '{% $string($map([1..60000], function($n) { $n + 100000 })) %}';
    const { api, id, nodeOf } = await started([pass('big', [], { params: { output: long } })]);
    await api.untilOver(id);
    expect(await nodeOf('big')).toMatchObject({ state: 'FAILED', reason: 'PayloadTooLarge' });
  });
});
