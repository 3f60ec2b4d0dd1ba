import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DeliveryChaos, type EventBuses, openEventBuses } from '#local/event-bus.ts';
import { EventRuleError } from '#local/event-rule.ts';
import { QueueError } from '#local/queue-definition.ts';
import { createWireLog, type WireLog } from '#local/wire-log.ts';
import { ManualClock } from './manual-clock.ts';
import { temporaryDisk } from './temporary-disk.ts';

const INBOX = 'arn:aws:sqs:us-east-1:000000000000:inbox';
const OTHER = 'arn:aws:sqs:us-east-1:000000000000:other';
const LAMBDA = 'arn:aws:lambda:us-east-1:000000000000:function:listener';

let storage: Awaited<ReturnType<typeof temporaryDisk>>;
let clock: ManualClock;
let wireLog: WireLog;
let buses: EventBuses;
let sent: { arn: string; body: unknown }[];
let invoked: unknown[];
let isFunctionBroken: boolean;
let chaos: DeliveryChaos | undefined;

async function start(): Promise<void> {
  buses = openEventBuses({
    disk: storage.disk,
    wireLog,
    clock,
    ...(chaos && { chaos }),
    sendToQueue: async (arn, body) => {
      if (arn.endsWith(':gone')) throw new QueueError('NO_QUEUE', 'gone');
      sent.push({ arn, body: JSON.parse(body) });
    },
    invokeFunction: async (_arn, payload) => {
      if (isFunctionBroken) throw new Error('terminated');
      invoked.push(JSON.parse(payload));
    },
  });
  buses.createBus('millrace');
}

beforeEach(async () => {
  storage = await temporaryDisk();
  clock = new ManualClock();
  wireLog = createWireLog();
  [sent, invoked, isFunctionBroken, chaos] = [[], [], false, undefined];
  await start();
});
afterEach(async () => {
  await buses.close();
  await storage.remove();
});

function rule(name: string, bus: string, EventPattern: unknown, ...Targets: unknown[]): void {
  const address = { name, arn: `arn:aws:events:us-east-1:000000000000:rule/${bus}/${name}` };
  buses.createRule(address, { EventBusName: bus, EventPattern, State: 'ENABLED', Targets });
}

async function putEvents(...Entries: object[]) {
  const { status, body } = await buses.handle('AWSEvents.PutEvents', Buffer.from(JSON.stringify({ Entries })));
  return { status, answer: JSON.parse(body.toString()) };
}

const entry = (Source: string, Detail: unknown = { a: 1 }) => ({
  Source,
  DetailType: 'RunRequested',
  Detail: JSON.stringify(Detail),
  EventBusName: 'millrace',
});

describe('openEventBuses', () => {
  it('U15 sends an event to the targets of the rules that match, and drops an echo', async () => {
    rule('others', 'millrace', { source: [{ 'anything-but': ['millrace.scheduler'] }] }, { Id: 'q', Arn: INBOX });
    rule('all', 'millrace', { 'detail-type': ['RunRequested'] }, { Id: 'q', Arn: OTHER });
    const { answer } = await putEvents(entry('shop', { a: 1 }), entry('millrace.scheduler', { a: 2 }));
    expect(answer).toEqual({
      FailedEntryCount: 0,
      Entries: [{ EventId: expect.any(String) }, { EventId: expect.any(String) }],
    });
    expect(sent.map(({ arn, body }) => [arn, (body as { detail: unknown }).detail]).toSorted()).toEqual([
      [INBOX, { a: 1 }],
      [OTHER, { a: 1 }],
      [OTHER, { a: 2 }],
    ]);
    expect(sent[0]?.body).toEqual({
      version: '0',
      id: answer.Entries[0].EventId,
      'detail-type': 'RunRequested',
      source: 'shop',
      account: '000000000000',
      time: '2023-11-14T22:13:20Z',
      region: 'us-east-1',
      resources: [],
      detail: { a: 1 },
    });
    expect(buses.counters()).toEqual({ events: 2, delivered: 3, failed: 0 });
    expect(wireLog.snapshot()).toMatchObject({ events: 2, calls: { events: { PutEvents: 1 } } });
  });

  it('keeps buses apart, and drops what is put on an unknown one', async () => {
    rule('states', 'default', { source: ['aws.states'] }, { Id: 'q', Arn: INBOX });
    await buses.publish('millrace', { source: 'aws.states', detailType: 'x', detail: {} });
    await buses.publish('nobody', { source: 'aws.states', detailType: 'x', detail: {} });
    expect(sent).toEqual([]);
    await buses.publish('default', { source: 'aws.states', detailType: 'x', detail: {} });
    expect(sent).toHaveLength(1);
    expect(wireLog.snapshot().events).toBe(0);
  });

  it('transforms what a target is given', async () => {
    const InputTransformer = {
      InputPathsMap: { name: '$.detail.name', output: '$.detail.output', stop: '$.detail.stopDate' },
      InputTemplate: '{"kind":"execution","name":<name>,"output":<output>,"stopDate":<stop>}',
    };
    rule('states', 'default', { detail: { status: ['FAILED'] } }, { Id: 'q', Arn: INBOX, InputTransformer });
    const detail = { name: 'n', status: 'FAILED', output: null, stopDate: 7 };
    await buses.publish('default', { source: 'aws.states', detailType: 'x', detail });
    expect(sent).toEqual([{ arn: INBOX, body: { kind: 'execution', name: 'n', output: null, stopDate: 7 } }]);
  });

  it('passes on the text of a detail as it came', async () => {
    let body = '';
    const raw = openEventBuses({
      disk: storage.disk,
      wireLog,
      sendToQueue: async (_arn, text) => {
        body = text;
      },
      invokeFunction: async () => undefined,
    });
    raw.createRule({ name: 'r', arn: 'r' }, { EventPattern: { source: ['s'] }, Targets: [{ Id: 'q', Arn: INBOX }] });
    const Entries = [{ Source: 's', DetailType: 't', Detail: '{"big": 12345678901234567890}' }];
    await raw.handle('AWSEvents.PutEvents', Buffer.from(JSON.stringify({ Entries })));
    expect(body).toContain('"detail":{"big": 12345678901234567890}}');
  });

  it('refuses single entries as AWS does and takes the others', async () => {
    const { status, answer } = await putEvents(
      entry('aws.states'),
      { ...entry('shop'), Detail: '[1]' },
      { ...entry('shop'), DetailType: undefined },
      entry('shop'),
    );
    expect(status).toBe(200);
    expect(answer.FailedEntryCount).toBe(3);
    expect(answer.Entries.map(({ ErrorCode }: { ErrorCode?: string }) => ErrorCode)).toEqual([
      'NotAuthorizedForSourceException',
      'MalformedDetail',
      'InvalidArgument',
      undefined,
    ]);
  });

  it('refuses a request of eleven entries or of more than a megabyte', async () => {
    const many = await putEvents(...Array.from({ length: 11 }, () => entry('shop')));
    expect(many).toMatchObject({ status: 400, answer: { __type: 'ValidationException' } });
    const large = await putEvents(entry('shop', 'x'.repeat(10)), entry('shop', { x: 'x'.repeat(1_048_576) }));
    expect(large.answer.message).toBe('Total size of the entries in the request is over the limit.');
  });

  it('loses an event whose target does not exist, and counts it', async () => {
    rule('gone', 'millrace', { source: ['shop'] }, { Id: 'q', Arn: INBOX.replace('inbox', 'gone') });
    expect((await putEvents(entry('shop'))).answer.FailedEntryCount).toBe(0);
    expect(buses.counters()).toMatchObject({ delivered: 0, failed: 1 });
  });

  it('tries a function again after one and two minutes, also in a host that came later', async () => {
    const target = { Id: 'f', Arn: LAMBDA, DeadLetterConfig: { Arn: OTHER } };
    rule('listener', 'millrace', { source: ['shop'] }, target);
    isFunctionBroken = true;
    await putEvents(entry('shop'));
    clock.advance(0);
    await buses.close();
    await storage.reopen();
    await start();
    await buses.start();
    isFunctionBroken = false;
    clock.advance(59_999);
    await turn();
    expect(invoked).toEqual([]);
    clock.advance(1);
    await expect.poll(() => buses.counters().delivered).toBe(1);
    expect(invoked).toMatchObject([{ source: 'shop' }]);
    await buses.close();
    await start();
    await buses.start();
    clock.advance(600_000);
    await turn();
    expect(invoked).toHaveLength(1);
  });

  it('U15 gives an event to the dead-letter queue when the third try failed', async () => {
    rule('listener', 'millrace', { source: ['shop'] }, { Id: 'f', Arn: LAMBDA, DeadLetterConfig: { Arn: OTHER } });
    isFunctionBroken = true;
    await putEvents(entry('shop'));
    await expect
      .poll(() => {
        clock.advance(120_000);
        return buses.counters().failed;
      })
      .toBe(1);
    await expect.poll(() => sent).toMatchObject([{ arn: OTHER, body: { source: 'shop' } }]);
  });

  it('drops, repeats and delays deliveries where chaos says so, delayed ones over a restart', async () => {
    const fates = ['drop', 3, { delayMs: 5000, copies: 2 }] as const;
    let next = 0;
    chaos = { deliver: () => fates[next++] ?? 1 };
    await buses.close();
    await start();
    rule('r', 'millrace', { source: ['shop'] }, { Id: 'q', Arn: INBOX });
    await putEvents(entry('shop'));
    expect(sent).toHaveLength(0);
    await putEvents(entry('shop'));
    expect(sent).toHaveLength(3);
    await putEvents(entry('shop'));
    await buses.close();
    await start();
    await buses.start();
    clock.advance(4999);
    expect(sent).toHaveLength(3);
    clock.advance(1);
    await expect.poll(() => sent.length).toBe(5);
  });

  it.each([
    ['a bad pattern', { EventPattern: { sorce: ['x'] } }, 'INVALID_PATTERN', /^Rule r: sorce: /],
    ['a schedule', { ScheduleExpression: 'rate(1 minute)' }, 'UNSUPPORTED_RULE', /ScheduleExpression/],
    [
      'a target of another service',
      { EventPattern: { source: ['x'] }, Targets: [{ Id: 't', Arn: 'arn:aws:sns:us-east-1:0:topic' }] },
      'UNSUPPORTED_TARGET',
      /^Rule r: the target arn:aws:sns:us-east-1:0:topic is neither/,
    ],
    [
      'a property of a target that would change what it does',
      { EventPattern: { source: ['x'] }, Targets: [{ Id: 't', Arn: INBOX, SqsParameters: { MessageGroupId: 'g' } }] },
      'UNSUPPORTED_RULE',
      /SqsParameters/,
    ],
    [
      'a template with an unknown variable',
      {
        EventPattern: { source: ['x'] },
        Targets: [{ Id: 't', Arn: INBOX, InputTransformer: { InputTemplate: '<a>' } }],
      },
      'UNSUPPORTED_TARGET',
      /no variable for <a>/,
    ],
  ])('refuses a rule with %s', (_what, properties, code, message) => {
    const create = () => buses.createRule({ name: 'r', arn: 'arn' }, properties);
    expect(create).toThrow(EventRuleError);
    expect(create).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
  });
});

describe('a rule that is disabled', () => {
  const call = (api: string, body: object) => buses.handle(`AWSEvents.${api}`, Buffer.from(JSON.stringify(body)));
  const publish = () => buses.publish('millrace', { source: 'x', detailType: 'd', detail: {} });

  it('hands nothing on until it is enabled, and nothing once it is disabled again', async () => {
    const rule = { EventBusName: 'millrace', EventPattern: { source: ['x'] }, State: 'DISABLED' };
    buses.createRule({ name: 'r', arn: 'arn' }, { ...rule, Targets: [{ Id: 't', Arn: INBOX }] });
    await publish();
    expect(sent).toEqual([]);
    const arn = 'arn:aws:events:us-east-1:000000000000:event-bus/millrace';
    expect(await call('EnableRule', { Name: 'r', EventBusName: arn })).toMatchObject({ status: 200 });
    await publish();
    await turn();
    expect(sent).toHaveLength(1);
    await call('DisableRule', { Name: 'r', EventBusName: 'millrace' });
    await publish();
    await turn();
    expect(sent).toHaveLength(1);
  });

  it('has to be there', async () => {
    expect(await call('EnableRule', { Name: 'none' })).toMatchObject({
      status: 400,
      headers: { 'x-amzn-errortype': 'ResourceNotFoundException' },
    });
    expect(await call('EnableRule', {})).toMatchObject({ headers: { 'x-amzn-errortype': 'ValidationException' } });
  });
});
