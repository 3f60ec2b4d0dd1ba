/** Engines over HTTP: registered, changed, drained, removed, silent and back; who holds what is shown. */
import { describe, expect, it } from 'vitest';
import type { Json } from '#domain/json.ts';
import { grantSlot, type LimitRecord, limitName, type WaitingRun } from '#domain/limit.ts';
import { reportMissingMachine } from '#scheduler/engines.ts';
import { workLimit } from '#scheduler/limit-sweep.ts';
import { type Api, createApi } from './api-client.ts';

const PLACE = 'arn:aws:states:eu-central-1:111122223333:stateMachine';
const ARN = `${PLACE}:millrace-spark`;

const putEngine = (api: Api, name: string, body: Json = { stateMachineArn: ARN }) =>
  api.call('PUT', `/v1/engines/${name}`, { body });
const remove = (api: Api, name: string) => api.call('DELETE', `/v1/engines/${name}`);
const engineEvents = ({ events }: Api) =>
  events.filter(({ detailType }) => detailType === 'EngineChanged').map(({ detail }) => detail);
const limitOf = async (api: Api, name: string) =>
  (await api.deps.limits.readLimit(limitName('engine', name))) as LimitRecord;

/** A pass over the engine's limit, as a ring or its due time brings it; tells whether pipelines were told. */
async function look(api: Api, name: string): Promise<boolean> {
  let isTold = false;
  await workLimit(api.deps, limitName('engine', name), async () => {
    isTold = true;
  });
  return isTold;
}

describe('PUT /v1/engines/{name}', () => {
  it('U7 answers 201 first and after a removal, with another generation, else 200', async () => {
    const api = createApi();
    const first = await putEngine(api, 'spark');
    expect(first.status).toBe(201);
    expect(first.body).toEqual({
      name: 'spark',
      builtIn: false,
      generation: 1,
      stateMachineArn: ARN,
      labels: {},
      status: 'Available',
      reason: 'Ready',
      message: 'It takes work.',
    });
    const again = await putEngine(api, 'spark');
    const changed = await putEngine(api, 'spark', { stateMachineArn: ARN, maxConcurrent: 4, labels: { team: 'a' } });
    expect([again.status, changed.status]).toEqual([200, 200]);
    expect(changed.body).toMatchObject({ generation: 1, maxConcurrent: 4, running: 0, labels: { team: 'a' } });
    expect((await remove(api, 'spark')).status).toBe(204);
    const back = await putEngine(api, 'spark');
    expect(back.status).toBe(201);
    expect(back.body).toMatchObject({ generation: 2, labels: {} });
    expect(back.body).not.toHaveProperty('maxConcurrent');
  });

  it('leaves the limit due, with waiting runs to ring and pipelines to tell, then publishes and rings', async () => {
    const api = createApi();
    await putEngine(api, 'spark');
    expect(await limitOf(api, 'spark')).toMatchObject({
      ringsWaiting: true,
      tellsPipelines: true,
      dueAt: api.time.now,
    });
    expect(engineEvents(api)).toEqual([
      {
        schemaVersion: 1,
        hops: 1,
        engine: 'spark',
        generation: 1,
        rev: 1,
        status: 'Available',
        reason: 'Ready',
        message: 'It takes work.',
      },
    ]);
    expect(api.rungThings).toEqual([{ kind: 'limit', id: 'engine/spark' }]);
  });

  it('writes nothing where all is as it was, but says it again', async () => {
    const api = createApi();
    const body = { stateMachineArn: ARN, labels: { b: '2', a: '1' }, paramsSchema: { type: 'object' } };
    await putEngine(api, 'spark', body);
    const again = await putEngine(api, 'spark', { ...body, labels: { a: '1', b: '2' } });
    expect(again.status).toBe(200);
    expect((await limitOf(api, 'spark')).rev).toBe(1);
    expect(engineEvents(api)).toHaveLength(2);
  });

  it('rings nobody where only labels or the number of slots are others, but looks for slots to grant', async () => {
    const api = createApi();
    await putEngine(api, 'spark', { stateMachineArn: ARN, maxConcurrent: 1 });
    await look(api, 'spark');
    await putEngine(api, 'spark', { stateMachineArn: ARN, maxConcurrent: 9 });
    const limit = await limitOf(api, 'spark');
    expect(limit).toMatchObject({ slots: 9, dueAt: api.time.now });
    expect([limit.ringsWaiting, limit.tellsPipelines]).toEqual([undefined, undefined]);
    await putEngine(api, 'spark', { stateMachineArn: ARN });
    expect(await limitOf(api, 'spark')).toMatchObject({ ringsWaiting: true });
  });

  it('goes on where others commit in between', async () => {
    const api = createApi();
    await putEngine(api, 'spark', { stateMachineArn: ARN, maxConcurrent: 1 });
    const read = api.deps.limits.readLimit;
    let races = 1;
    Object.assign(api.deps.limits, {
      async readLimit(name: string) {
        const limit = await read(name);
        if (limit && races-- > 0) await api.deps.limits.commitLimit({ ...limit, rev: limit.rev + 1 }, limit.rev);
        return limit;
      },
    });
    expect((await putEngine(api, 'spark', { stateMachineArn: ARN, maxConcurrent: 2 })).status).toBe(200);
    expect(await limitOf(api, 'spark')).toMatchObject({ rev: 3, slots: 2 });
    races = 100;
    const busy = await putEngine(api, 'spark', { stateMachineArn: ARN, maxConcurrent: 3 });
    expect([busy.status, busy.body.code, busy.headers['retry-after']]).toEqual([503, 'BUSY', '1']);
  });

  it.each<[what: string, body: Json, path: string]>([
    ['no ARN', {}, 'stateMachineArn'],
    [
      'an ARN of something else',
      { stateMachineArn: 'arn:aws:lambda:eu-central-1:111122223333:function:f' },
      'stateMachineArn',
    ],
    ['another account', { stateMachineArn: ARN.replace('111122223333', '999922223333') }, 'stateMachineArn'],
    ['another region', { stateMachineArn: ARN.replace('eu-central-1', 'us-east-1') }, 'stateMachineArn'],
    ['no slots', { stateMachineArn: ARN, maxConcurrent: 0 }, 'maxConcurrent'],
    ['too many slots', { stateMachineArn: ARN, maxConcurrent: 1001 }, 'maxConcurrent'],
    ['half a slot', { stateMachineArn: ARN, maxConcurrent: 1.5 }, 'maxConcurrent'],
    ['a short heartbeat', { stateMachineArn: ARN, heartbeatSeconds: 9 }, 'heartbeatSeconds'],
    ['a long heartbeat', { stateMachineArn: ARN, heartbeatSeconds: 86_401 }, 'heartbeatSeconds'],
    [
      '21 labels',
      { stateMachineArn: ARN, labels: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`l${at}`, ''])) },
      'labels',
    ],
    ['a label of no text', { stateMachineArn: ARN, labels: { a: 1 } }, 'labels.a'],
    [
      'a schema with an unknown keyword',
      { stateMachineArn: ARN, paramsSchema: { tpye: 'object' } },
      'paramsSchema.tpye',
    ],
    ['a schema that leads out', { stateMachineArn: ARN, paramsSchema: { $ref: 'http://x/y' } }, 'paramsSchema["$ref"]'],
    ['a large schema', { stateMachineArn: ARN, paramsSchema: { description: 'x'.repeat(65_536) } }, 'paramsSchema'],
    ['an unknown field', { stateMachineArn: ARN, maxConcurent: 1 }, 'maxConcurent'],
  ])('refuses %s', async (_what, body, path) => {
    const api = createApi();
    const answer = await putEngine(api, 'spark', body);
    expect([answer.status, answer.body.code]).toEqual([422, 'INVALID_REQUEST']);
    expect(answer.body.errors.map((error: { path: string }) => error.path)).toContain(path);
    expect((await api.get('/v1/engines/spark')).body.code).toBe('ENGINE_NOT_FOUND');
  });

  it('refuses a name that no engine can have, and built-in ones', async () => {
    const api = createApi();
    const odd = await putEngine(api, '-spark');
    expect([odd.status, odd.body.code, odd.body.errors[0].path]).toEqual([422, 'INVALID_REQUEST', 'name']);
    for (const name of ['lambda', 'pipeline', 'pass', 'approval', 'http']) {
      for (const answer of [
        await putEngine(api, name),
        await remove(api, name),
        await api.post(`/v1/engines/${name}/drain`),
      ]) {
        expect([answer.status, answer.body.code]).toEqual([409, 'BUILT_IN_ENGINE']);
      }
    }
  });

  it('refuses a state machine that is not there, is EXPRESS, or may not be run, with the statements to add', async () => {
    const api = createApi();
    api.executions.missingMachines.add(ARN);
    expect((await putEngine(api, 'spark')).body).toMatchObject({ status: 422, code: 'STATE_MACHINE_NOT_FOUND' });
    const foreign = `${PLACE}:nightly`;
    api.executions.deniedMachines.add(foreign);
    const denied = await putEngine(api, 'spark', { stateMachineArn: foreign });
    expect(denied.body).toMatchObject({ status: 422, code: 'STATE_MACHINE_DENIED' });
    expect(denied.body.detail).toContain('-c stateMachines=nightly');
    const statements = JSON.parse(denied.body.detail.slice(denied.body.detail.indexOf('[{')));
    expect(statements.map(({ Resource }: { Resource: string[] }) => Resource)).toEqual([
      [foreign, `${foreign}:*`],
      ['arn:aws:states:eu-central-1:111122223333:execution:nightly:millrace-*'],
    ]);
    Object.assign(api.deps.executions, { findMachine: async () => ({ kind: 'there', isStandard: false }) });
    expect((await putEngine(api, 'spark')).body).toMatchObject({ status: 422, code: 'INVALID_REQUEST' });
  });

  it('takes a machine of the granted names where Step Functions does not answer, and no other', async () => {
    const api = createApi();
    Object.assign(api.deps.executions, { findMachine: async () => ({ kind: 'unanswered', message: 'Rate exceeded' }) });
    expect((await putEngine(api, 'spark')).status).toBe(201);
    expect((await putEngine(api, 'spark', { stateMachineArn: `${PLACE}:nightly` })).body).toMatchObject({
      status: 429,
      code: 'THROTTLED',
    });
  });
});

describe('DELETE /v1/engines/{name}', () => {
  it('takes it away for everybody, keeps who holds slots, and answers 404 the second time', async () => {
    const api = createApi();
    await putEngine(api, 'spark', { stateMachineArn: ARN, maxConcurrent: 2 });
    await hold(api, 'engine/spark', 'run-a');
    expect((await remove(api, 'spark')).status).toBe(204);
    const again = await remove(api, 'spark');
    expect([again.status, again.body.code]).toEqual([404, 'ENGINE_NOT_FOUND']);
    expect((await api.get('/v1/engines')).body.items.map(({ name }: { name: string }) => name)).not.toContain('spark');
    expect(await limitOf(api, 'spark')).toMatchObject({
      generations: 1,
      ringsWaiting: true,
      holders: [{ granted: 1 }],
    });
    expect(engineEvents(api).at(-1)).toMatchObject({ status: 'Removed', generation: 1 });
    await putEngine(api, 'spark', { stateMachineArn: ARN, maxConcurrent: 2 });
    expect((await api.get('/v1/engines/spark')).body).toMatchObject({ generation: 2, running: 1 });
  });
});

describe('POST /v1/engines/{name}/drain', () => {
  it('drains until it is put again; twice is once', async () => {
    const api = createApi();
    await putEngine(api, 'spark');
    const drained = await api.post('/v1/engines/spark/drain');
    expect(drained.body).toMatchObject({ status: 'Draining', reason: 'Drained' });
    const { rev } = await limitOf(api, 'spark');
    expect((await api.post('/v1/engines/spark/drain')).status).toBe(200);
    expect((await limitOf(api, 'spark')).rev).toBe(rev);
    expect((await putEngine(api, 'spark')).body).toMatchObject({ status: 'Available', generation: 1 });
    expect(engineEvents(api).map((detail) => (detail as { status: string }).status)).toEqual([
      'Available',
      'Draining',
      'Draining',
      'Available',
    ]);
    expect((await api.post('/v1/engines/none/drain')).body.code).toBe('ENGINE_NOT_FOUND');
    expect((await api.post('/v1/engines/a%20b/drain')).body.code).toBe('ENGINE_NOT_FOUND');
    expect((await api.post('/v1/engines/spark/drain', { now: true })).body.code).toBe('INVALID_REQUEST');
  });
});

describe('POST /v1/engines/{name}/heartbeat', () => {
  const WATCHED = { stateMachineArn: ARN, heartbeatSeconds: 60 };

  it('T17 is written at most three times a period', async () => {
    const api = createApi();
    await putEngine(api, 'spark', WATCHED);
    await look(api, 'spark');
    const { rev } = await limitOf(api, 'spark');
    for (let second = 0; second < 60; second++) {
      api.time.now += 1_000;
      expect((await api.post('/v1/engines/spark/heartbeat')).body).toMatchObject({ status: 'Available' });
    }
    const limit = await limitOf(api, 'spark');
    expect(limit.rev).toBe(rev + 3);
    expect(limit.engine?.lastHeartbeatAt).toBe(api.time.now);
    expect(engineEvents(api)).toHaveLength(1);
  });

  it('that does not come makes the engine Unavailable, which is told once; the next one brings it back', async () => {
    const api = createApi();
    await putEngine(api, 'spark', WATCHED);
    expect(await look(api, 'spark')).toBe(true);
    const began = api.time.now;
    expect((await limitOf(api, 'spark')).dueAt).toBe(began + 60_000);
    api.time.now = began + 59_999;
    expect(await look(api, 'spark')).toBe(false);
    api.time.now = began + 60_000;
    expect((await api.get('/v1/engines/spark')).body).toMatchObject({
      status: 'Unavailable',
      reason: 'HeartbeatMissed',
      message: 'Its owner has not reported for 60 s.',
    });
    expect(await look(api, 'spark')).toBe(true);
    expect(api.events.at(-1)).toMatchObject({
      source: 'millrace.scheduler',
      detailType: 'EngineChanged',
      detail: { engine: 'spark', status: 'Unavailable', reason: 'HeartbeatMissed' },
    });
    expect(await look(api, 'spark')).toBe(false);
    // A due time stands until it has come: one look more, and the silent engine costs nothing.
    api.time.now += 60_000;
    expect(await look(api, 'spark')).toBe(false);
    expect(await limitOf(api, 'spark')).not.toHaveProperty('dueAt');
    api.time.now += 5_000;
    expect((await api.post('/v1/engines/spark/heartbeat')).body).toMatchObject({ status: 'Available' });
    expect(await limitOf(api, 'spark')).toMatchObject({
      ringsWaiting: true,
      tellsPipelines: true,
      dueAt: api.time.now,
    });
    expect(engineEvents(api).at(-1)).toMatchObject({ status: 'Available' });
    expect(await look(api, 'spark')).toBe(true);
    expect((await limitOf(api, 'spark')).dueAt).toBe(Math.floor((api.time.now + 60_000) / 60_000) * 60_000);
    expect(engineEvents(api)).toHaveLength(3);
  });

  it('counts for an engine that drains, and does not end the draining', async () => {
    const api = createApi();
    await putEngine(api, 'spark', WATCHED);
    api.time.now += 50_000;
    await api.post('/v1/engines/spark/drain');
    await api.post('/v1/engines/spark/heartbeat');
    api.time.now += 50_000;
    expect((await api.get('/v1/engines/spark')).body).toMatchObject({ status: 'Draining' });
    api.time.now += 10_000;
    expect((await api.get('/v1/engines/spark')).body).toMatchObject({ status: 'Unavailable' });
  });

  it('of an engine that needs none writes nothing', async () => {
    const api = createApi();
    await putEngine(api, 'spark');
    api.time.now += 86_400_000;
    expect((await api.post('/v1/engines/spark/heartbeat')).status).toBe(200);
    expect((await limitOf(api, 'spark')).rev).toBe(1);
    expect((await api.post('/v1/engines/none/heartbeat')).body.code).toBe('ENGINE_NOT_FOUND');
  });
});

describe('a state machine that is gone', () => {
  it('U16 makes its engine Unavailable, once, and only the engine that has it', async () => {
    const api = createApi();
    await putEngine(api, 'spark');
    await look(api, 'spark');
    await reportMissingMachine(api.deps, 'spark', `${PLACE}:millrace-old`);
    await reportMissingMachine(api.deps, 'none', ARN);
    expect((await api.get('/v1/engines/spark')).body.status).toBe('Available');
    await reportMissingMachine(api.deps, 'spark', ARN);
    await reportMissingMachine(api.deps, 'spark', ARN);
    expect((await api.get('/v1/engines/spark')).body).toMatchObject({
      status: 'Unavailable',
      reason: 'StateMachineGone',
      message: `Its state machine ${ARN} does not exist.`,
    });
    expect(engineEvents(api)).toHaveLength(2);
    expect(await limitOf(api, 'spark')).toMatchObject({ ringsWaiting: true, tellsPipelines: true });
  });

  it('is looked for every 15 minutes; once it is back the engine takes work', async () => {
    const api = createApi();
    await putEngine(api, 'spark');
    api.executions.missingMachines.add(ARN);
    await reportMissingMachine(api.deps, 'spark', ARN);
    expect(await look(api, 'spark')).toBe(true);
    const dueAt = async () => (await limitOf(api, 'spark')).dueAt;
    api.time.now += 60_000;
    expect(await look(api, 'spark')).toBe(false);
    expect(await dueAt()).toBe(api.time.now + 840_000);
    api.time.now += 840_000;
    expect(await look(api, 'spark')).toBe(false);
    expect(await dueAt()).toBe(api.time.now + 900_000);
    api.executions.missingMachines.clear();
    expect(await look(api, 'spark')).toBe(false);
    expect((await api.get('/v1/engines/spark')).body.status).toBe('Unavailable');
    api.time.now += 900_000;
    expect(await look(api, 'spark')).toBe(true);
    expect((await api.get('/v1/engines/spark')).body.status).toBe('Available');
    expect(engineEvents(api).map((detail) => (detail as { status: string }).status)).toEqual([
      'Available',
      'Unavailable',
      'Available',
    ]);
  });

  it('is over as soon as the engine is put again', async () => {
    const api = createApi();
    await putEngine(api, 'spark');
    await reportMissingMachine(api.deps, 'spark', ARN);
    expect((await putEngine(api, 'spark')).body.status).toBe('Available');
    expect(await limitOf(api, 'spark')).toMatchObject({ ringsWaiting: true });
  });
});

describe('GET /v1/engines', () => {
  it('shows who holds slots and who waits', async () => {
    const api = createApi();
    await putEngine(api, 'spark', { stateMachineArn: ARN, maxConcurrent: 1, paramsSchema: { type: 'object' } });
    await hold(api, 'engine/spark', 'run-a');
    for (let at = 0; at < 25; at++) await api.deps.limits.putWaiting(rowOf('engine/spark', `run-${at}`));
    const { body } = await api.get('/v1/engines/spark');
    expect(body).toMatchObject({ running: 1, paramsSchema: { type: 'object' }, waiting: { count: 25 } });
    expect(body.holders).toEqual([{ run: 'run-a', pipeline: 'etl', slots: 1 }]);
    expect(body.waiting.first).toHaveLength(20);
    expect(body.waiting.first[0]).toMatchObject({ pipeline: 'etl', priority: 0 });
  });

  it('lists built-in and registered ones by name, page by page, each once', async () => {
    const api = createApi();
    for (const name of ['a1', 'kafka', 'lambda2', 'm', 'zeppelin']) await putEngine(api, name);
    await remove(api, 'm');
    expect((await api.get('/v1/engines/lambda')).body).toMatchObject({ builtIn: true, status: 'Available' });
    for (const limit of [1, 2, 3, 5, 100]) {
      const names: string[] = [];
      let cursor = '';
      do {
        const { body } = await api.get(`/v1/engines?limit=${limit}${cursor}`);
        names.push(...body.items.map((item: { name: string }) => item.name));
        cursor = body.nextCursor === undefined ? '' : `&cursor=${body.nextCursor}`;
      } while (cursor !== '');
      expect(names).toEqual(['a1', 'kafka', 'lambda', 'lambda2', 'zeppelin']);
    }
  });
});

function rowOf(limit: string, run: string): WaitingRun {
  return { limit, pipeline: 'etl', priority: 0, since: 1, run, nonce: 'n', rev: 1, taken: 0, wants: 1 };
}

async function hold(api: Api, name: string, run: string): Promise<void> {
  const limit = (await api.deps.limits.readLimit(name)) as LimitRecord;
  await api.deps.limits.commitLimit({ ...grantSlot(limit, rowOf(name, run)), rev: limit.rev + 1 }, limit.rev);
}
