/**
 * C98: what is wrong with one record, message, engine or limit touches its own run only. Everything goes through the
 * function `scheduler` as the queue hands it over: in batches, each message at most ten times.
 */
import { describe, expect, it } from 'vitest';
import type { MemoryLimitStore } from '#adapters/memory/memory-limit-store.ts';
import type { MemoryPipelineStore } from '#adapters/memory/memory-pipeline-store.ts';
import type { MemoryRunStore } from '#adapters/memory/memory-run-store.ts';
import type { Json } from '#domain/json.ts';
import { DamagedPipelineError } from '#domain/pipeline-head-codec.ts';
import { isRunOver } from '#domain/run.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { createHandler } from '../../functions/scheduler/handler.ts';
import { createApi } from './api-client.ts';
import { type Behaviour, CONTEXT, SUCCEED } from './installation.ts';

const MINUTE = 60_000;
const MOST_DELIVERIES = 10;
const GOOD_RUNS = 10;
const ARN = 'arn:aws:states:eu-central-1:111122223333:stateMachine:millrace-spark';

function createQueue(behave: Behaviour = SUCCEED) {
  const api = createApi(behave);
  const waiting: { id: number; body: string; deliveries: number }[] = [];
  const dead: string[] = [];
  const troubles: string[] = [];
  const told = new Set<string>();
  let made = 0;
  let pass: PassDeps = api.deps;
  const send = (message: Json | string) => {
    made += 1;
    waiting.push({ id: made, body: typeof message === 'string' ? message : JSON.stringify(message), deliveries: 0 });
  };
  const handle = (event: unknown) => {
    const logger = { info: () => {}, error: (what: string) => void troubles.push(what) };
    return createHandler({ pass, logger, count: () => {} })(event, CONTEXT);
  };
  const sendWhatWasRung = () => {
    for (const run of api.rings.splice(0)) send({ kind: 'ring', run });
    for (const { kind, id } of api.rungThings.splice(0)) send({ kind: 'ring', [kind]: id });
  };
  /** Ends what runs, and sends what Step Functions says of it. */
  const endExecutions = () => {
    for (const execution of api.executions.started.values()) {
      if (execution.status === 'RUNNING') {
        const end = behave('any', 1);
        if (end) api.executions.end(execution.name, end);
      }
      if (execution.status === 'RUNNING' || told.has(execution.name)) continue;
      told.add(execution.name);
      const { name, status, output = null, startedAt: startDate, endedAt: stopDate = 0 } = execution;
      send(spoil({ kind: 'execution', name, status, output, startDate, stopDate }));
    }
  };
  let spoil: (message: { readonly name: string } & { readonly [key: string]: Json }) => Json | string = (message) =>
    message;
  /** Hands over batches of ten until nothing waits. */
  const settle = async () => {
    for (let round = 0; round < 1000; round++) {
      api.time.now += 20;
      sendWhatWasRung();
      endExecutions();
      const batch = waiting.splice(0, 10);
      if (batch.length === 0) return;
      const Records = batch.map(({ id, body }) => ({ messageId: String(id), body }));
      const { batchItemFailures = [] } = (await handle({ Records })) ?? {};
      const failed = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier));
      for (const message of batch.filter(({ id }) => failed.has(String(id)))) {
        message.deliveries += 1;
        if (message.deliveries < MOST_DELIVERIES) waiting.push(message);
        else dead.push(message.body);
      }
    }
    throw new Error('the queue is never empty');
  };
  const tick = async () => {
    api.time.now += MINUTE;
    await handle({ kind: 'tick' });
    await settle();
  };
  const put = (name: string, nodes: readonly object[] = [{ id: 'a' }, { id: 'b', dependsOn: ['a'] }]) =>
    api.put({ name, nodes: nodes.map((node) => ({ params: { function: 'fn' }, ...node })) } as never);
  const start = async (pipeline: string): Promise<string> =>
    (await api.post(`/v1/pipelines/${pipeline}/runs`, {})).body.id;
  const startGood = async () => {
    await put('good');
    return Promise.all(Array.from({ length: GOOD_RUNS }, () => start('good')));
  };
  const stateOf = async (id: string) => (await api.deps.runs.readRun(id))?.state;
  const statesOf = (ids: readonly string[]) => Promise.all(ids.map(stateOf));
  return {
    ...api,
    dead,
    troubles,
    settle,
    tick,
    send,
    put,
    start,
    startGood,
    stateOf,
    statesOf,
    spoilEnds: (how: typeof spoil) => {
      spoil = how;
    },
    /** What a new process of the function works with. */
    restart: (over: Partial<PassDeps> = {}) => {
      pass = { ...api.deps, ...over };
    },
    runs: api.deps.runs as MemoryRunStore,
    limits: api.deps.limits as MemoryLimitStore,
    pipelines: api.deps.pipelines as MemoryPipelineStore,
    damageRun(id: string) {
      const packed = this.runs.stored.get(id);
      if (packed) this.runs.stored.set(id, { ...packed, body: '{"damaged":true}' });
    },
    damageLimit(name: string) {
      const packed = this.limits.stored.get(name);
      if (!packed) throw new Error(`there is no limit ${name}`);
      this.limits.stored.set(name, { ...packed, body: '{"s":' });
    },
  };
}

const SUCCEEDED = Array.from({ length: GOOD_RUNS }, () => 'SUCCEEDED');

describe('C98 X1', () => {
  it('a damaged record of a run: ten good ones beside it succeed without a tick, its ring ends in the dead letters', async () => {
    const queue = createQueue();
    await queue.put('bad');
    const bad = await queue.start('bad');
    queue.damageRun(bad);
    const good = await queue.startGood();
    await queue.settle();
    expect(await queue.statesOf(good)).toEqual(SUCCEEDED);
    expect(queue.dead).toEqual([JSON.stringify({ kind: 'ring', run: bad })]);
    expect(queue.troubles).toHaveLength(MOST_DELIVERIES);
    expect((await queue.get(`/v1/runs/${bad}`)).body.code).toBe('DAMAGED_RUN');
  });

  it('a damaged definition: the same, after a restart too', async () => {
    const queue = createQueue();
    await queue.put('bad');
    const bad = await queue.start('bad');
    const good = await queue.startGood();
    const { pipelines } = queue.deps;
    const readDefinition: typeof pipelines.readDefinition = async (name, revision) => {
      if (name === 'bad') throw new DamagedPipelineError(name, `its revision ${revision} cannot be read`);
      return pipelines.readDefinition(name, revision);
    };
    queue.restart({ pipelines: { ...pipelines, readDefinition } });
    await queue.settle();
    expect(await queue.statesOf(good)).toEqual(SUCCEEDED);
    expect(queue.dead.filter((body) => body.includes(bad))).toHaveLength(1);
  });

  it('a damaged head of a pipeline: its runs and all others go on, and the API says what is wrong', async () => {
    const queue = createQueue();
    await queue.put('bad');
    const bad = await queue.start('bad');
    const packed = queue.pipelines.stored.get('bad');
    if (packed) queue.pipelines.stored.set('bad', { ...packed, body: '{"damaged":true}' });
    queue.send({ kind: 'ring', pipeline: 'bad' });
    const good = await queue.startGood();
    await queue.settle();
    expect(await queue.statesOf([...good, bad])).toEqual([...SUCCEEDED, 'SUCCEEDED']);
    expect(queue.dead).toEqual([JSON.stringify({ kind: 'ring', pipeline: 'bad' })]);
    const answers = await Promise.all([queue.get('/v1/pipelines/bad'), queue.post('/v1/pipelines/bad/runs', {})]);
    expect(answers.map(({ status, body }) => `${status} ${body.code}`)).toEqual([
      '500 DAMAGED_PIPELINE',
      '500 DAMAGED_PIPELINE',
    ]);
    expect((await queue.get('/v1/pipelines')).body.items.map(({ name }: { name: string }) => name)).toEqual(['good']);
  });

  it('a damaged record does not keep the tick from the others', async () => {
    const queue = createQueue(() => undefined);
    await queue.put('bad');
    const bad = await queue.start('bad');
    await queue.settle();
    queue.damageRun(bad);
    const good = await queue.startGood();
    await queue.settle();
    for (const execution of queue.executions.started.values()) {
      queue.executions.end(execution.name, { status: 'SUCCEEDED', output: '1' });
    }
    queue.spoilEnds(() => ({ kind: 'ring', run: 'z'.repeat(26) }));
    for (let minutes = 0; minutes < 5; minutes++) {
      await queue.tick();
      for (const { name, status } of queue.executions.started.values()) {
        if (status === 'RUNNING') queue.executions.end(name, { status: 'SUCCEEDED', output: '1' });
      }
    }
    expect(await queue.statesOf(good)).toEqual(SUCCEEDED);
  });
});

describe('C98 X2', () => {
  it('64 nodes of an engine that does not exist: they wait and say so, ten good runs beside them succeed without a tick', async () => {
    const queue = createQueue();
    await queue.put(
      'bad',
      Array.from({ length: 64 }, (_, at) => ({ id: `n${at}`, engine: 'nobody', params: {} })),
    );
    const bad = await queue.start('bad');
    const good = await queue.startGood();
    await queue.settle();
    expect(await queue.statesOf(good)).toEqual(SUCCEEDED);
    const { items } = (await queue.get(`/v1/runs/${bad}/nodes?limit=100`)).body;
    const reasons = items.map(({ state, reason }: { state: string; reason: string }) => `${state} ${reason}`);
    expect(reasons).toEqual(Array.from({ length: 64 }, () => 'QUEUED NoEngine'));
    const { rev } = (await queue.runs.readRun(bad)) ?? {};
    for (let minutes = 0; minutes < 5; minutes++) await queue.tick();
    expect((await queue.runs.readRun(bad))?.rev).toBe(rev);
    expect(queue.dead).toEqual([]);
  });
});

describe('C98 X3', () => {
  it.each<[string, (message: { readonly name: string }) => Json | string]>([
    ['cannot be read', () => '{"kind":"execution",'],
    ['lacks a field', ({ name }) => ({ kind: 'execution', name, status: 'SUCCEEDED' })],
    ['has a status that there is not', (message) => ({ ...message, status: 'PERHAPS' })],
    ['has a field of another type', (message) => ({ ...message, output: { no: 'text' } })],
  ])(
    'an event that %s: it goes to the dead letters after ten tries, and its run ends by the tick',
    async (_what, spoiled) => {
      const queue = createQueue();
      await queue.put('bad');
      const bad = await queue.start('bad');
      queue.spoilEnds((message) => (message.name.includes(bad) ? spoiled(message) : message));
      const good = await queue.startGood();
      await queue.settle();
      expect(await queue.statesOf(good)).toEqual(SUCCEEDED);
      expect(queue.dead).toHaveLength(1);
      expect(queue.troubles).toHaveLength(MOST_DELIVERIES);
      for (let minutes = 0; minutes < 5; minutes++) await queue.tick();
      expect(await queue.stateOf(bad)).toBe('SUCCEEDED');
    },
  );

  it('an event whose handling throws: the same once it can be handled', async () => {
    const queue = createQueue();
    await queue.put('bad');
    const bad = await queue.start('bad');
    const good = await queue.startGood();
    const { putResult } = queue.deps.runs;
    queue.deps.runs.putResult = async (run, result) => {
      if (run.id === bad) throw new Error('this one cannot be stored');
      return putResult(run, result);
    };
    await queue.settle();
    expect(await queue.statesOf(good)).toEqual(SUCCEEDED);
    expect(queue.dead.some((body) => body.includes(bad))).toBe(true);
    queue.deps.runs.putResult = putResult;
    for (let minutes = 0; minutes < 5; minutes++) await queue.tick();
    expect(await queue.stateOf(bad)).toBe('SUCCEEDED');
  });

  it('a message that is no message at all: it is dead after ten tries, and nobody waits for it', async () => {
    const queue = createQueue();
    const poison = ['', 'null', '[]', '{"kind":"what"}', '"\\ud800"', '{"kind":"ring","limit":"nothing/x"}'];
    for (const body of poison) queue.send(body);
    const good = await queue.startGood();
    await queue.settle();
    expect(await queue.statesOf(good)).toEqual(SUCCEEDED);
    expect(queue.dead.toSorted()).toEqual(poison.toSorted());
  });
});

describe('engines and limits', () => {
  const register = (queue: ReturnType<typeof createQueue>, name = 'spark', more: object = {}) =>
    queue.call('PUT', `/v1/engines/${name}`, { body: { stateMachineArn: ARN, ...more } });
  const onSpark = [{ id: 'a', engine: 'spark', params: {} }];

  it('a damaged limit stops the runs that need it, and nobody else; the API says what is wrong', async () => {
    const queue = createQueue();
    await register(queue);
    await register(queue, 'flink');
    await queue.put('bad', onSpark);
    await queue.put('other', [{ id: 'a', engine: 'flink', params: {} }]);
    await queue.settle();
    queue.damageLimit('engine/spark');
    const [bad, other, good] = [await queue.start('bad'), await queue.start('other'), await queue.startGood()];
    queue.send({ kind: 'ring', limit: 'engine/spark' });
    await queue.settle();
    for (let minutes = 0; minutes < 3; minutes++) await queue.tick();
    expect(await queue.statesOf([...good, other])).toEqual([...SUCCEEDED, 'SUCCEEDED']);
    expect(isRunOver((await queue.stateOf(bad)) ?? 'SUCCEEDED')).toBe(false);
    expect(queue.dead.some((body) => body.includes('engine/spark'))).toBe(true);
    const answers = await Promise.all([queue.get('/v1/engines/spark'), register(queue), queue.get('/v1/engines')]);
    expect(answers.map(({ status, body }) => `${status} ${body.code}`)).toEqual([
      '500 DAMAGED_LIMIT',
      '500 DAMAGED_LIMIT',
      '200 undefined',
    ]);
  });

  it('a newer limit is left to newer code, and the API says when to come again', async () => {
    const queue = createQueue();
    await register(queue);
    const packed = queue.limits.stored.get('engine/spark');
    if (packed) queue.limits.stored.set('engine/spark', { ...packed, schemaVersion: 99 });
    const answer = await queue.get('/v1/engines/spark');
    expect([answer.status, answer.body.code, answer.headers['retry-after']]).toEqual([503, 'NEWER_LIMIT', '60']);
  });

  it('a damaged run that holds a slot keeps no other run from an engine', async () => {
    const queue = createQueue(() => undefined);
    await register(queue, 'spark', { maxConcurrent: 2 });
    await queue.put('p', onSpark);
    const bad = await queue.start('p');
    await queue.settle();
    const [one, two] = [await queue.start('p'), await queue.start('p')];
    await queue.settle();
    queue.damageRun(bad);
    await queue.call('PUT', '/v1/engines/spark', { body: { stateMachineArn: ARN, maxConcurrent: 3 } });
    await queue.settle();
    for (let minutes = 0; minutes < 3; minutes++) await queue.tick();
    const nodes = await Promise.all(
      [one, two].map(async (id) => (await queue.get(`/v1/runs/${id}/nodes/a`)).body.state),
    );
    expect(nodes).toEqual(['RUNNING', 'RUNNING']);
  });

  it('a run that cannot be passed over, and a pipeline that cannot be read, keep no other from an engine that appears', async () => {
    const queue = createQueue();
    for (const name of ['a-bad', 'b-good']) await queue.put(name, onSpark);
    const [bad, good] = [await queue.start('a-bad'), await queue.start('b-good')];
    await queue.settle();
    queue.damageRun(bad);
    const packed = queue.pipelines.stored.get('a-bad');
    if (packed) queue.pipelines.stored.set('a-bad', { ...packed, body: '{"damaged":true}' });
    await register(queue);
    await queue.settle();
    expect(await queue.stateOf(good)).toBe('SUCCEEDED');
    expect((await queue.get('/v1/pipelines/b-good')).body.conditions).toMatchObject([
      { type: 'Ready', status: 'True' },
    ]);
    expect(queue.dead.filter((body) => body.includes('engine/spark'))).toEqual([]);
  });

  it('a run whose pass throws keeps no other from an engine that appears', async () => {
    const queue = createQueue();
    for (const name of ['a-bad', 'b-good']) await queue.put(name, onSpark);
    const [bad, good] = [await queue.start('a-bad'), await queue.start('b-good')];
    await queue.settle();
    const { commitRun } = queue.deps.runs;
    queue.deps.runs.commitRun = async (run, rev) => {
      if (run.id === bad) throw new Error('this one cannot be stored');
      return commitRun(run, rev);
    };
    await register(queue);
    await queue.settle();
    expect(await queue.stateOf(good)).toBe('SUCCEEDED');
    expect(queue.dead.filter((body) => body.includes('engine/spark'))).toEqual([]);
    expect(queue.dead.length).toBeGreaterThan(0);
  });
});
