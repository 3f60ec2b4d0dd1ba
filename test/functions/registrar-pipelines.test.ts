import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { startRun } from '#scheduler/start-run.ts';
import { runTick } from '#scheduler/tick.ts';
import { createHandler } from '../../functions/registrar/handler.ts';
import type { ResourceAnswer } from '../../functions/registrar/send-answer.ts';
import { CONTEXT, createInstallation } from './installation.ts';

const ETL = { name: 'etl', nodes: [{ id: 'only', engine: 'pass' }] };

function createRegistrar() {
  const installation = createInstallation();
  const { deps, time } = installation;
  const answers: ResourceAnswer[] = [];
  const handler = createHandler({
    registrar: deps,
    logger: { info: () => {}, warn: () => {} },
    sleep: async (ms) => {
      time.now += ms;
    },
    async fetch(_url, init) {
      answers.push(JSON.parse(Buffer.from(init.body as Uint8Array).toString()) as ResourceAnswer);
      return { ok: true, status: 200 };
    },
  });
  const ask = async (event: object) => {
    await handler(event, CONTEXT);
    return answers.at(-1) as ResourceAnswer;
  };
  return { ...installation, ask, head: () => deps.pipelines.readHead('etl') };
}

const properties = (definition: unknown = ETL, more: object = {}) => ({
  ServiceToken: 'arn:aws:lambda:eu-central-1:111122223333:function:millrace-registrar',
  Name: 'etl',
  Definition: typeof definition === 'string' ? definition : JSON.stringify(definition),
  ...more,
});

const request = (RequestType: string, ResourceProperties: object, id?: string) => ({
  RequestType,
  ResponseURL: 'https://cloudformation.example/answer?signed=1',
  StackId: 'arn:aws:cloudformation:eu-central-1:111122223333:stack/Millrace/0a1b',
  RequestId: 'r1',
  ResourceType: 'Custom::MillracePipeline',
  LogicalResourceId: 'PipelinesEtl12AB',
  ResourceProperties,
  ...(id !== undefined && { PhysicalResourceId: id }),
});

describe('a pipeline of the stack', () => {
  it('is put, and tells everybody', async () => {
    const { ask, head, events } = createRegistrar();
    const answer = await ask(request('Create', properties()));
    expect(answer).toEqual(
      expect.objectContaining({ Status: 'SUCCESS', PhysicalResourceId: expect.stringMatching(/^etl\/\w{8,}$/) }),
    );
    expect(await head()).toMatchObject({ name: 'etl', version: expect.any(Number) });
    expect(events.map(({ detailType }) => detailType)).toEqual(['PipelineChanged']);
  });

  it('is the same one however often it is put, and has a new revision when its definition changes', async () => {
    const { ask, head } = createRegistrar();
    const { PhysicalResourceId: id } = await ask(request('Create', properties()));
    const first = await head();
    expect(await ask(request('Create', properties()))).toMatchObject({ PhysicalResourceId: id });
    expect(await head()).toEqual(first);
    const changed = { ...ETL, nodes: [...ETL.nodes, { id: 'more', engine: 'pass' }] };
    expect(await ask(request('Update', properties(changed), id))).toMatchObject({
      Status: 'SUCCESS',
      PhysicalResourceId: id,
    });
    expect((await head())?.revision).not.toBe(first?.revision);
  });

  it('may come deflated', async () => {
    const { ask, head } = createRegistrar();
    const DefinitionDeflated = deflateRawSync(JSON.stringify(ETL)).toString('base64');
    expect(await ask(request('Create', { Name: 'etl', DefinitionDeflated }))).toMatchObject({ Status: 'SUCCESS' });
    expect(await head()).toBeDefined();
  });

  it('takes over one that is there already', async () => {
    const { ask, head } = createRegistrar();
    await ask(request('Create', properties()));
    const before = await head();
    const again = await ask({ ...request('Create', properties()), LogicalResourceId: 'PipelinesOther34CD' });
    expect(again).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: `etl/${before?.incarnation}` });
  });

  it('is kept when its resource goes, unless its user says otherwise', async () => {
    const { ask, head } = createRegistrar();
    const { PhysicalResourceId: id } = await ask(request('Create', properties()));
    expect(await ask(request('Delete', properties(), id))).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: id });
    expect((await head())?.deleting).toBeUndefined();
    expect(await ask(request('Delete', properties(ETL, { OnRemoval: 'delete' }), id))).toMatchObject({
      Status: 'SUCCESS',
    });
    expect(await head()).toBeUndefined();
    expect(await ask(request('Delete', properties(ETL, { OnRemoval: 'delete' }), id))).toMatchObject({
      Status: 'SUCCESS',
    });
  });

  it('is not deleted while runs are active; with its runs it is', async () => {
    const { ask, head, deps } = createRegistrar();
    const waiting = { ...ETL, nodes: [{ id: 'ask', engine: 'approval', params: { prompt: 'go on?' } }] };
    const { PhysicalResourceId: id } = await ask(request('Create', properties(waiting)));
    const started = await startRun(deps, { pipeline: 'etl', trigger: { type: 'api' } });
    expect(started.kind).toBe('started');
    const refused = await ask(request('Delete', properties(waiting, { OnRemoval: 'delete' }), id));
    expect(refused).toMatchObject({ Status: 'FAILED', PhysicalResourceId: id });
    expect(refused.Reason).toMatch(/^ACTIVE_RUNS: At least 1 runs/);
    expect((await head())?.deleting).toBeUndefined();
    const forced = await ask(request('Delete', properties(waiting, { OnRemoval: 'stopAndDelete' }), id));
    expect(forced).toMatchObject({ Status: 'SUCCESS' });
    expect((await head())?.deleting).toMatchObject({ isForced: true, by: 'Millrace/PipelinesEtl12AB' });
    await runTick(deps);
  });

  it('that somebody deleted and put again is another one, which its resource leaves alone', async () => {
    const { ask, head, deps } = createRegistrar();
    const { PhysicalResourceId: id } = await ask(request('Create', properties()));
    const gone = await head();
    await deps.pipelines.removeHead('etl', gone?.version ?? 0);
    await ask(request('Create', properties()));
    await ask(request('Delete', properties(ETL, { OnRemoval: 'stopAndDelete' }), id));
    expect((await head())?.deleting).toBeUndefined();
  });

  it.each<[string, object, RegExp]>([
    [
      'a definition that is not valid',
      properties({ name: 'etl', nodes: [] }),
      /^INVALID_DEFINITION: One thing is wrong/,
    ],
    ['a definition that is no JSON', properties('{'), /^INVALID_JSON: /],
    [
      'another name',
      properties({ ...ETL, name: 'other' }),
      /^INVALID_DEFINITION: name: the resource names "etl", the definition "other"/,
    ],
    ['no definition', { Name: 'etl' }, /^INVALID_REQUEST: /],
    ['what is not deflated', { Name: 'etl', DefinitionDeflated: 'AAAA' }, /^INVALID_REQUEST: DefinitionDeflated: /],
    [
      'what is too large',
      { Name: 'etl', DefinitionDeflated: deflateRawSync(Buffer.alloc(5_000_000, ' ')).toString('base64') },
      /^INVALID_REQUEST: DefinitionDeflated: /,
    ],
    [
      'an end that there is not',
      properties(ETL, { OnRemoval: 'burn' }),
      /^INVALID_REQUEST: OnRemoval: must be one of keep, delete, stopAndDelete/,
    ],
  ])('is refused with %s; the deletion after it takes nothing away', async (_name, given, reason) => {
    const { ask, head } = createRegistrar();
    const failed = await ask(request('Create', given));
    expect(failed).toMatchObject({ Status: 'FAILED', PhysicalResourceId: 'etl/0' });
    expect(failed.Reason).toMatch(reason);
    expect(await head()).toBeUndefined();
    expect(await ask(request('Delete', given, failed.PhysicalResourceId))).toMatchObject({ Status: 'SUCCESS' });
  });

  it('waits a minute for one of its name that is being deleted', async () => {
    const { ask, head, deps, time } = createRegistrar();
    await ask(request('Create', properties()));
    const before = await head();
    if (!before) throw new Error('nothing was put');
    const { dueAt: _, ...rest } = before;
    const deleting = { at: time.now, isForced: true as const };
    await deps.pipelines.commitHead({ ...rest, version: before.version + 1, deleting }, before.version);
    const began = time.now;
    const failed = await ask(request('Create', properties()));
    expect(failed).toMatchObject({ Status: 'FAILED', Reason: expect.stringMatching(/^PIPELINE_DELETING: /) });
    expect(time.now - began).toBe(60_000);
    await deps.pipelines.removeHead('etl', before.version + 1);
    expect(await ask(request('Create', properties()))).toMatchObject({ Status: 'SUCCESS' });
  });

  it('is not taken for another type of resource', async () => {
    const { ask } = createRegistrar();
    const answer = await ask({ ...request('Create', properties()), ResourceType: 'Custom::MillraceThing' });
    expect(answer).toMatchObject({
      Status: 'FAILED',
      Reason: expect.stringContaining('"Custom::MillraceThing" is none of'),
    });
  });
});
