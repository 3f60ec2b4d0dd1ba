import { describe, expect, it } from 'vitest';
import { createMemoryStartCounts } from '#adapters/memory/memory-start-counts.ts';
import { definitionRevision } from '#authoring/definition-revision.ts';
import type { Json } from '#domain/json.ts';
import { EVENT_SCHEMAS } from '#http/event-schemas.ts';
import { pausePipeline, resumePipeline } from '#scheduler/pause-pipeline.ts';
import { putPipeline } from '#scheduler/put-pipeline.ts';
import { createHandler } from '../../functions/intake/handler.ts';
import { type Behaviour, CONTEXT, createInstallation } from './installation.ts';

async function createIntake(behave?: Behaviour) {
  const installation = createInstallation(behave);
  for (const name of ['one', 'two']) {
    const definition = { name, nodes: [{ id: 'only', params: { function: 'fn' } }] };
    await putPipeline(installation.deps, { definition, revision: definitionRevision(definition) });
  }
  installation.events.splice(0);
  const counts = new Map<string, number>();
  const lines: string[] = [];
  const line = (message: string) => void lines.push(message);
  const handler = createHandler({
    pass: installation.deps,
    startCounts: createMemoryStartCounts(),
    startsPerMinute: 100,
    logger: { info: line, warn: line, error: line },
    count: (name, by = 1) => void counts.set(name, (counts.get(name) ?? 0) + by),
  });
  const deliver = async (...bodies: (Json | string)[]) => {
    const Records = bodies.map((body, at) => ({
      messageId: `m${at}`,
      body: typeof body === 'string' ? body : JSON.stringify(body),
      attributes: { SentTimestamp: String(installation.time.now) },
    }));
    const { batchItemFailures } = await handler({ Records }, CONTEXT);
    return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier);
  };
  const runs = async () => (await installation.deps.runs.listRuns({ limit: 100 })).items;
  const rejections = () =>
    installation.events
      .filter(({ detailType }) => detailType === 'RunRejected')
      .map(({ source, detail }) => ({ publisher: source, ...EVENT_SCHEMAS.RunRejected.parse(detail) }));
  return { ...installation, counts, lines, deliver, runs, rejections };
}

const envelope = (id: string, detailType: string, detail: Json, source = 'acme.shop') => ({
  version: '0',
  id,
  'detail-type': detailType,
  source,
  account: '111122223333',
  time: '2026-11-30T12:00:00Z',
  region: 'eu-central-1',
  resources: [],
  detail,
});

const runRequested = (id: string, detail: Json, source?: string) => envelope(id, 'RunRequested', detail, source);

describe('RunRequested', () => {
  it('starts a run, which tells who asked', async () => {
    const intake = await createIntake();
    const detail = { pipeline: 'one', input: { n: 1 }, tags: { order: '7' } };
    expect(await intake.deliver(runRequested('e1', detail))).toEqual([]);
    const [run] = await intake.runs();
    expect(run).toMatchObject({ pipeline: 'one', trigger: { type: 'event', by: 'acme.shop' }, tags: [['order', '7']] });
    expect((await intake.untilOver(run?.id ?? '')).state).toBe('SUCCEEDED');
    expect(intake.rejections()).toEqual([]);
  });

  it('with an input that does not fit the schema of the pipeline is rejected with every error', async () => {
    const intake = await createIntake();
    const schema = { properties: { n: { type: 'integer' }, day: { format: 'date' } } };
    const definition = { name: 'typed', input: { schema }, nodes: [{ id: 'only', params: { function: 'fn' } }] };
    await putPipeline(intake.deps, { definition, revision: definitionRevision(definition) });
    const detail = { pipeline: 'typed', input: { n: 1.5, day: 'today' } };
    expect(await intake.deliver(runRequested('e1', detail))).toEqual([]);
    expect(await intake.runs()).toEqual([]);
    expect(intake.rejections()).toMatchObject([
      {
        eventId: 'e1',
        pipeline: 'typed',
        code: 'INVALID_INPUT',
        message: '/n: type "number" is invalid. Expected "integer", and 1 more',
        errors: [
          { path: '/n', code: 'INVALID_TYPE' },
          { path: '/day', code: 'INVALID_FIELD' },
        ],
      },
    ]);
  });

  it('C80 for a pipeline that is paused is rejected, unless it started its run before that', async () => {
    const intake = await createIntake();
    const early = runRequested('e1', { pipeline: 'one' });
    expect(await intake.deliver(early)).toEqual([]);
    await pausePipeline(intake.deps, 'one');
    expect(await intake.deliver(early, runRequested('e2', { pipeline: 'one' }))).toEqual([]);
    expect(await intake.runs()).toHaveLength(1);
    expect(intake.rejections()).toMatchObject([{ eventId: 'e2', pipeline: 'one', code: 'PIPELINE_PAUSED' }]);
    await resumePipeline(intake.deps, 'one');
    await intake.deliver(runRequested('e2', { pipeline: 'one' }), runRequested('e3', { pipeline: 'one' }));
    expect(await intake.runs()).toHaveLength(3);
  });

  it('C80 of an intake that slept since it read the pipeline starts nothing, and is refused when it comes again', async () => {
    const intake = await createIntake();
    const { runs } = intake.deps;
    const putValue = runs.putValue.bind(runs);
    runs.putValue = async (...args) => {
      intake.time.now += 31_000;
      await pausePipeline(intake.deps, 'one');
      return putValue(...args);
    };
    const event = runRequested('e1', { pipeline: 'one' });
    expect(await intake.deliver(event)).toEqual(['m0']);
    expect(await intake.runs()).toEqual([]);
    expect(await intake.deliver(event)).toEqual([]);
    expect(intake.rejections()).toMatchObject([{ eventId: 'e1', code: 'PIPELINE_PAUSED' }]);
  });

  it('C89: an event that is delivered three times, and once more an hour later, makes one run', async () => {
    const intake = await createIntake();
    const event = runRequested('e1', { pipeline: 'one', input: { n: 1 } });
    await intake.deliver(event);
    await intake.deliver(event, event);
    const [run] = await intake.runs();
    await intake.untilOver(run?.id ?? '');
    intake.time.now += 3_600_000;
    await intake.deliver(event);
    expect(await intake.runs()).toHaveLength(1);
    expect([...intake.executions.starts.values()]).toEqual([1]);
  });

  it('C89: another event of the same content makes its own run, and each pipeline has its own', async () => {
    const intake = await createIntake();
    await intake.deliver(runRequested('e1', { pipeline: 'one' }), runRequested('e2', { pipeline: 'one' }));
    await intake.deliver(runRequested('e1', { pipeline: 'two' }));
    expect((await intake.runs()).map(({ pipeline }) => pipeline).sort()).toEqual(['one', 'one', 'two']);
  });

  it('C89: where the store fails, the delivery is refused, comes again and then makes one run', async () => {
    const intake = await createIntake();
    const { createRun } = intake.deps.runs;
    intake.deps.runs.createRun = async () => {
      throw new Error('the store is away');
    };
    const event = runRequested('e1', { pipeline: 'one' });
    expect(await intake.deliver(event)).toEqual(['m0']);
    intake.deps.runs.createRun = createRun;
    expect(await intake.deliver(event)).toEqual([]);
    expect(await intake.runs()).toHaveLength(1);
    expect(intake.rejections()).toEqual([]);
  });

  it('fails only what failed of a batch', async () => {
    const intake = await createIntake();
    const { readHead } = intake.deps.pipelines;
    intake.deps.pipelines.readHead = async (name) => {
      if (name === 'two') throw new Error('away');
      return readHead(name);
    };
    const failed = await intake.deliver(
      runRequested('e1', { pipeline: 'one' }),
      runRequested('e2', { pipeline: 'two' }),
      runRequested('e3', { pipeline: 'nobody' }),
    );
    expect(failed).toEqual(['m1']);
  });

  it('finds the run of a key, whatever event brings it', async () => {
    const intake = await createIntake();
    const detail = { pipeline: 'one', idempotencyKey: 'order-7', input: { n: 1 } };
    await intake.deliver(runRequested('e1', detail), runRequested('e2', detail));
    await intake.deliver(runRequested('e3', { ...detail, input: { n: 2 } }));
    const [run] = await intake.runs();
    expect(await intake.runs()).toHaveLength(1);
    expect(intake.rejections()).toMatchObject([{ eventId: 'e3', code: 'IDEMPOTENCY_CONFLICT' }]);
    expect(intake.rejections()[0]?.message).toContain(run?.id);
  });

  it('answers a bad request with RunRejected and the reason, and never asks for it again', async () => {
    const intake = await createIntake();
    const bad: [Json | string, string][] = [
      [runRequested('e1', { pipeline: 'nobody' }), 'PIPELINE_NOT_FOUND'],
      [runRequested('e2', { pipeline: 'one', revision: 'none' }), 'UNKNOWN_REVISION'],
      [runRequested('e3', { pipeline: 'one', idempotencyKey: '' }), 'INVALID_KEY'],
      [runRequested('e4', { pipeline: 'one', idempotencyKey: 'x'.repeat(256) }), 'INVALID_KEY'],
      [runRequested('e5', { pipeline: 1 }), 'INVALID_REQUEST'],
      [runRequested('e6', { pipeline: 'one', inputs: {} }), 'INVALID_REQUEST'],
      [runRequested('e7', { pipeline: 'one', hops: 17 }), 'TOO_MANY_HOPS'],
      [envelope('e8', 'RunChanged', { pipeline: 'one' }), 'INVALID_EVENT'],
      [
        JSON.stringify(runRequested('e9', { pipeline: 'one', input: 1 })).replace(
          '"input":1',
          '"input":{"__proto__":{}}',
        ),
        'FORBIDDEN_KEY',
      ],
      [
        JSON.stringify(runRequested('e10', { pipeline: 'one', input: 1 })).replace(
          '"input":1',
          '"input":12345678901234567890',
        ),
        'NUMBER_OUT_OF_RANGE',
      ],
      ['not JSON', 'INVALID_JSON'],
      ['{}', 'INVALID_EVENT'],
    ];
    for (const [body] of bad) expect(await intake.deliver(body)).toEqual([]);
    expect(intake.rejections().map(({ code }) => code)).toEqual(bad.map(([, code]) => code));
    expect(intake.rejections()[0]).toMatchObject({
      publisher: 'millrace.intake',
      source: 'acme.shop',
      eventId: 'e1',
      detailType: 'RunRequested',
      pipeline: 'nobody',
      hops: 1,
      message: 'there is no pipeline "nobody"',
    });
    expect(intake.rejections().at(9)).toMatchObject({ eventId: 'e10', pipeline: 'one' });
    expect(intake.counts.get('RequestRefused')).toBe(bad.length);
    expect(await intake.runs()).toEqual([]);
  });

  it('takes a request of 16 hops', async () => {
    const intake = await createIntake();
    await intake.deliver(runRequested('e1', { pipeline: 'one', hops: 16, schemaVersion: 1 }));
    expect(await intake.runs()).toHaveLength(1);
  });

  it('comes again where the refusal could not be published', async () => {
    const intake = await createIntake();
    intake.deps.bus.publish = async () => {
      throw new Error('the bus is away');
    };
    expect(await intake.deliver(runRequested('e1', { pipeline: 'nobody' }))).toEqual(['m0']);
  });
});

describe('events of our own', () => {
  it('are dropped and counted, even if a rule lets them through', async () => {
    const intake = await createIntake();
    for (const source of ['millrace.api', 'millrace.intake', 'millrace.scheduler', 'millrace.notifier']) {
      expect(await intake.deliver(runRequested('e1', { pipeline: 'one' }, source))).toEqual([]);
    }
    expect(await intake.runs()).toEqual([]);
    expect(intake.events).toEqual([]);
    expect(intake.counts.get('OwnEventDropped')).toBe(4);
  });
});

describe('StopRequested', () => {
  it('stops a run, once or several times', async () => {
    const intake = await createIntake(() => undefined);
    await intake.deliver(runRequested('e1', { pipeline: 'one' }));
    await intake.settle();
    const [run] = await intake.runs();
    const stop = envelope('s1', 'StopRequested', { runId: run?.id ?? '' });
    expect(await intake.deliver(stop, stop)).toEqual([]);
    const ended = await intake.untilOver(run?.id ?? '');
    expect([ended.state, ended.stop?.by]).toEqual(['ABORTED', 'acme.shop']);
    expect(await intake.deliver(stop)).toEqual([]);
    expect(intake.rejections()).toEqual([]);
  });

  it('is refused for a run that is not there', async () => {
    const intake = await createIntake();
    await intake.deliver(
      envelope('s1', 'StopRequested', { runId: 'x' }),
      envelope('s2', 'StopRequested', { runId: 'a'.repeat(26) }),
    );
    expect(intake.rejections()).toMatchObject([
      { code: 'RUN_NOT_FOUND', runId: 'x', eventId: 's1' },
      { code: 'RUN_NOT_FOUND', eventId: 's2' },
    ]);
  });

  it('comes again while others keep changing the run', async () => {
    const intake = await createIntake(() => undefined);
    await intake.deliver(runRequested('e1', { pipeline: 'one' }));
    const [run] = await intake.runs();
    intake.deps.runs.commitRun = async () => 'conflict';
    expect(await intake.deliver(envelope('s1', 'StopRequested', { runId: run?.id ?? '' }))).toEqual(['m0']);
  });
});
