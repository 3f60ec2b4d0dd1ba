/** Maps, branches and limits of waiting, as the API shows them. */
import { describe, expect, it } from 'vitest';
import { createApi } from './api-client.ts';
import { type Behaviour, SUCCEED } from './installation.ts';

const node = (id: string, dependsOn: string[] = [], more: object = {}) => ({
  id,
  dependsOn,
  params: { function: 'fn', payload: {} },
  ...more,
});

const ok = (output: unknown = 1) => ({ status: 'SUCCEEDED' as const, output: JSON.stringify(output) });
const broken = { status: 'FAILED' as const, error: { name: 'Broken', message: 'told so' } };

/** A run of one pipeline, settled as far as it goes by itself. */
async function runOf(nodes: object[], behave: Behaviour = SUCCEED, more: object = {}) {
  const api = createApi(behave);
  const put = await api.put({ name: 'p', nodes, ...more } as never);
  expect(put.status).toBe(201);
  const { id } = (await api.post('/v1/pipelines/p/runs', {})).body;
  await api.settle();
  return {
    ...api,
    id: id as string,
    at: (part: string) => api.get(`/v1/runs/${id}/${part}`),
    run: async () => (await api.get(`/v1/runs/${id}`)).body,
  };
}

const states = (items: { state: string }[]) => items.map(({ state }) => state);
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

describe('a map under way', () => {
  const retry = { maxAttempts: 2, intervalSeconds: 3600 };
  const behave: Behaviour = (_id, _attempt, item) => {
    if (item === 1) return broken;
    return item === 2 || item === 3 ? undefined : ok(`out ${item}`);
  };
  const map = { items: upTo(8), maxConcurrency: 3 };

  it('counts its items by state, and tells how far it is', async () => {
    const run = await runOf([node('m', [], { map, retry }), node('z', ['m'])], behave);
    const [m, z] = (await run.at('nodes')).body.items;
    expect(m).toMatchObject({
      state: 'RUNNING',
      reason: 'Executing',
      attempt: 0,
      progress: 1 / 8,
      map: { total: 8, counts: { SUCCEEDED: 1, RETRY_WAIT: 1, RUNNING: 2, PENDING: 4 } },
    });
    expect(m.message).toMatch(
      /^1 of 8 items are over, 2 under way, 1 between two attempts, the next at .+Z, 4 not started\.$/,
    );
    expect(m.executionArn).toBeUndefined();
    expect(z.state).toBe('PENDING');
    expect((await run.run()).progress).toBe(1 / 16);
    expect((await run.at('nodes/m')).body).toEqual(m);
  });

  it('lists its items, each with why it stands so', async () => {
    const run = await runOf([node('m', [], { map, retry })], behave);
    const { items } = (await run.at('nodes/m/items')).body;
    expect(items.map(({ index }: { index: number }) => index)).toEqual(upTo(8));
    expect(states(items)).toEqual(['SUCCEEDED', 'RETRY_WAIT', 'RUNNING', 'RUNNING', ...Array(4).fill('PENDING')]);
    expect(items[0]).toMatchObject({ reason: 'Completed', attempt: 1, output: 'out 0', message: 'Succeeded.' });
    expect(items[0].executionArn).toMatch(/:execution:millrace-lambda:millrace-.+-0_0-1$/);
    expect(Date.parse(items[0].endedAt)).toBeGreaterThanOrEqual(Date.parse(items[0].startedAt));
    expect(items[1]).toMatchObject({ reason: 'RetryScheduled', attempt: 1, error: broken.error });
    expect(items[1].message).toBe(
      `Attempt 1 failed (Broken: told so); attempt 2 of 2 starts at ${items[1].nextAttemptAt}.`,
    );
    expect(items[2]).toMatchObject({ reason: 'Starting', attempt: 1 });
    expect(items[4]).toMatchObject({
      reason: 'MapLimit',
      message: 'Waits for an item before it: all 3 places of its map are taken.',
      attempt: 0,
    });
    expect(items[4].startedAt).toBeUndefined();
  });

  it('pages through its items, all or those in a state', async () => {
    const run = await runOf([node('m', [], { map, retry })], behave);
    const walk = async (query: string) => {
      const found: number[] = [];
      let cursor = '';
      do {
        const page = (await run.at(`nodes/m/items?limit=2${query}${cursor}`)).body;
        found.push(...page.items.map(({ index }: { index: number }) => index));
        cursor = page.nextCursor ? `&cursor=${page.nextCursor}` : '';
      } while (cursor);
      return found;
    };
    expect(await walk('')).toEqual(upTo(8));
    expect(await walk('&state=PENDING&state=RUNNING')).toEqual([2, 3, 4, 5, 6, 7]);
    const { nextCursor } = (await run.at('nodes/m/items?limit=2')).body;
    expect((await run.at(`nodes/m/items?state=PENDING&cursor=${nextCursor}`)).body.code).toBe('INVALID_PAGE_TOKEN');
  });

  it('is one entry of explain, whatever its length', async () => {
    const run = await runOf([node('m', [], { map, retry })], behave);
    const { items } = (await run.at('explain')).body;
    expect(items).toMatchObject([
      { id: 'm', movedBy: 'The ends of the executions of its items.', map: { total: 8, counts: { RUNNING: 2 } } },
    ]);
  });

  it('tells of items that changed alike in one entry of the history, or not at all', async () => {
    const run = await runOf([node('m', [], { map: { items: upTo(5) } })]);
    await run.untilOver(run.id);
    const told = (await run.at('history')).body.items.filter((entry: { node?: string }) => entry.node === 'm');
    expect(told).toMatchObject([
      { state: 'RUNNING', reason: 'Executing' },
      { state: 'RUNNING', items: upTo(5), attempt: 1 },
      ...upTo(5).map((item) => ({ state: 'SUCCEEDED', items: [item], attempt: 1 })),
      { state: 'SUCCEEDED' },
    ]);
    expect(told.at(-1).items).toBeUndefined();
    const short = (await run.at('history?items=false')).body.items;
    expect(short.filter((entry: { node?: string }) => entry.node === 'm')).toHaveLength(2);
    expect((await run.at('history?items=no')).body.code).toBe('INVALID_PARAMETER');
  });

  it('waits for its engine with the items that are left', async () => {
    const run = await runOf([node('m', [], { map: { items: upTo(4), maxConcurrency: 2 } })], () => undefined);
    const engines = run.deps.engines as Map<string, { stateMachineArn: string }>;
    engines.clear();
    await run.tick(run.id, 0);
    const { items } = (await run.at('nodes/m/items')).body;
    expect(items[3]).toMatchObject({ state: 'PENDING', reason: 'NoEngine' });
    for (const execution of run.executions.started.values()) run.executions.end(execution.name, ok());
    await run.settle();
    expect((await run.at('nodes/m')).body).toMatchObject({
      state: 'RUNNING',
      reason: 'NoEngine',
      message: '2 of 4 items are over, 2 not started. No engine named "lambda" is registered.',
    });
    expect((await run.at('explain')).body.items).toMatchObject([
      { id: 'm', reason: 'NoEngine', engine: 'lambda', movedBy: expect.stringContaining('"lambda"') },
    ]);
  });

  it('stops with its run: what never started is ABORTED without an attempt', async () => {
    const run = await runOf([node('m', [], { map, retry })], behave);
    await run.post(`/v1/runs/${run.id}/stop`);
    await run.untilOver(run.id);
    const m = (await run.at('nodes/m')).body;
    expect(m).toMatchObject({
      state: 'ABORTED',
      reason: 'Stopped',
      message: 'Stopped together with its run.',
      map: { total: 8, counts: { SUCCEEDED: 1, ABORTED: 7 } },
    });
    const { items } = (await run.at('nodes/m/items')).body;
    expect(items[1]).toMatchObject({ state: 'ABORTED', reason: 'Stopped', attempt: 1 });
    expect((await run.at('nodes/m/attempts?item=1')).body.items).toMatchObject([
      { state: 'FAILED', error: broken.error },
    ]);
    expect(items[2]).toMatchObject({ state: 'ABORTED', reason: 'Stopped', attempt: 1 });
    expect(items[7]).toMatchObject({
      state: 'ABORTED',
      reason: 'Stopped',
      attempt: 0,
      message: 'Never started: its map was over before, ABORTED.',
    });
  });
});

describe('a map that is over', () => {
  it('gives the list of outputs, in the order of the list', async () => {
    const run = await runOf([node('m', [], { map: { items: upTo(12) } })], (_id, _attempt, item) => ok({ item }));
    await run.untilOver(run.id);
    const expected = upTo(12).map((item) => ({ item }));
    const m = (await run.at('nodes/m')).body;
    expect(m).toMatchObject({
      state: 'SUCCEEDED',
      message: 'Succeeded: 12 of 12 items.',
      progress: 1,
      map: { total: 12, counts: { SUCCEEDED: 12 } },
      output: expected,
    });
    expect(Date.parse(m.endedAt)).toBeGreaterThanOrEqual(Date.parse(m.startedAt));
    expect((await run.at('nodes')).body.items[0].output).toEqual(expected);
    expect((await run.at('nodes/m/output')).body).toEqual(expected);
    expect((await run.at('nodes/m/output?item=7')).body).toEqual({ item: 7 });
    expect((await run.at('nodes/m/items?limit=1')).body.items[0].output).toEqual({ item: 0 });
  });

  it('gives addresses of outputs that are too large for a list', async () => {
    const long = 'x'.repeat(70_000);
    const run = await runOf(
      [node('m', [], { map: { items: upTo(2) } }), node('many', [], { map: { items: upTo(101) } })],
      (id) => ok(id === 'm' ? long : 1),
    );
    await run.untilOver(run.id);
    const [m, many] = (await run.at('nodes')).body.items;
    expect([m.output, m.outputRef]).toEqual([undefined, `/v1/runs/${run.id}/nodes/m/output`]);
    expect([many.output, many.outputRef]).toEqual([undefined, `/v1/runs/${run.id}/nodes/many/output`]);
    expect((await run.get(many.outputRef)).body).toHaveLength(101);
    const [item] = (await run.at('nodes/m/items')).body.items;
    expect(item.outputRef).toBe(`/v1/runs/${run.id}/nodes/m/output?item=0`);
    expect((await run.get(item.outputRef)).body).toBe(long);
    expect((await run.at('nodes/m')).body.output).toEqual([long, long]);
  });

  it('gives the address of an output that no answer could hold; its parts can be had one by one', async () => {
    const long = 'x'.repeat(250_000);
    const run = await runOf([node('m', [], { map: { items: upTo(18) } })], () => ok(long));
    await run.untilOver(run.id);
    expect((await run.at('nodes/m')).body.outputRef).toBe(`/v1/runs/${run.id}/nodes/m/output`);
    expect((await run.at('nodes/m/output?item=17')).body).toBe(long);
  });

  it('leaves the error of a tolerated failure at its place', async () => {
    const run = await runOf([node('m', [], { map: { items: upTo(3), toleratedFailureCount: 1 } })], (_id, _n, item) =>
      item === 1 ? broken : ok(item),
    );
    await run.untilOver(run.id);
    expect((await run.at('nodes/m')).body).toMatchObject({
      state: 'SUCCEEDED',
      message: 'Succeeded: 2 of 3 items; 1 failure tolerated.',
      map: { counts: { SUCCEEDED: 2, FAILED: 1 } },
      output: [0, { error: broken.error }, 2],
    });
    const failed = (await run.at('nodes/m/items?state=FAILED')).body.items;
    expect(failed).toMatchObject([
      { index: 1, reason: 'NodeFailed', error: broken.error, message: 'Failed: Broken: told so' },
    ]);
    expect((await run.at('nodes/m/output?item=1')).body).toMatchObject({
      code: 'OUTPUT_NOT_FOUND',
      detail: 'Item 1 of map "m" is FAILED and has no output.',
    });
  });

  it('shows every attempt of every item, or of one', async () => {
    const run = await runOf(
      [node('m', [], { map: { items: upTo(3) }, retry: { maxAttempts: 3, intervalSeconds: 1 } })],
      (_id, attempt, item) => (item === 1 && attempt < 3 ? broken : ok()),
    );
    await run.untilOver(run.id);
    const all = (await run.at('nodes/m/attempts')).body.items;
    expect(
      all.map((one: { item: number; attempt: number; state: string }) => [one.item, one.attempt, one.state]),
    ).toEqual([
      [0, 1, 'SUCCEEDED'],
      [1, 1, 'FAILED'],
      [1, 2, 'FAILED'],
      [1, 3, 'SUCCEEDED'],
      [2, 1, 'SUCCEEDED'],
    ]);
    const one = (await run.at('nodes/m/attempts?item=1')).body.items;
    expect(one).toEqual(all.slice(1, 4));
    expect(one[2].executionArn).toMatch(/-0_1-3$/);
    const rest = await run.at(
      `nodes/m/attempts?item=1&limit=2&cursor=${(await run.at('nodes/m/attempts?item=1&limit=2')).body.nextCursor}`,
    );
    expect(rest.body).toEqual({ items: one.slice(2) });
  });

  it('answers 404 for an item that is not there, and for items of what is no map', async () => {
    const run = await runOf([node('m', [], { map: { items: upTo(3) } }), node('a')]);
    for (const address of [
      'nodes/m/attempts?item=3',
      'nodes/m/output?item=3',
      'nodes/a/items',
      'nodes/a/output?item=0',
    ]) {
      expect((await run.at(address)).body.code, address).toBe('ITEM_NOT_FOUND');
    }
    expect((await run.at('nodes/m/attempts?item=-1')).body.code).toBe('INVALID_PARAMETER');
    expect((await run.at('nodes/x/items')).body.code).toBe('NODE_NOT_FOUND');
  });

  it('C56 succeeds with an empty list, alone, chained and as the last node', async () => {
    const items = '{% $nodes.gen.output %}';
    const limits = { timeoutSeconds: 5, retry: { maxAttempts: 3 } };
    const run = await runOf(
      [
        node('gen'),
        node('m', ['gen'], { map: { items, maxConcurrency: 1 }, ...limits }),
        node('m1', ['gen'], { map: { items } }),
        node('m2', ['m1'], { map: { items: '{% $nodes.m1.output %}' } }),
        node('leaf', ['m']),
      ],
      (id) => ok(id === 'gen' ? [] : 'leaf'),
    );
    await run.untilOver(run.id);
    const nodes = (await run.at('nodes')).body.items;
    expect(states(nodes)).toEqual(Array(5).fill('SUCCEEDED'));
    for (const at of [1, 2, 3]) {
      expect(nodes[at]).toMatchObject({
        map: { total: 0, counts: {} },
        output: [],
        message: 'Succeeded: its list is empty.',
      });
    }
    expect((await run.at('nodes/m/items')).body).toEqual({ items: [] });
    expect((await run.at('nodes/m2/output')).body).toEqual([]);
    expect((await run.run()).state).toBe('SUCCEEDED');
    expect(run.executions.started.size).toBe(2);
  });

  it('C59 fails with the item that failed and its cause; what was not started never is', async () => {
    const run = await runOf(
      [node('m', [], { map: { items: [1, 2, 3, 4], maxConcurrency: 1 } }), node('z', ['m'])],
      (_id, _attempt, item) => (item === 2 ? broken : ok()),
    );
    await run.untilOver(run.id);
    const [m, z] = (await run.at('nodes')).body.items;
    expect(m).toMatchObject({
      state: 'FAILED',
      reason: 'NodeFailed',
      progress: 0.75,
      map: { total: 4, counts: { SUCCEEDED: 2, FAILED: 1, ABORTED: 1 } },
      error: {
        name: 'Millrace.ItemsFailed',
        message: 'item 2: Broken: told so (1 of 4 items failed, 0 may)',
      },
      message: 'Failed: Millrace.ItemsFailed: item 2: Broken: told so (1 of 4 items failed, 0 may)',
    });
    expect(z.state).toBe('UPSTREAM_FAILED');
    const { items } = (await run.at('nodes/m/items')).body;
    expect(states(items)).toEqual(['SUCCEEDED', 'SUCCEEDED', 'FAILED', 'ABORTED']);
    expect(items[3]).toMatchObject({ attempt: 0, reason: 'NodeFailed' });
    expect(await run.run()).toMatchObject({ state: 'FAILED', error: { node: 'm', name: 'Millrace.ItemsFailed' } });
    expect((await run.at('nodes/m/output')).body.code).toBe('OUTPUT_NOT_FOUND');
  });

  it('C23 is decided by its last item: nothing below it starts before', async () => {
    let slow = true;
    const run = await runOf(
      [
        node('m', [], { map: { items: ['ok', 'bad', 'slow'] } }),
        node('d', ['m'], { trigger: 'all_done' }),
        node('n', ['m'], { trigger: 'one_failed' }),
      ],
      (_id, _attempt, item) => {
        if (item === 2 && slow) return undefined;
        return item === 1 ? broken : ok();
      },
    );
    const before = (await run.at('nodes')).body.items;
    expect(states(before)).toEqual(['RUNNING', 'PENDING', 'PENDING']);
    expect(before[0]).toMatchObject({
      reason: 'Stopping',
      message:
        '2 of 3 items are over (1 failed), 1 under way. No further item starts, since more have failed than may.',
    });
    slow = false;
    for (const execution of run.executions.started.values()) {
      if (execution.status === 'RUNNING') run.executions.end(execution.name, ok());
    }
    await run.untilOver(run.id);
    const [m, d, n] = (await run.at('nodes')).body.items;
    expect([m.state, d.state, n.state, (await run.run()).state]).toEqual([
      'FAILED',
      'SUCCEEDED',
      'SUCCEEDED',
      'FAILED',
    ]);
    for (const below of [d, n]) expect(Date.parse(below.startedAt)).toBeGreaterThanOrEqual(Date.parse(m.endedAt));
  });

  it('is one node in RunChanged, without an attempt of its own', async () => {
    const run = await runOf([node('m', [], { map: { items: upTo(3) } })], SUCCEED, { events: 'nodes' });
    await run.untilOver(run.id);
    const told = run.events
      .filter(({ detailType }) => detailType === 'RunChanged')
      .flatMap(({ detail }) => (detail as { nodes?: { id: string; state: string; attempt: number }[] }).nodes ?? []);
    expect(told[0]).toMatchObject({ id: 'm', state: 'RUNNING', attempt: 0 });
    expect(told.at(-1)).toMatchObject({ id: 'm', state: 'SUCCEEDED', attempt: 0 });
    expect(new Set(told.map(({ attempt }) => attempt))).toEqual(new Set([0]));
  });

  it('shows a map whose list cannot be had', async () => {
    const run = await runOf([
      node('gen'),
      node('text', ['gen'], { map: { items: '{% $nodes.gen.output.ok %}' } }),
      node('gone', [], { when: '{% false %}' }),
      node('skipped', ['gone'], { map: { items: '{% $nodes.gone.output %}' }, trigger: 'none_failed' }),
    ]);
    await run.untilOver(run.id);
    expect((await run.at('nodes/text')).body).toMatchObject({ state: 'FAILED', reason: 'ExpressionError' });
    expect((await run.at('nodes/text')).body.map).toBeUndefined();
    expect((await run.at('nodes/text/items')).body).toEqual({ items: [] });
    expect((await run.at('nodes/skipped')).body).toMatchObject({
      state: 'SKIPPED',
      message: 'Skipped: its list comes from a node that was skipped.',
    });
  });

  it('shows an item whose parameters failed, which never began', async () => {
    const params = { function: 'fn', payload: '{% $item.x %}' };
    const run = await runOf([node('m', [], { map: { items: [{ x: 1 }, {}], toleratedFailureCount: 1 }, params })]);
    await run.untilOver(run.id);
    const [, failed] = (await run.at('nodes/m/items')).body.items;
    expect(failed).toMatchObject({
      state: 'FAILED',
      reason: 'ExpressionError',
      error: { name: 'Millrace.ExpressionError' },
    });
    expect([failed.startedAt, failed.executionArn]).toEqual([undefined, undefined]);
  });

  it('keeps apart items that failed with errors of their own in one commit', async () => {
    const params = { function: 'fn', payload: '{% $item.x %}' };
    const items = [{}, {}, {}];
    const run = await runOf([node('m', [], { map: { items, toleratedFailureCount: 3 }, params })]);
    await run.untilOver(run.id);
    expect((await run.at('nodes/m')).body.map).toEqual({ total: 3, counts: { FAILED: 3 } });
    expect(states((await run.at('nodes/m/items')).body.items)).toEqual(['FAILED', 'FAILED', 'FAILED']);
  });
});
