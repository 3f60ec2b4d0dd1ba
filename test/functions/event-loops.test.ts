/** Pipelines that start each other by events, through the rules that bring events to the functions of an installation. */
import { describe, expect, it } from 'vitest';
import { createMemoryStartCounts } from '#adapters/memory/memory-start-counts.ts';
import { definitionRevision } from '#authoring/definition-revision.ts';
import type { Json } from '#domain/json.ts';
import { DamagedRunError } from '#domain/run-codec.ts';
import { EVENT_SCHEMAS } from '#http/event-schemas.ts';
import { withChildRuns } from '#scheduler/child-runs.ts';
import { putPipeline } from '#scheduler/put-pipeline.ts';
import { startRun } from '#scheduler/start-run.ts';
import { createHandler as createIntake } from '../../functions/intake/handler.ts';
import { createHandler as createScheduler } from '../../functions/scheduler/handler.ts';
import { CONTEXT, createInstallation } from './installation.ts';

type BusEnvelope = {
  readonly id: string;
  readonly source: string;
  readonly 'detail-type': string;
  readonly detail: Json;
};

/** What a rule makes of an event; nothing of one that it does not match. */
type Rule = (event: BusEnvelope) => Json | undefined;

/** A trigger: the pipeline that the end of another one's run starts, as `infra/constructs/trigger.ts` writes it. */
const afterwards =
  (ended: string, pipeline: string): Rule =>
  (event) => {
    if (event['detail-type'] !== 'RunChanged') return undefined;
    const { pipeline: of, state } = EVENT_SCHEMAS.RunChanged.parse(event.detail);
    return of === ended && state === 'SUCCEEDED' ? { trigger: { name: 'after', pipeline }, event } : undefined;
  };

const PASS = { id: 'only', engine: 'pass' };

async function createWorld(pipelines: Readonly<Record<string, object>>, rules: readonly Rule[], startsPerMinute = 100) {
  const installation = createInstallation();
  const pass = Object.assign(installation.deps, withChildRuns(installation.deps));
  for (const [name, node] of Object.entries(pipelines)) {
    const definition = { name, nodes: [node] } as Parameters<typeof putPipeline>[1]['definition'];
    await putPipeline(pass, { definition, revision: definitionRevision(definition) });
  }
  installation.events.splice(0);
  const logger = { info: () => {}, warn: () => {}, error: () => {} };
  const counts = new Map<string, number>();
  const count = (name: string, by = 1) => void counts.set(name, (counts.get(name) ?? 0) + by);
  const intake = createIntake({ pass, startCounts: createMemoryStartCounts(), startsPerMinute, logger, count });
  const scheduler = createScheduler({ pass, logger, count });
  const all: BusEnvelope[] = [];

  const deliver = async (...messages: Json[]) => {
    const Records = messages.map((message, at) => ({
      messageId: `m${at}`,
      body: JSON.stringify(message),
      attributes: { SentTimestamp: String(installation.time.now) },
    }));
    expect(await intake({ Records }, CONTEXT)).toEqual({ batchItemFailures: [] });
  };
  /** Lets everything happen that follows, each event `times` times. */
  const settle = async (times = 1) => {
    for (let round = 0; round < 500; round++) {
      await installation.settle();
      const published = installation.events.splice(0);
      if (published.length === 0) return;
      for (const { source, detailType, detail } of published) {
        for (let again = 0; again < times; again++) {
          const event = { id: `e${all.length}`, source, 'detail-type': detailType, detail };
          all.push(event);
          for (const rule of rules) {
            const message = rule(event);
            if (message !== undefined) await deliver(message);
          }
        }
      }
    }
    throw new Error('the loop does not end');
  };
  const start = (pipeline: string) => startRun(pass, { pipeline, trigger: { type: 'api', by: 'test' } });
  const runs = async () => {
    const { items } = await pass.runs.listRuns({ limit: 1000 });
    const records = await Promise.all(items.map(({ id }) => pass.runs.readRun(id)));
    return records.flatMap((run) => run ?? []).sort((a, b) => (a.depth ?? 0) - (b.depth ?? 0));
  };
  const rejections = () =>
    all
      .filter((event) => event['detail-type'] === 'RunRejected')
      .map(({ detail }) => EVENT_SCHEMAS.RunRejected.parse(detail));
  return { ...installation, pass, all, counts, scheduler, deliver, settle, start, runs, rejections };
}

const requested = (id: string, detail: Json, source = 'acme'): BusEnvelope => ({
  id,
  source,
  'detail-type': 'RunRequested',
  detail,
});

describe('pipelines that start each other by events', () => {
  const loop = [afterwards('a', 'b'), afterwards('b', 'a')];

  it('end after 16 hops, and say so', async () => {
    const world = await createWorld({ a: PASS, b: PASS }, loop);
    await world.start('a');
    await world.settle();
    const runs = await world.runs();
    expect(runs.map(({ depth = 0, state }) => `${depth} ${state}`)).toEqual(
      Array.from({ length: 17 }, (_, depth) => `${depth} SUCCEEDED`),
    );
    expect(world.rejections()).toMatchObject([
      { code: 'TOO_MANY_HOPS', pipeline: 'b', trigger: 'after', source: 'millrace.scheduler', hops: 18 },
    ]);
    expect(runs[16]?.trigger).toEqual({ type: 'event', by: 'millrace.scheduler, trigger after', runId: runs[15]?.id });
  });

  it('end as soon where every event is delivered three times, under another id each time', async () => {
    const world = await createWorld({ a: PASS, b: PASS }, loop);
    await world.start('a');
    await world.settle(3);
    expect(await world.runs()).toHaveLength(17);
  });

  it('end where one of them starts itself', async () => {
    const world = await createWorld({ a: PASS }, [afterwards('a', 'a')]);
    await world.start('a');
    await world.settle();
    expect(await world.runs()).toHaveLength(17);
    expect(world.rejections().map(({ code }) => code)).toEqual(['TOO_MANY_HOPS']);
  });

  it('end where children are a part of the way', async () => {
    const child = { id: 'only', engine: 'pipeline', params: { pipeline: 'b' } };
    const world = await createWorld({ a: child, b: PASS }, [afterwards('b', 'a')]);
    await world.start('a');
    await world.settle();
    const runs = await world.runs();
    expect(Math.max(...runs.map(({ depth = 0 }) => depth))).toBe(16);
    expect(runs).toHaveLength(17);
  });

  it('end where what was refused is made a request again', async () => {
    const again: Rule = (event) =>
      event['detail-type'] === 'RunRejected'
        ? requested(`again ${event.id}`, { pipeline: 'gone', hops: EVENT_SCHEMAS.RunRejected.parse(event.detail).hops })
        : undefined;
    const world = await createWorld({}, [again]);
    await world.deliver(requested('e', { pipeline: 'gone' }));
    await world.settle();
    const refusals = world.rejections();
    expect(refusals.map(({ hops }) => hops)).toEqual(Array.from({ length: 33 }, (_, at) => at + 1));
    expect(refusals.filter(({ code }) => code === 'TOO_MANY_HOPS')).toHaveLength(16);
    expect(world.counts.get('RequestRefused')).toBe(34);
  });

  it('end where a node asks for a run and names its own', async () => {
    const asks: Rule = (event) => {
      if (event['detail-type'] !== 'RunChanged') return undefined;
      const { runId, state } = EVENT_SCHEMAS.RunChanged.parse(event.detail);
      return state === 'SUCCEEDED' ? requested(`by ${runId}`, { pipeline: 'a', causedBy: { run: runId } }) : undefined;
    };
    const world = await createWorld({ a: PASS }, [asks]);
    await world.start('a');
    await world.settle();
    const runs = await world.runs();
    expect(runs.map(({ depth = 0 }) => depth)).toEqual(Array.from({ length: 17 }, (_, depth) => depth));
    expect(runs[1]?.trigger).toEqual({ type: 'event', by: 'acme', runId: runs[0]?.id });
    expect(world.rejections()).toMatchObject([{ code: 'TOO_MANY_HOPS', source: 'acme' }]);
  });

  it('are held to so many a minute where they pass no hops on', async () => {
    const forgetful: Rule = (event) => {
      if (event['detail-type'] !== 'RunChanged') return undefined;
      const { runId, state } = EVENT_SCHEMAS.RunChanged.parse(event.detail);
      return state === 'SUCCEEDED' ? requested(`by ${runId}`, { pipeline: 'a' }) : undefined;
    };
    const world = await createWorld({ a: PASS }, [forgetful], 10);
    const begun = world.time.now;
    await world.start('a');
    await world.settle();
    const perMinute = new Map<number, number>();
    for (const { trigger, createdAt } of await world.runs()) {
      if (trigger.type !== 'event') continue;
      const minute = Math.floor(createdAt / 60_000);
      perMinute.set(minute, (perMinute.get(minute) ?? 0) + 1);
    }
    expect(world.time.now - begun).toBeLessThan(60_000);
    expect([...perMinute.values()]).toEqual([10]);
    expect(world.rejections()).toMatchObject([{ code: 'TOO_MANY_STARTS', pipeline: 'a' }]);
  });
});

describe('a run that nobody may read', () => {
  it('stops no request that names it', async () => {
    const world = await createWorld({ a: PASS }, []);
    const first = await world.start('a');
    if (first.kind !== 'started') throw new Error(first.kind);
    const { readRun } = world.pass.runs;
    world.pass.runs.readRun = async (id) => {
      if (id === first.run.id) throw new DamagedRunError(id, 'a test damaged it');
      return readRun(id);
    };
    await world.deliver(
      requested('e1', { pipeline: 'a', causedBy: { run: first.run.id } }),
      requested('e2', { pipeline: 'a', causedBy: { run: 'no id' } }),
      requested('e3', { pipeline: 'a', causedBy: { run: 'z'.repeat(26) }, hops: 2 }),
    );
    expect(world.rejections()).toEqual([]);
    expect((await world.pass.runs.listRuns({ limit: 10 })).items).toHaveLength(4);
  });
});

describe('starts per minute', () => {
  const flood = (count: number, pipeline: string, first = 0) =>
    Array.from({ length: count }, (_, at) => requested(`f${first + at}`, { pipeline }));

  it('are counted for each pipeline, and what is beyond is refused for good', async () => {
    const world = await createWorld({ a: PASS, b: PASS }, [], 10);
    await world.deliver(...flood(25, 'a'));
    await world.deliver(...flood(5, 'b', 100));
    await world.settle();
    const byPipeline = (await world.runs()).map(({ pipeline }) => pipeline);
    expect(byPipeline.filter((name) => name === 'a')).toHaveLength(10);
    expect(byPipeline.filter((name) => name === 'b')).toHaveLength(5);
    expect(world.rejections()).toHaveLength(15);
    expect(world.rejections()[0]).toMatchObject({
      code: 'TOO_MANY_STARTS',
      message: 'events started 10 runs of the pipeline "a" in this minute already',
    });
    world.time.now += 60_000;
    await world.deliver(...flood(3, 'a', 50));
    expect((await world.runs()).filter(({ pipeline }) => pipeline === 'a')).toHaveLength(13);
  });

  it('count an event once that comes again, and requests that start nothing not at all', async () => {
    const world = await createWorld({ a: PASS }, [], 3);
    const bad = requested('bad', { pipeline: 'a', revision: 'none' });
    const [one, two, three, four] = flood(4, 'a') as [BusEnvelope, BusEnvelope, BusEnvelope, BusEnvelope];
    await world.deliver(bad, bad, bad, one, one);
    await world.deliver(one, two, two, one);
    await world.deliver(three, four, one, two, three);
    await world.settle();
    expect(await world.runs()).toHaveLength(3);
    expect(world.rejections().map(({ code, eventId }) => `${code} ${eventId}`)).toEqual([
      'UNKNOWN_REVISION bad',
      'UNKNOWN_REVISION bad',
      'UNKNOWN_REVISION bad',
      'TOO_MANY_STARTS f3',
    ]);
  });

  it('count an event once whose start died between the count and the run', async () => {
    const world = await createWorld({ a: PASS }, [], 2);
    const { createRun } = world.pass.runs;
    world.pass.runs.createRun = async () => {
      throw new Error('the store is away');
    };
    const [one, two, three] = flood(3, 'a') as [BusEnvelope, BusEnvelope, BusEnvelope];
    await expect(world.deliver(one)).rejects.toThrow();
    world.pass.runs.createRun = createRun;
    await world.deliver(one, two, three);
    expect(await world.runs()).toHaveLength(2);
  });

  it('do not hold it against events that had to wait in the queue', async () => {
    const world = await createWorld({ a: PASS }, [], 10);
    const begun = world.time.now;
    for (let minute = 0; minute < 5; minute++) {
      world.time.now = begun + minute * 60_000;
      await world.deliver(...flood(10, 'a', minute * 10));
    }
    expect(await world.runs()).toHaveLength(50);
  });
});

describe('what a function published itself', () => {
  it('is dropped and counted by the scheduler and the intake, whatever rule brings it', async () => {
    const world = await createWorld({ a: PASS }, []);
    const own = (source: string, detailType: string): Json => ({
      id: 'x',
      source,
      'detail-type': detailType,
      detail: { hops: 1 },
    });
    const body = JSON.stringify(own('millrace.scheduler', 'PipelineChanged'));
    const outcome = await world.scheduler({ Records: [{ messageId: 'm0', body }] }, CONTEXT);
    expect(outcome).toEqual({ batchItemFailures: [] });
    expect(world.counts.get('OwnEventDropped')).toBe(1);
    await world.deliver(own('millrace.intake', 'RunRejected'));
    await world.deliver({ trigger: { name: 't', pipeline: 'a' }, event: own('millrace.intake', 'RunRejected') });
    expect(world.counts.get('OwnEventDropped')).toBe(3);
    await world.settle();
    expect(world.all).toEqual([]);
    expect(await world.runs()).toEqual([]);
  });
});

describe('triggers', () => {
  const trigger = { name: 'orders', pipeline: 'a' };
  const order = (id: string, detail: Json) => ({
    id,
    source: 'acme',
    'detail-type': 'OrderPlaced',
    detail,
    region: 'x',
  });

  it('C89 start one run an event and pipeline, with its detail as the input', async () => {
    const world = await createWorld({ a: PASS, b: PASS }, []);
    const event = order('e1', { n: 1 });
    await world.deliver({ trigger, event }, { trigger, event }, { trigger: { ...trigger, pipeline: 'b' }, event });
    world.time.now += 3_600_000;
    await world.deliver({ trigger, event }, { trigger, event: order('e2', { n: 1 }) });
    const runs = await world.runs();
    expect(runs.map(({ pipeline }) => pipeline).sort()).toEqual(['a', 'a', 'b']);
    expect(runs[0]?.trigger).toEqual({ type: 'event', by: 'acme, trigger orders' });
    expect(await world.pass.runs.readValue(runs[0] as NonNullable<(typeof runs)[0]>, 'input')).toBe('{"n":1}');
    expect(world.rejections()).toEqual([]);
  });

  it('of one pipeline that hear the same event start one run, whatever inputs they make of it', async () => {
    const world = await createWorld({ a: PASS }, []);
    const event = order('e1', { n: 1 });
    await world.deliver({ trigger: { ...trigger, input: 1 }, event }, { trigger: { ...trigger, input: 2 }, event });
    await world.settle();
    expect(await world.runs()).toHaveLength(1);
    expect(world.rejections()).toEqual([]);
  });

  it('take the hops of an event where it has a number of them, and nothing else for it', async () => {
    const world = await createWorld({ a: PASS }, []);
    const hops: Json[] = ['citra', -1, 1.5, null, 3, 17];
    for (const [at, value] of hops.entries()) await world.deliver({ trigger, event: order(`e${at}`, { hops: value }) });
    await world.deliver({ trigger, event: order('text', 'no object') });
    await world.settle();
    expect((await world.runs()).map(({ depth = 0 }) => depth)).toEqual([0, 0, 0, 0, 0, 3]);
    expect(world.rejections()).toMatchObject([{ code: 'TOO_MANY_HOPS', eventId: 'e5', detailType: 'OrderPlaced' }]);
  });

  it('are answered where they name what is not there', async () => {
    const world = await createWorld({ a: PASS }, []);
    await world.deliver({ trigger: { ...trigger, pipeline: 'gone' }, event: order('e1', {}) });
    await world.deliver({ trigger: { ...trigger, more: 1 }, event: order('e2', {}) });
    await world.settle();
    expect(world.rejections()).toMatchObject([
      { code: 'PIPELINE_NOT_FOUND', pipeline: 'gone', trigger: 'orders', source: 'acme', eventId: 'e1' },
      { code: 'INVALID_EVENT' },
    ]);
  });
});
