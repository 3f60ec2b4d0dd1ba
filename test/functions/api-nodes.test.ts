import { describe, expect, it } from 'vitest';
import { toNodePath } from '#http/node-path.ts';
import { createApi } from './api-client.ts';
import { type Behaviour, SUCCEED } from './installation.ts';

const node = (id: string, dependsOn: string[] = [], more: object = {}) => ({
  id,
  dependsOn,
  params: { function: 'fn' },
  ...more,
});

/** A run of one pipeline, settled as far as it goes by itself. */
async function runOf(nodes: object[], behave: Behaviour = SUCCEED, more: object = {}) {
  const api = createApi(behave);
  const put = await api.put({ name: 'p', nodes, ...more } as never);
  expect(put.status).toBe(201);
  const { id } = (await api.post('/v1/pipelines/p/runs', {})).body;
  await api.settle();
  return { ...api, id: id as string, at: (part: string) => api.get(`/v1/runs/${id}/${part}`) };
}

const FAIL_FIRST: Behaviour = (_node, attempt) =>
  attempt === 1
    ? { status: 'FAILED', error: { name: 'Flaky', message: 'not yet' } }
    : { status: 'SUCCEEDED', output: '{"attempt":2}' };

describe('GET /v1/runs/{runId}/nodes', () => {
  it('lists nodes in the order of the definition, with what they wait for', async () => {
    const running: Behaviour = (id) => (id === 'first' ? { status: 'SUCCEEDED', output: '{"rows":3}' } : undefined);
    const run = await runOf([node('last', ['middle']), node('middle', ['first']), node('first')], running);
    const { items } = (await run.at('nodes')).body;
    expect(items.map(({ id }: { id: string }) => id)).toEqual(['last', 'middle', 'first']);
    const [last, middle, first] = items;
    expect(last).toMatchObject({
      state: 'PENDING',
      reason: 'UpstreamPending',
      message: 'Waits for its upstream "middle".',
      attempt: 0,
    });
    expect(middle).toMatchObject({ state: 'RUNNING', reason: 'Starting', attempt: 1, engine: 'lambda' });
    expect(middle.executionArn).toMatch(
      /^arn:aws:states:eu-central-1:111122223333:execution:millrace-lambda:millrace-/,
    );
    expect(first).toMatchObject({
      state: 'SUCCEEDED',
      reason: 'Completed',
      output: { rows: 3 },
      progress: 1,
      attempt: 1,
    });
    expect(Date.parse(first.endedAt)).toBeGreaterThanOrEqual(Date.parse(first.startedAt));
    expect(Date.parse(middle.startedAt)).toBeGreaterThanOrEqual(Date.parse(first.endedAt));
  });

  it('picks nodes by state, and pages through them', async () => {
    const run = await runOf(
      Array.from({ length: 7 }, (_, at) => node(`n${at}`)),
      (id) => (id === 'n3' ? undefined : { status: 'SUCCEEDED', output: '1' }),
    );
    const found: string[] = [];
    let cursor = '';
    do {
      const page = await run.at(`nodes?state=SUCCEEDED&limit=4${cursor}`);
      found.push(...page.body.items.map(({ id }: { id: string }) => id));
      cursor = page.body.nextCursor ? `&cursor=${page.body.nextCursor}` : '';
    } while (cursor);
    expect(found).toEqual(['n0', 'n1', 'n2', 'n4', 'n5', 'n6']);
    expect((await run.at('nodes?state=RUNNING')).body.items).toMatchObject([{ id: 'n3' }]);
    const first = await run.at('nodes?state=SUCCEEDED&limit=4');
    expect((await run.at(`nodes?state=RUNNING&cursor=${first.body.nextCursor}`)).body.code).toBe('INVALID_PAGE_TOKEN');
  });

  it('gives the address of an output over 64 KB in place of it', async () => {
    const output = JSON.stringify('x'.repeat(70_000));
    const run = await runOf([node('big one')], () => ({ status: 'SUCCEEDED', output }));
    const [listed] = (await run.at('nodes')).body.items;
    expect(listed.output).toBeUndefined();
    expect(listed.outputRef).toBe(`/v1/runs/${run.id}/nodes/${toNodePath('big one')}/output`);
    expect((await run.get(listed.outputRef)).text).toBe(output);
    expect((await run.at(`nodes/${toNodePath('big one')}`)).body.output).toHaveLength(70_000);
  });

  it('ends a page at 4 MB', async () => {
    const output = JSON.stringify('x'.repeat(60_000));
    const run = await runOf(
      Array.from({ length: 100 }, (_, at) => node(`n${at}`)),
      () => ({ status: 'SUCCEEDED', output }),
    );
    await run.untilOver(run.id);
    const first = await run.at('nodes');
    expect(Buffer.byteLength(first.text)).toBeLessThan(4.1 * 1024 * 1024);
    const second = await run.at(`nodes?cursor=${first.body.nextCursor}`);
    const found = [...first.body.items, ...second.body.items].map(({ id }: { id: string }) => id);
    expect(found).toEqual(Array.from({ length: 100 }, (_, at) => `n${at}`));
  });
});

describe('GET /v1/runs/{runId}/nodes/{node}', () => {
  it('finds nodes of any id', async () => {
    const ids = ['__proto__', 'constructor', 'naïve ☂', 'a/b?c#d%2F', '..', 'b64.x', '"\'<>', '0'];
    const run = await runOf(ids.map((id) => node(id)));
    for (const id of ids) {
      const found = await run.at(`nodes/${toNodePath(id)}`);
      expect(found.body, id).toMatchObject({ id, state: 'SUCCEEDED' });
    }
    expect((await run.at(`nodes/b64.${Buffer.from('0').toString('base64url')}`)).body.id).toBe('0');
  });

  it('answers 404 for an unknown id of any form', async () => {
    const run = await runOf([node('a')]);
    for (const id of ['b', 'toString', 'b64.', 'b64.*', 'b64._w', 'a%20', '%00']) {
      for (const part of ['', '/output', '/attempts']) {
        expect((await run.at(`nodes/${id}${part}`)).body.code, id + part).toBe('NODE_NOT_FOUND');
      }
    }
  });

  it('waits for the next attempt in plain sight, and then shows every attempt', async () => {
    const retry = { maxAttempts: 3, intervalSeconds: 600 };
    const run = await runOf([node('flaky', [], { retry })], FAIL_FIRST);
    const waiting = (await run.at('nodes/flaky')).body;
    expect(waiting).toMatchObject({
      state: 'RETRY_WAIT',
      reason: 'RetryScheduled',
      attempt: 1,
      error: { name: 'Flaky', message: 'not yet' },
    });
    expect(waiting.message).toBe(
      `Attempt 1 failed (Flaky: not yet); attempt 2 of 3 starts at ${waiting.nextAttemptAt}.`,
    );
    expect((await run.at('nodes/flaky/output')).body.code).toBe('OUTPUT_NOT_FOUND');
    await run.untilOver(run.id);
    const done = (await run.at('nodes/flaky')).body;
    expect(done).toMatchObject({
      state: 'SUCCEEDED',
      attempt: 2,
      message: 'Succeeded at attempt 2.',
      output: { attempt: 2 },
    });
    const { items } = (await run.at('nodes/flaky/attempts')).body;
    expect(items).toMatchObject([
      { attempt: 1, state: 'FAILED', error: { name: 'Flaky' }, ignored: [] },
      { attempt: 2, state: 'SUCCEEDED', ignored: [] },
    ]);
    expect(items[1].executionArn).toMatch(/-0-2$/);
    expect(done.startedAt).toBe(items[0].startedAt);
    expect(done.endedAt).toBe(items[1].endedAt);
    const paged = await run.at('nodes/flaky/attempts?limit=1');
    const rest = await run.at(`nodes/flaky/attempts?limit=1&cursor=${paged.body.nextCursor}`);
    expect([paged.body.items[0].attempt, rest.body.items[0].attempt, rest.body.nextCursor]).toEqual([1, 2, undefined]);
  });

  it('names the upstream of what failed for it', async () => {
    const run = await runOf(
      [node('bad'), node('below', ['bad']), node('skipped', [], { when: '{% false %}' })],
      (id) =>
        id === 'bad' ? { status: 'FAILED', error: { name: 'E', message: 'm' } } : { status: 'SUCCEEDED', output: '1' },
    );
    await run.untilOver(run.id);
    expect((await run.at('nodes/below')).body).toMatchObject({
      state: 'UPSTREAM_FAILED',
      reason: 'UpstreamFailed',
      message: 'Upstream "bad" is FAILED.',
      error: { name: 'Millrace.UpstreamFailed', message: 'Upstream "bad" is FAILED.' },
      attempt: 0,
    });
    expect((await run.at('nodes/below/attempts')).body.items).toEqual([]);
    expect((await run.at('nodes/skipped')).body).toMatchObject({
      state: 'SKIPPED',
      reason: 'ConditionFalse',
      message: 'Skipped: its condition {% false %} is false.',
    });
  });

  it('shows a failing expression as the error of a node that never began', async () => {
    const params = { function: 'fn', payload: '{% $nodes.a.output.nothing %}' };
    const run = await runOf([node('a'), node('b', ['a'], { params })]);
    await run.untilOver(run.id);
    const b = (await run.at('nodes/b')).body;
    expect(b).toMatchObject({
      state: 'FAILED',
      reason: 'ExpressionError',
      error: { name: 'Millrace.ExpressionError' },
    });
    expect(b.executionArn).toBeUndefined();
    expect((await run.at('nodes/b/attempts')).body.items).toMatchObject([{ attempt: 1, state: 'FAILED' }]);
  });

  it('shows a node that somebody stopped from outside', async () => {
    const run = await runOf([node('a')], () => ({ status: 'ABORTED' }));
    await run.untilOver(run.id);
    const error = { name: 'Millrace.AbortedOutside' };
    expect((await run.at('nodes/a')).body).toMatchObject({ state: 'ABORTED', reason: 'AbortedOutside', error });
    expect((await run.get(`/v1/runs/${run.id}`)).body.error).toMatchObject({ ...error, node: 'a' });
  });

  it('is overdue, then stopping, then timed out, and keeps the late completion as ignored', async () => {
    const run = await runOf([node('slow', [], { timeoutSeconds: 600 })], () => undefined);
    await run.tick(run.id, 60_000);
    expect((await run.at('explain')).body.items).toMatchObject([
      { id: 'slow', reason: 'Executing', deadline: expect.any(String) },
    ]);
    run.time.now += 700_000;
    expect((await run.at('nodes/slow')).body).toMatchObject({ state: 'RUNNING', reason: 'Overdue' });
    const [execution] = [...run.executions.started.values()];
    const { stop } = run.executions;
    run.executions.stop = async () => 'accepted';
    await run.tick(run.id, 0);
    expect((await run.at('nodes/slow')).body).toMatchObject({ state: 'RUNNING', reason: 'Stopping' });
    expect((await run.at('explain')).body.items).toMatchObject([
      { id: 'slow', reason: 'Stopping', movedBy: 'The end of its execution, which has been told to stop.' },
    ]);
    run.executions.end(execution?.name ?? '', { status: 'SUCCEEDED', output: '"late"' });
    run.executions.stop = stop;
    await run.untilOver(run.id);
    expect((await run.at('nodes/slow')).body).toMatchObject({
      state: 'TIMED_OUT',
      reason: 'TimedOut',
      error: { name: 'States.Timeout', message: 'attempt 1 was not over after 600 s' },
    });
    expect((await run.at('nodes/slow/attempts')).body.items).toMatchObject([
      { state: 'TIMED_OUT', ignored: [{ status: 'SUCCEEDED' }] },
    ]);
    expect((await run.at('nodes/slow/output')).status).toBe(404);
    expect((await run.get(`/v1/runs/${run.id}`)).body.message).toBe(
      'Node "slow" failed: States.Timeout: attempt 1 was not over after 600 s',
    );
  });
});

describe('GET /v1/runs/{runId}/history', () => {
  it('tells what happened in order, with revision numbers, also of runs with a long history', async () => {
    const chain = Array.from({ length: 30 }, (_, at) => node(`n${at}`, at > 0 ? [`n${at - 1}`] : []));
    const run = await runOf(chain);
    await run.untilOver(run.id);
    const entries: { rev: number; node?: string; state: string }[] = [];
    let cursor = '';
    do {
      const page = await run.at(`history?limit=25${cursor}`);
      entries.push(...page.body.items);
      cursor = page.body.nextCursor ? `&cursor=${page.body.nextCursor}` : '';
    } while (cursor);
    expect(entries[0]).toMatchObject({ rev: 1, state: 'QUEUED' });
    expect(entries.at(-1)).toMatchObject({ state: 'SUCCEEDED' });
    expect(entries.at(-1)?.node).toBeUndefined();
    const revs = entries.map(({ rev }) => rev);
    expect(revs).toEqual([...revs].sort((a, b) => a - b));
    const told = entries.filter(({ node: id }) => id !== undefined).map(({ node: id, state }) => `${id} ${state}`);
    expect(told).toEqual(chain.flatMap(({ id }) => [`${id} RUNNING`, `${id} SUCCEEDED`]));
  });

  it('says who stopped a run', async () => {
    const api = createApi(() => undefined);
    await api.put({ name: 'p', nodes: [node('a')] });
    const { id } = (await api.post('/v1/pipelines/p/runs', {})).body;
    await api.settle();
    await api.call('POST', `/v1/runs/${id}/stop`, { by: 'ada' });
    const { items } = (await api.get(`/v1/runs/${id}/history`)).body;
    expect(items.at(-1)).toMatchObject({ state: 'STOPPING', by: 'ada' });
  });
});

describe('GET /v1/runs/{runId}/explain', () => {
  it('explains everything that is unfinished, and nothing once all is over', async () => {
    const retry = { maxAttempts: 2, intervalSeconds: 3600 };
    const nodes = [
      node('done'),
      node('runs'),
      node('retries', [], { retry }),
      node('later', ['runs', 'retries']),
      { id: 'odd', engine: 'emr' },
    ];
    const behave: Behaviour = (id) => {
      if (id === 'runs') return undefined;
      return id === 'retries'
        ? { status: 'FAILED', error: { name: 'E', message: 'm' } }
        : { status: 'SUCCEEDED', output: '1' };
    };
    const run = await runOf(nodes, behave);
    const { body } = await run.at('explain');
    expect(body.run).toMatchObject({ id: run.id, state: 'RUNNING', reason: 'Executing' });
    expect(body.items).toMatchObject([
      {
        id: 'runs',
        reason: 'Starting',
        executionArn: expect.stringContaining(':execution:'),
      },
      {
        id: 'retries',
        reason: 'RetryScheduled',
        nextAttemptAt: expect.any(String),
        message: expect.stringContaining('E: m'),
      },
      { id: 'later', reason: 'UpstreamPending', upstreams: ['runs', 'retries'] },
      { id: 'odd', reason: 'NoEngine', engine: 'emr', movedBy: expect.stringContaining('"emr"') },
    ]);
    for (const item of body.items) expect(item.movedBy).not.toBe('');
    const first = await run.at('explain?limit=3');
    const rest = await run.at(`explain?limit=3&cursor=${first.body.nextCursor}`);
    expect([...first.body.items, ...rest.body.items].map(({ id }: { id: string }) => id)).toEqual([
      'runs',
      'retries',
      'later',
      'odd',
    ]);
    await run.post(`/v1/runs/${run.id}/stop`);
    await run.untilOver(run.id);
    expect((await run.at('explain')).body).toMatchObject({ run: { state: 'ABORTED' }, items: [] });
  });

  it('tells a start that Step Functions did not take', async () => {
    const api = createApi();
    await api.put({ name: 'p', nodes: [node('a')] });
    const { start } = api.executions;
    api.executions.start = async () => ({ kind: 'later', message: 'ThrottlingException' });
    const { id } = (await api.post('/v1/pipelines/p/runs', {})).body;
    await api.settle(3);
    expect((await api.get(`/v1/runs/${id}/explain`)).body.items).toMatchObject([{ id: 'a', reason: 'Throttled' }]);
    api.executions.start = start;
    expect((await api.untilOver(id)).state).toBe('SUCCEEDED');
  });

  it('tells that Step Functions has not said for long how an attempt stands, and fails nothing for it', async () => {
    const run = await runOf([node('a', [], { timeoutSeconds: 3_600 })], () => undefined);
    const { describe: answered } = run.executions;
    run.executions.describe = async () => ({ kind: 'unanswered', message: 'Rate exceeded' });
    const [execution] = [...run.executions.started.values()];
    for (let minute = 0; minute < 10; minute++) await run.tick(run.id, 60_000);
    const message = expect.stringMatching(
      /^Step Functions has not said since 2026-11-30T12:01:\S+ how attempt 1 stands;/,
    );
    expect((await run.at('nodes/a')).body).toMatchObject({ state: 'RUNNING', reason: 'Throttled', message });
    run.executions.describe = answered;
    await run.tick(run.id, 60_000);
    expect((await run.at('nodes/a')).body).toMatchObject({ state: 'RUNNING', reason: 'Executing' });
    run.executions.end(execution?.name ?? '', { status: 'SUCCEEDED', output: '1' });
    expect((await run.untilOver(run.id)).state).toBe('SUCCEEDED');
  });

  it('tells that nobody knows whether an attempt ended whose time is over', async () => {
    const run = await runOf([node('a', [], { timeoutSeconds: 180 })], () => undefined);
    await run.tick(run.id, 60_000);
    run.executions.describe = async () => ({ kind: 'unanswered', message: 'Rate exceeded' });
    for (let minute = 0; minute < 6; minute++) await run.tick(run.id, 60_000);
    const message = expect.stringContaining('Step Functions does not say whether it has');
    expect((await run.at('nodes/a')).body).toMatchObject({ state: 'RUNNING', reason: 'Overdue', message });
  });
});
