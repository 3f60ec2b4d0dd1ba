/** Branches, limits of waiting, and ids of any look, as the API shows them. */
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

async function runOf(nodes: object[], behave: Behaviour = SUCCEED) {
  const api = createApi(behave);
  const put = await api.put({ name: 'p', nodes } as never);
  expect(put.status).toBe(201);
  const { id } = (await api.post('/v1/pipelines/p/runs', {})).body;
  await api.settle();
  return { ...api, id: id as string, at: (part: string) => api.get(`/v1/runs/${id}/${part}`) };
}

describe('a branch', () => {
  const nodes = [
    node('decide', [], { branch: '{% $output.next %}' }),
    node('a', ['decide']),
    node('b', ['decide']),
    node('c', ['decide']),
    node('below', ['b']),
  ];

  it('shows what it chose, and names itself to those that it did not choose', async () => {
    const run = await runOf(nodes, (id) => ok(id === 'decide' ? { next: ['c', 'a'] } : 1));
    await run.untilOver(run.id);
    const [decide, a, b, c, below] = (await run.at('nodes')).body.items;
    expect(decide).toMatchObject({
      state: 'SUCCEEDED',
      branch: { chosen: ['c', 'a'] },
      message: 'Succeeded; it chose "c" and "a".',
    });
    expect([a.state, c.state]).toEqual(['SUCCEEDED', 'SUCCEEDED']);
    expect(b).toMatchObject({
      state: 'SKIPPED',
      reason: 'BranchNotChosen',
      message: 'Skipped: branch "decide" chose "c" and "a".',
    });
    expect(below).toMatchObject({
      state: 'SKIPPED',
      reason: 'TriggerNotMet',
      message: 'Skipped: its upstreams do not satisfy its trigger rule all_success.',
    });
    const { items } = (await run.at('history')).body;
    expect(
      items.find((entry: { node: string; state: string }) => entry.node === 'decide' && entry.state === 'SUCCEEDED'),
    ).toMatchObject({
      branch: { chosen: ['c', 'a'] },
    });
    expect(items.find((entry: { node: string }) => entry.node === 'b')).toMatchObject({ reason: 'BranchNotChosen' });
  });

  it('may choose none', async () => {
    const run = await runOf(nodes, (id) => ok(id === 'decide' ? { next: [] } : 1));
    await run.untilOver(run.id);
    const [decide, a] = (await run.at('nodes')).body.items;
    expect(decide).toMatchObject({ branch: { chosen: [] }, message: 'Succeeded; it chose none of its downstreams.' });
    expect(a.message).toBe('Skipped: branch "decide" chose none of its downstreams.');
  });

  it('that chooses what is none of its downstreams fails, its execution being no late completion', async () => {
    const run = await runOf(nodes, () => ok({ next: 'below' }));
    await run.untilOver(run.id);
    const decide = (await run.at('nodes/decide')).body;
    expect(decide).toMatchObject({
      state: 'FAILED',
      reason: 'ExpressionError',
      error: { name: 'Millrace.ExpressionError' },
    });
    expect(decide.error.message).toContain('"below"');
    expect(decide.branch).toBeUndefined();
    expect((await run.at('nodes/decide/attempts')).body.items).toMatchObject([{ state: 'FAILED', ignored: [] }]);
  });
});

describe('a node that may not wait for ever', () => {
  const nodes = [node('a'), { id: 'odd', engine: 'emr', queueTimeoutSeconds: 60 }, node('z', ['odd'])];

  it('C97 shows until when it waits, and then that it was given up', async () => {
    const run = await runOf(nodes);
    const [waiting] = (await run.at('explain')).body.items;
    expect(waiting).toMatchObject({ id: 'odd', state: 'QUEUED', reason: 'NoEngine', engine: 'emr' });
    expect(Date.parse(waiting.deadline) - Date.parse(waiting.since)).toBe(60_000);
    expect(waiting.message).toBe(`No engine named "emr" is registered. It is given up at ${waiting.deadline}.`);
    await run.tick(run.id, 60_000);
    expect((await run.at('nodes/odd')).body).toMatchObject({
      state: 'TIMED_OUT',
      reason: 'QueueTimeout',
      attempt: 0,
      error: { name: 'Millrace.QueueTimeout', message: 'not started within 60 s' },
      message: 'Given up: not started within 60 s.',
    });
    expect((await run.at('nodes/odd/attempts')).body.items).toEqual([]);
    expect((await run.at('nodes/z')).body.state).toBe('UPSTREAM_FAILED');
    const over = (await run.get(`/v1/runs/${run.id}`)).body;
    expect([over.state, over.message]).toEqual([
      'FAILED',
      'Node "odd" failed: Millrace.QueueTimeout: not started within 60 s',
    ]);
  });

  it('C37 does not lose time of its attempt to the wait', async () => {
    const run = await runOf([{ ...node('slow'), engine: 'emr', queueTimeoutSeconds: 3600, timeoutSeconds: 20 }]);
    await run.tick(run.id, 600_000);
    const engines = run.deps.engines as Map<string, { stateMachineArn: string }>;
    engines.set('emr', engines.get('lambda') as { stateMachineArn: string });
    await run.tick(run.id, 0);
    expect((await run.at('nodes/slow')).body).toMatchObject({ state: 'SUCCEEDED', attempt: 1 });
  });
});

describe('C11 ids that look like numbers, literals or operators', () => {
  const ids = ['10', '2', '1e3', '007', 'true', 'null', 'split', '8902d36c-bc65-5b0d-848f-88aed72d7849'];

  it('run in the order of the chain and are listed in that of the definition', async () => {
    const chain = ids.map((id, at) => {
      const before = ids[at - 1];
      return before === undefined
        ? node(id)
        : node(id, [before], { when: `{% $nodes.${JSON.stringify(before)}.output.id = ${JSON.stringify(before)} %}` });
    });
    const run = await runOf([...chain, node('7', ['10'])], (id) => ok({ id }));
    await run.untilOver(run.id);
    const { items } = (await run.at('nodes')).body;
    expect(
      items.map(({ id, state, output }: { id: string; state: string; output: unknown }) => [id, state, output]),
    ).toEqual([...ids, '7'].map((id) => [id, 'SUCCEEDED', { id }]));
    const started = [...run.executions.started.values()].map(({ input }) => JSON.parse(input).millrace.node as string);
    expect(started.filter((id) => id !== '7')).toEqual(ids);
    expect((await run.at('nodes/7')).body.id).toBe('7');
    expect((await run.at('nodes/007')).body.id).toBe('007');
  });
});
