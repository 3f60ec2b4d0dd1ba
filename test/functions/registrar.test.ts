import type { Context } from 'aws-lambda';
import { describe, expect, it } from 'vitest';
import { limitName } from '#domain/limit.ts';
import { putEngine, removeEngine } from '#scheduler/engines.ts';
import { createHandler } from '../../functions/registrar/handler.ts';
import type { ResourceAnswer } from '../../functions/registrar/send-answer.ts';
import { CONTEXT, createInstallation } from './installation.ts';

const ARN = 'arn:aws:states:eu-central-1:111122223333:stateMachine:nightly';
const STACK = 'arn:aws:cloudformation:eu-central-1:111122223333:stack/Millrace/0a1b';
const URL = 'https://cloudformation.example/answer?signed=1';

type Sent = ResourceAnswer & {
  readonly RequestId: string;
  readonly StackId: string;
  readonly LogicalResourceId: string;
};

function createRegistrar() {
  const { deps, time, events, rungThings } = createInstallation();
  const sent: { url: string; init: RequestInit; answer: Sent }[] = [];
  const refusals: (number | Error)[] = [];
  const sleep = async (ms: number) => {
    time.now += ms;
  };
  const handler = createHandler({
    registrar: deps,
    logger: { info: () => {}, warn: () => {} },
    sleep,
    async fetch(url, init) {
      const refused = refusals.shift();
      if (refused instanceof Error) throw refused;
      if (refused !== undefined) return { ok: false, status: refused };
      sent.push({ url, init, answer: JSON.parse(Buffer.from(init.body as Uint8Array).toString()) as Sent });
      return { ok: true, status: 200 };
    },
  });
  const invoke = (event: unknown, context: Context = CONTEXT) => handler(event, context);
  const ask = async (event: object) => {
    await invoke(event);
    return sent.at(-1)?.answer as Sent;
  };
  const engine = async (name = 'nightly') => (await deps.limits.readLimit(limitName('engine', name)))?.engine;
  return { deps, time, events, rungThings, sent, refusals, invoke, ask, engine };
}

const properties = (registration: object = {}, name: unknown = 'nightly') => ({
  ServiceToken: 'arn:aws:lambda:eu-central-1:111122223333:function:millrace-registrar',
  Name: name,
  Registration: JSON.stringify({ stateMachineArn: ARN, ...registration }),
});

let requests = 0;
const request = (RequestType: string, more: object = {}) => {
  requests += 1;
  return {
    RequestType,
    ResponseURL: URL,
    StackId: STACK,
    RequestId: `r${requests}`,
    ResourceType: 'Custom::MillraceEngine',
    LogicalResourceId: 'EnginesNightly12AB',
    ResourceProperties: properties(),
    ...more,
  };
};
const created = (registration?: object) => request('Create', { ResourceProperties: properties(registration) });
const updated = (id: string, registration?: object) =>
  request('Update', { PhysicalResourceId: id, ResourceProperties: properties(registration) });
const deleted = (id: string, more: object = {}) => request('Delete', { PhysicalResourceId: id, ...more });
const byHand = (more: object = {}) => ({ stateMachineArn: ARN, labels: [], ...more });

describe('the function registrar', () => {
  it('registers an engine, tells everybody, and answers with its name and generation', async () => {
    const { ask, engine, events, rungThings, sent } = createRegistrar();
    const event = created({ maxConcurrent: 5, labels: { team: 'data' }, heartbeatSeconds: 60 });
    const { StackId, RequestId, LogicalResourceId } = event;
    const succeeded = { Status: 'SUCCESS', PhysicalResourceId: 'nightly/1' };
    expect(await ask(event)).toEqual({ ...succeeded, StackId, RequestId, LogicalResourceId });
    expect(sent).toMatchObject([{ url: URL, init: { method: 'PUT', headers: { 'content-type': '' } } }]);
    const owner = ['cloudformation', 'Millrace/EnginesNightly12AB'];
    expect(await engine()).toMatchObject({
      stateMachineArn: ARN,
      heartbeatSeconds: 60,
      labels: [owner, ['team', 'data']],
    });
    expect(events.map(({ detailType }) => detailType)).toEqual(['EngineChanged']);
    expect(rungThings).toEqual([{ kind: 'limit', id: 'engine/nightly' }]);
  });

  it('changes it, and removes it', async () => {
    const { ask, engine } = createRegistrar();
    await ask(created());
    expect(await ask(updated('nightly/1', { heartbeatSeconds: 60 }))).toMatchObject({
      PhysicalResourceId: 'nightly/1',
    });
    expect((await engine())?.heartbeatSeconds).toBe(60);
    expect(await ask(deleted('nightly/1'))).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: 'nightly/1' });
    expect(await engine()).toBeUndefined();
  });

  it('does the same again when a request is repeated', async () => {
    const { ask, engine } = createRegistrar();
    for (let time = 0; time < 2; time++) {
      expect(await ask(created())).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: 'nightly/1' });
    }
    expect(await engine()).toMatchObject({ generation: 1 });
    for (let time = 0; time < 2; time++) expect(await ask(deleted('nightly/1'))).toMatchObject({ Status: 'SUCCESS' });
  });

  it('gives another id to an engine of another name, so that the old one is deleted', async () => {
    const { ask, engine } = createRegistrar();
    await ask(created());
    const renamed = request('Update', { PhysicalResourceId: 'nightly/1', ResourceProperties: properties({}, 'daily') });
    expect(await ask(renamed)).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: 'daily/1' });
    await ask(deleted('nightly/1', { ResourceProperties: properties({}, 'daily') }));
    expect([await engine('nightly'), (await engine('daily'))?.generation]).toEqual([undefined, 1]);
  });

  describe('leaves alone what is not its own', () => {
    it('an engine that was there: the creation fails, and the deletion after it takes nothing away', async () => {
      const { deps, ask, engine } = createRegistrar();
      await putEngine(deps, 'nightly', byHand());
      const failed = await ask(created());
      expect(failed).toMatchObject({ Status: 'FAILED', PhysicalResourceId: 'nightly/0' });
      expect(failed.Reason).toContain(
        'registered already, and not by this resource. Remove it first (DELETE /v1/engines/nightly)',
      );
      expect(await ask(deleted(failed.PhysicalResourceId))).toMatchObject({ Status: 'SUCCESS' });
      expect(await engine()).toMatchObject({ generation: 1, labels: [] });
    });

    it('an engine of another resource', async () => {
      const { ask, engine } = createRegistrar();
      await ask(created());
      const other = { LogicalResourceId: 'EnginesOther34CD' };
      expect(await ask({ ...created(), ...other })).toMatchObject({ Status: 'FAILED' });
      expect(await ask({ ...updated('nightly/1'), ...other })).toMatchObject({ Status: 'FAILED' });
      for (const id of ['nightly/0', 'nightly/1', 'Millrace-EnginesOther34CD-1XYZ'])
        await ask({ ...deleted(id), ...other });
      expect(await engine()).toMatchObject({ generation: 1 });
    });

    it('an engine that somebody made again under the name', async () => {
      const { deps, ask, engine } = createRegistrar();
      await ask(created());
      await removeEngine(deps, 'nightly');
      await putEngine(deps, 'nightly', byHand());
      expect(await ask(deleted('nightly/1'))).toMatchObject({ Status: 'SUCCESS' });
      expect(await engine()).toMatchObject({ generation: 2 });
    });
  });

  it('removes what a creation made whose answer was lost', async () => {
    const { ask, engine } = createRegistrar();
    await ask(created());
    await ask(deleted('Millrace-EnginesNightly12AB-1QWERTZ'));
    expect(await engine()).toBeUndefined();
  });

  it('has the last word over what was put over the API since, and still removes it', async () => {
    const { deps, ask, engine } = createRegistrar();
    await ask(created());
    await putEngine(deps, 'nightly', byHand({ maxConcurrent: 9 }));
    expect(await ask(updated('nightly/1'))).toMatchObject({ Status: 'SUCCESS', PhysicalResourceId: 'nightly/1' });
    expect((await deps.limits.readLimit('engine/nightly'))?.slots).toBeUndefined();
    await putEngine(deps, 'nightly', byHand({ maxConcurrent: 9 }));
    await ask(deleted('nightly/1'));
    expect(await engine()).toBeUndefined();
  });

  it('registers what was removed over the API again, as another engine', async () => {
    const { deps, ask, engine } = createRegistrar();
    await ask(created());
    await removeEngine(deps, 'nightly');
    expect(await ask(updated('nightly/1'))).toMatchObject({ PhysicalResourceId: 'nightly/2' });
    await ask(deleted('nightly/1'));
    expect(await engine()).toMatchObject({ generation: 2 });
  });

  it.each<[string, object, string]>([
    ['a built-in name', properties({}, 'lambda'), 'BUILT_IN_ENGINE: The engine "lambda" is built in'],
    ['a name that is none', properties({}, 'a b'), 'INVALID_REQUEST: name: a name is'],
    ['no name', { Registration: '{}' }, 'INVALID_REQUEST: '],
    ['no registration', { Name: 'nightly' }, 'INVALID_REQUEST: '],
    ['a registration that is no JSON', { Name: 'nightly', Registration: '{' }, 'INVALID_JSON: Registration: '],
    ['a registration that is a list', { Name: 'nightly', Registration: '[]' }, 'INVALID_REQUEST: Registration: '],
    ['a key twice', { Name: 'nightly', Registration: '{"a":1,"a":2}' }, 'INVALID_JSON: '],
    ['a key that pollutes', { Name: 'nightly', Registration: '{"__proto__":{}}' }, 'FORBIDDEN_KEY: '],
    ['a number as text', properties({ maxConcurrent: '5' }), 'INVALID_REQUEST: maxConcurrent: '],
    ['no slots', properties({ maxConcurrent: 0 }), 'INVALID_REQUEST: maxConcurrent: '],
    ['an unknown field', properties({ slots: 5 }), 'INVALID_REQUEST: slots: there is no field "slots"'],
    ['an ARN that is none', properties({ stateMachineArn: 'x' }), 'INVALID_REQUEST: stateMachineArn: must be'],
    ['another region', properties({ stateMachineArn: ARN.replace('central', 'west') }), 'another account or region'],
    ['a schema that is none', properties({ paramsSchema: { type: 'text' } }), 'INVALID_REQUEST: paramsSchema'],
    ['the label that is its own', properties({ labels: { cloudformation: 'x' } }), 'is set by the stack'],
    [
      'one label too many',
      properties({ labels: Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`k${at}`, ''])) }),
      'one of which the stack sets',
    ],
  ])('refuses %s with its reason; the deletion after it succeeds', async (_name, ResourceProperties, reason) => {
    const { ask, deps } = createRegistrar();
    const failed = await ask(request('Create', { ResourceProperties }));
    expect(failed).toMatchObject({ Status: 'FAILED', PhysicalResourceId: expect.stringMatching(/\/0$/) });
    expect(failed.Reason).toContain(reason);
    expect(await ask(deleted(failed.PhysicalResourceId, { ResourceProperties }))).toMatchObject({ Status: 'SUCCESS' });
    expect((await deps.limits.listLimits('engine', 10)).items).toEqual([]);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a list', []],
    ['an unknown request', request('Rename')],
    ['no address for the answer', request('Create', { ResponseURL: undefined })],
    ['an address in the clear', request('Create', { ResponseURL: 'http://example.com/' })],
    [
      'an address that only begins like this machine',
      request('Create', { ResponseURL: 'http://127.0.0.1.example.com/' }),
    ],
    ['no request id', request('Create', { RequestId: '' })],
    ['a stack that is none', request('Create', { StackId: 'Millrace' })],
    ['properties that are none', request('Create', { ResourceProperties: [] })],
  ])('answers nobody for an event with %s', async (_name, event) => {
    const { invoke, sent, deps } = createRegistrar();
    await expect(invoke(event)).rejects.toThrow();
    expect(sent).toEqual([]);
    expect((await deps.limits.listLimits('engine', 10)).items).toEqual([]);
  });

  it('waits until a policy of the same deployment holds', async () => {
    const { deps, time, ask } = createRegistrar();
    const began = time.now;
    const findMachine = deps.executions.findMachine;
    deps.executions.findMachine = (arn) =>
      time.now - began < 7_000 ? Promise.resolve({ kind: 'denied', message: 'not yet' }) : findMachine(arn);
    expect(await ask(created())).toMatchObject({ Status: 'SUCCESS' });
    expect(time.now - began).toBe(8_000);
  });

  it('says what kept failing, after half a minute', async () => {
    const { deps, time, ask } = createRegistrar();
    const began = time.now;
    deps.limits.readLimit = () => Promise.reject(new Error('no table'));
    expect(await ask(created())).toMatchObject({ Status: 'FAILED', Reason: 'Error: no table' });
    expect(time.now - began).toBe(30_000);
  });

  it('answers in time also where a port never does', async () => {
    const { deps, invoke, sent } = createRegistrar();
    deps.limits.readLimit = () => new Promise(() => {});
    await invoke(created(), { ...CONTEXT, getRemainingTimeInMillis: () => 20_020 } as Context);
    expect(sent[0]?.answer).toMatchObject({ Status: 'FAILED', Reason: expect.stringContaining('it took too long') });
  });

  it('cuts a reason to what CloudFormation takes', async () => {
    const { deps, ask, sent } = createRegistrar();
    deps.limits.readLimit = () => Promise.reject(new Error('→'.repeat(5_000)));
    expect((await ask(created())).Reason).toMatch(/^Error: →{900}/);
    expect(Buffer.from(sent[0]?.init.body as Uint8Array).length).toBeLessThanOrEqual(4_096);
  });

  it('sends its answer again when it is not taken, and fails when nobody takes it, so that it is invoked again', async () => {
    const { ask, invoke, refusals, engine, sent } = createRegistrar();
    refusals.push(503, new Error('reset'));
    expect(await ask(created())).toMatchObject({ Status: 'SUCCESS' });
    refusals.push(503, 503, 503);
    const event = deleted('nightly/1');
    await expect(invoke(event)).rejects.toThrow('CloudFormation did not take the answer: status 503');
    expect(await engine()).toBeUndefined();
    await invoke(event);
    expect(sent.at(-1)?.answer).toMatchObject({ Status: 'SUCCESS', RequestId: event.RequestId });
  });
});
