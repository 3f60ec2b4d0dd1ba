/** Scenarios (T…) of one run: what each pass sees, decides and tells, and what outlives the scheduler. */
import { describe, expect, it } from 'vitest';
import type { ExecutionEnd, MemoryExecution } from '#adapters/memory/memory-executions.ts';
import { runPass } from '#scheduler/pass.ts';
import { runTick } from '#scheduler/tick.ts';
import { createApi } from './api-client.ts';
import { attemptOf } from './installation.ts';

const MINUTE = 60_000;
const OK: ExecutionEnd = { status: 'SUCCEEDED', output: '{"rows":3}' };
const BROKEN: ExecutionEnd = { status: 'FAILED', error: { name: 'Broken', message: 'told so' } };

const node = (id: string, dependsOn: string[] = [], more: object = {}) => ({
  id,
  dependsOn,
  params: { function: 'fn', payload: {} },
  ...more,
});

/** Two roots; the first one has two branches, and one of these goes on. */
const FOUR = [node('root'), node('bad', ['root']), node('below', ['bad']), node('side', ['root']), node('other')];

/** A run of which the test ends every execution itself. */
async function runOf(nodes: object[], more: object = {}) {
  const api = createApi(() => undefined);
  expect((await api.put({ name: 'p', nodes, ...more } as never)).status).toBe(201);
  const { id } = (await api.post('/v1/pipelines/p/runs', {})).body;
  const all = () => [...api.executions.started.values()];
  const executionOf = (of: string) => all().find((one) => attemptOf(one).node === of) as MemoryExecution;
  const states = async (): Promise<Record<string, string>> => {
    const { items } = (await api.get(`/v1/runs/${id}/nodes`)).body;
    const { state } = (await api.get(`/v1/runs/${id}`)).body;
    return {
      run: state,
      ...Object.fromEntries(items.map((one: { id: string; state: string }) => [one.id, one.state])),
    };
  };
  return {
    ...api,
    id: id as string,
    begun: () => all().map((one) => attemptOf(one).node),
    executionOf,
    end: (of: string, end: ExecutionEnd = OK) => api.executions.end(executionOf(of).name, end),
    /** Ends an execution while nobody hears of it. */
    endUnheard: (of: string, end: ExecutionEnd = OK) =>
      Object.assign(executionOf(of), end, { endedAt: api.time.now }) as MemoryExecution,
    states,
    told: () =>
      api.events.filter(({ detailType }) => detailType === 'RunChanged').map(({ detail }) => detail as unknown as Told),
  };
}

interface Told {
  readonly state: string;
  readonly previousState?: string;
  readonly nodes?: readonly { readonly id: string; readonly state: string }[];
}

/** What events say has changed: states of the run, and of nodes. */
function changesIn(told: readonly Told[]): string[] {
  return told.flatMap(({ state, previousState, nodes = [] }) => [
    ...(previousState === undefined ? [] : [`run ${state}`]),
    ...nodes.map((node) => `${node.id} ${node.state}`),
  ]);
}

describe('a run, pass by pass', () => {
  it('T1 begins with its roots alone, each once, and tells each change once', async () => {
    const run = await runOf(FOUR, { events: 'nodes' });
    expect((await run.states())['run']).toBe('QUEUED');
    await run.settle();
    expect(run.begun().sort()).toEqual(['other', 'root']);
    const before = run.told().length;
    for (let pass = 0; pass < 3; pass++) await runPass(run.deps, run.id);
    expect([...run.executions.starts.values()]).toEqual([1, 1]);
    expect(run.told()).toHaveLength(before);
    expect(run.told().filter(({ previousState }) => previousState === 'QUEUED')).toHaveLength(1);
    expect(await run.states()).toMatchObject({ run: 'RUNNING', root: 'RUNNING', bad: 'PENDING', below: 'PENDING' });
  });

  it('T2 sees that they execute, and starts nothing again', async () => {
    const run = await runOf(FOUR);
    await run.settle();
    for (let minute = 0; minute < 5; minute++) await run.tick(run.id, MINUTE);
    expect((await run.get(`/v1/runs/${run.id}/nodes/root`)).body).toMatchObject({ reason: 'Executing', attempt: 1 });
    expect([...run.executions.starts.values()]).toEqual([1, 1]);
    const { token } = (JSON.parse(run.executionOf('root').input) as { millrace: { token: string } }).millrace;
    await run.post(`/v1/runs/${run.id}/nodes/root/progress`, { token, progress: 0 });
    expect((await run.get(`/v1/runs/${run.id}/nodes/root`)).body).toMatchObject({
      progress: 0,
      report: { progress: 0 },
    });
  });

  it('T3 starts what is below a success in the pass that hears of it', async () => {
    const run = await runOf(FOUR);
    await run.settle();
    run.end('root');
    await run.settle(1);
    expect(run.begun().sort()).toEqual(['bad', 'other', 'root', 'side']);
    expect(await run.states()).toMatchObject({ run: 'RUNNING', root: 'SUCCEEDED', bad: 'RUNNING', other: 'RUNNING' });
    expect((await run.get(`/v1/runs/${run.id}/nodes/root`)).body).toMatchObject({ progress: 1, output: { rows: 3 } });
  });

  it('T4 a failure goes down its own branch alone, and the run goes on', async () => {
    const run = await runOf(FOUR);
    await run.settle();
    run.end('root');
    await run.settle();
    run.end('bad', BROKEN);
    await run.settle();
    expect(await run.states()).toEqual({
      run: 'RUNNING',
      root: 'SUCCEEDED',
      bad: 'FAILED',
      below: 'UPSTREAM_FAILED',
      side: 'RUNNING',
      other: 'RUNNING',
    });
    expect((await run.get(`/v1/runs/${run.id}/nodes/bad`)).body).not.toHaveProperty('output');
    expect(run.begun()).not.toContain('below');
  });

  it('T5 tells start and end of a node that did both between two passes, and ends once', async () => {
    const run = await runOf(FOUR, { events: 'nodes' });
    await run.settle();
    run.end('root');
    await run.settle();
    run.end('bad', BROKEN);
    run.end('other');
    await run.settle();
    run.endUnheard('side');
    await run.untilOver(run.id);
    const { items } = (await run.get(`/v1/runs/${run.id}/history?limit=1000`)).body;
    const ofSide = items.filter((entry: { node?: string }) => entry.node === 'side');
    expect(ofSide.map(({ state }: { state: string }) => state)).toEqual(['RUNNING', 'SUCCEEDED']);
    expect((await run.states())['run']).toBe('FAILED');
    expect(run.told().filter(({ state }) => state === 'FAILED')).toHaveLength(1);
    const { dueAt, flights, limits } = (await run.deps.runs.readRun(run.id)) ?? {};
    expect({ dueAt, flights, limits }).toEqual({ dueAt: undefined, flights: [], limits: undefined });
  });
});

describe('what was under way when the scheduler was not there', () => {
  const nodes = [node('a'), node('b'), node('c', ['a', 'b'])];

  async function awaited(meanwhile: (run: Awaited<ReturnType<typeof runOf>>) => void) {
    const run = await runOf(nodes, { events: 'nodes' });
    await run.settle();
    await run.tick(run.id, MINUTE);
    run.time.now += 10 * MINUTE;
    meanwhile(run);
    await run.tick(run.id, MINUTE);
    return run;
  }

  const bad = (a: string, run = 'FAILED') => ({ run, a, b: a, c: 'UPSTREAM_FAILED' });

  it('T10 is lost only after a grace, and then fails what is below', async () => {
    const run = await awaited(({ executions }) => executions.started.clear());
    expect(await run.states()).toMatchObject({ run: 'RUNNING', a: 'RUNNING' });
    await run.untilOver(run.id);
    expect(await run.states()).toEqual(bad('FAILED'));
    expect((await run.get(`/v1/runs/${run.id}/nodes/a`)).body.error.name).toBe('Millrace.ExecutionLost');
  });

  it.each<[string, ExecutionEnd, Record<string, string>]>([
    ['T11 aborted', { status: 'ABORTED' }, bad('ABORTED')],
    ['T12 failed', BROKEN, bad('FAILED')],
  ])('%s: ends the run with what is below', async (_, end, expected) => {
    const run = await awaited(({ endUnheard }) => {
      endUnheard('a', end);
      endUnheard('b', end);
    });
    await run.untilOver(run.id);
    expect(await run.states()).toEqual(expected);
  });

  it('T13 runs on as it was: nothing starts again and nothing is told', async () => {
    const run = await awaited(() => {});
    expect(await run.states()).toEqual({ run: 'RUNNING', a: 'RUNNING', b: 'RUNNING', c: 'PENDING' });
    expect([...run.executions.starts.values()]).toEqual([1, 1]);
    const before = run.told().length;
    await run.tick(run.id, 20 * MINUTE);
    expect(changesIn(run.told().slice(before))).toEqual([]);
  });

  it('T14 succeeded: its outputs are there, and the run goes on', async () => {
    const run = await awaited(({ endUnheard }) => {
      endUnheard('a');
      endUnheard('b');
    });
    expect(await run.states()).toEqual({ run: 'RUNNING', a: 'SUCCEEDED', b: 'SUCCEEDED', c: 'RUNNING' });
    expect((await run.get(`/v1/runs/${run.id}/nodes/b/output`)).body).toEqual({ rows: 3 });
    expect([...run.executions.starts.values()]).toEqual([1, 1, 1]);
  });
});

describe('a stop', () => {
  it('T9 ends what Step Functions never took, without starting it', async () => {
    const run = await runOf(FOUR);
    run.executions.start = async () => ({ kind: 'later', message: 'connect ECONNREFUSED' });
    await run.settle(3);
    expect((await run.get(`/v1/runs/${run.id}/nodes/root`)).body.reason).toBe('Throttled');
    expect((await run.post(`/v1/runs/${run.id}/stop`)).status).toBe(202);
    await run.untilOver(run.id);
    const ends = Object.values(await run.states());
    expect(new Set(ends)).toEqual(new Set(['ABORTED']));
    expect(run.executions.started.size).toBe(0);
  });

  it('T16 that nobody carried out is carried out by the tick; nodes end when their executions have', async () => {
    const run = await runOf(FOUR, { events: 'nodes' });
    await run.settle();
    const stops: string[] = [];
    run.executions.stop = async () => {
      throw new Error('the function died');
    };
    await run.post(`/v1/runs/${run.id}/stop`).catch(() => {});
    run.rings.length = 0;
    run.executions.stop = async (_, name) => {
      stops.push(name);
      return 'accepted';
    };
    run.time.now += 2 * MINUTE;
    await runTick(run.deps);
    await run.settle();
    expect(new Set(stops)).toEqual(new Set([run.executionOf('root').name, run.executionOf('other').name]));
    expect(await run.states()).toMatchObject({ run: 'STOPPING', root: 'RUNNING', other: 'RUNNING', bad: 'ABORTED' });
    for (const of of ['root', 'other']) run.end(of, { status: 'ABORTED' });
    await run.untilOver(run.id);
    expect(new Set(Object.values(await run.states()))).toEqual(new Set(['ABORTED']));
    expect(run.told().filter(({ state }) => state === 'ABORTED')).toHaveLength(1);
    expect(run.begun().sort()).toEqual(['other', 'root']);
  });
});

describe('answers of Step Functions that do not come', () => {
  it('T24 hold up the nodes that they are about alone, and say since when', async () => {
    const run = await runOf([node('a'), node('b'), node('c', ['a']), node('d', ['b'])]);
    await run.settle();
    await run.tick(run.id, MINUTE);
    const { describe: answered } = run.executions;
    const silent = run.executionOf('b').name;
    run.executions.describe = async (machine, name) =>
      name === silent ? { kind: 'unanswered', message: 'Rate exceeded' } : answered(machine, name);
    run.endUnheard('a');
    run.endUnheard('b');
    const said = new Set<string>();
    for (let minute = 0; minute < 20; minute++) {
      await run.tick(run.id, MINUTE);
      const { message } = (await run.get(`/v1/runs/${run.id}/nodes/b`)).body;
      const since = /has not said since (\S+)/.exec(message)?.[1];
      if (since !== undefined) said.add(since);
    }
    expect(await run.states()).toMatchObject({ a: 'SUCCEEDED', b: 'RUNNING', c: 'RUNNING', d: 'PENDING' });
    expect(said.size).toBe(1);
    run.executions.describe = answered;
    await run.tick(run.id, 15 * MINUTE);
    expect(await run.states()).toMatchObject({ b: 'SUCCEEDED', d: 'RUNNING' });
  });
});

describe('what is shown and told', () => {
  it('T40 a run of sixty nodes that are done has the progress 1, exactly', async () => {
    const run = await runOf(Array.from({ length: 60 }, (_, at) => node(`n${at}`)));
    await run.settle();
    for (let at = 0; at < 59; at++) run.end(`n${at}`);
    await run.settle();
    expect((await run.get(`/v1/runs/${run.id}`)).body.progress).toBeCloseTo(59 / 60, 10);
    run.end('n59');
    await run.settle();
    expect((await run.get(`/v1/runs/${run.id}`)).body.progress).toBe(1);
  });

  it('T46 a run has an end only once it is over, and that is its own', async () => {
    const run = await runOf([node('a'), node('b', ['a'], { allowFailure: true })]);
    await run.settle();
    run.end('a');
    await run.settle();
    expect((await run.get(`/v1/runs/${run.id}`)).body).not.toHaveProperty('endedAt');
    const ended = run.endUnheard('b', BROKEN).endedAt as number;
    await run.tick(run.id, MINUTE);
    const record = await run.deps.runs.readRun(run.id);
    const { body } = await run.get(`/v1/runs/${run.id}`);
    expect([body.state, Date.parse(body.endedAt)]).toEqual(['SUCCEEDED', record?.endedAt]);
    expect(Date.parse(body.endedAt)).toBeGreaterThan(ended);
    expect(Date.parse((await run.get(`/v1/runs/${run.id}/nodes/b`)).body.endedAt)).toBe(ended);
  });

  it('T47 tells of changes of nodes where asked to, else of the run alone, and of nothing else', async () => {
    const tellings = async (more: object) => {
      const run = await runOf([node('a'), node('b', ['a'])], more);
      await run.settle();
      const { token } = (JSON.parse(run.executionOf('a').input) as { millrace: { token: string } }).millrace;
      const before = run.told().length;
      await run.post(`/v1/runs/${run.id}/nodes/a/progress`, { token, progress: 0.5 });
      await run.tick(run.id, MINUTE);
      expect(changesIn(run.told().slice(before))).toEqual([]);
      run.end('a');
      await run.tick(run.id, 0);
      return changesIn(run.told().slice(before));
    };
    expect((await tellings({ events: 'nodes' })).sort()).toEqual(['a SUCCEEDED', 'b RUNNING']);
    expect(await tellings({})).toEqual([]);
  });
});
