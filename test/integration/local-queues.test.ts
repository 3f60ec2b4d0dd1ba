import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventBridgeClient, PutEventsCommand } from '@aws-sdk/client-eventbridge';
import {
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Disk, openDisk } from '#local/disk.ts';
import { type EventBuses, openEventBuses } from '#local/event-bus.ts';
import { openQueues, type QueueService } from '#local/queues.ts';
import { createWireLog, type WireLog } from '#local/wire-log.ts';
import { listen } from './wire-listener.ts';

const ARN = 'arn:aws:sqs:us-east-1:000000000000:inbox';

let folder: string;
let disk: Disk;
let wireLog: WireLog;
let queues: QueueService;
let buses: EventBuses;
let wire: Awaited<ReturnType<typeof listen>>;
let sqs: SQSClient;
let events: EventBridgeClient;
let QueueUrl: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-queues-'));
  disk = await openDisk(folder);
  wireLog = createWireLog();
  queues = openQueues({ disk, wireLog });
  buses = openEventBuses({ disk, wireLog, sendToQueue: queues.send, invokeFunction: async () => undefined });
  wire = await listen({ AmazonSQS: queues.handle, AWSEvents: buses.handle });
  QueueUrl = `${wire.url}/000000000000/inbox`;
  await queues.create({ arn: ARN, url: QueueUrl }, { VisibilityTimeout: 60 });
  sqs = new SQSClient(wire.clientConfig);
  events = new EventBridgeClient(wire.clientConfig);
});
afterEach(async () => {
  sqs.destroy();
  events.destroy();
  await wire.close();
  await buses.close();
  await queues.close();
  await disk.close();
  await rm(folder, { recursive: true });
});

const receive = (options: object = {}) => sqs.send(new ReceiveMessageCommand({ QueueUrl, ...options }));

describe('the wire protocol of SQS', () => {
  it('sends, receives and deletes', async () => {
    expect(await sqs.send(new GetQueueUrlCommand({ QueueName: 'inbox' }))).toMatchObject({ QueueUrl });
    const { MessageId } = await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'grüezi' }));
    const { Messages } = await receive();
    expect(Messages).toMatchObject([{ MessageId, Body: 'grüezi', Attributes: { ApproximateReceiveCount: '1' } }]);
    expect((await receive()).Messages).toBeUndefined();
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: Messages?.[0]?.ReceiptHandle }));
    expect(queues.counters(ARN)).toEqual({ depth: 0, inFlight: 0, delayed: 0, dead: 0 });
  });

  it('sends and deletes batches', async () => {
    const Entries = ['a', 'b', 'c'].map((MessageBody) => ({ Id: MessageBody, MessageBody }));
    const { Successful } = await sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    expect(Successful?.map(({ Id }) => Id)).toEqual(['a', 'b', 'c']);
    const { Messages = [] } = await receive({ MaxNumberOfMessages: 10 });
    expect(Messages.map(({ Body }) => Body).toSorted()).toEqual(['a', 'b', 'c']);
    const handles = Messages.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await sqs.send(new DeleteMessageBatchCommand({ QueueUrl, Entries: handles }));
    expect(queues.counters(ARN).inFlight).toBe(0);
    expect(wireLog.snapshot()).toMatchObject({ messages: 3, queueRequests: 3 });
  });

  it('makes a message visible again, and waits for one that is not there yet', async () => {
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'again' }));
    const { Messages } = await receive();
    const waiting = receive({ WaitTimeSeconds: 20 });
    await expect.poll(() => wireLog.snapshot()).toMatchObject({ calls: { sqs: { ReceiveMessage: 2 } } });
    const ReceiptHandle = Messages?.[0]?.ReceiptHandle;
    await sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
    expect((await waiting).Messages).toMatchObject([{ Body: 'again', Attributes: { ApproximateReceiveCount: '2' } }]);
    await expect(
      sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 })),
    ).rejects.toMatchObject({ name: 'MessageNotInflight' });
  });

  it('tells the attributes of a queue', async () => {
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'now' }));
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'later', DelaySeconds: 900 }));
    const { Attributes } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
    expect(Attributes).toMatchObject({
      QueueArn: ARN,
      ApproximateNumberOfMessages: '1',
      ApproximateNumberOfMessagesDelayed: '1',
      VisibilityTimeout: '60',
    });
  });

  it('refuses bad requests by name', async () => {
    const send = (request: object) =>
      sqs
        .send(new SendMessageCommand({ QueueUrl, MessageBody: 'x', ...request }))
        .catch(({ name, message }) => ({ name, message }));
    expect(await send({ DelaySeconds: 901 })).toMatchObject({ name: 'InvalidParameterValue' });
    expect(await send({ MessageAttributes: { a: { DataType: 'String', StringValue: 'b' } } })).toEqual({
      name: 'InvalidParameterValue',
      message: 'MessageAttributes: Message attributes are not hosted',
    });
    expect(await send({ QueueUrl: `${wire.url}/000000000000/nobody` })).toMatchObject({ name: 'QueueDoesNotExist' });
    const Entries = ['a', 'a'].map((Id) => ({ Id, MessageBody: 'x' }));
    await expect(sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }))).rejects.toThrow(
      /Two entries have one id/,
    );
  });
});

describe('the wire protocol of EventBridge', () => {
  it('carries an event to a queue and on to its consumer', async () => {
    buses.createBus('millrace');
    buses.createRule(
      { name: 'requests', arn: 'arn' },
      {
        EventBusName: 'millrace',
        EventPattern: { source: [{ 'anything-but': { prefix: 'millrace.' } }], 'detail-type': ['RunRequested'] },
        Targets: [{ Id: 'q', Arn: ARN }],
      },
    );
    const arrived = new Promise<string>((resolve) => {
      queues.consume(ARN, {}, async ([record]) => {
        resolve(record?.body ?? '');
        return { failures: [] };
      });
    });
    const entry = { EventBusName: 'millrace', DetailType: 'RunRequested', Detail: '{"pipeline":"p"}' };
    const { FailedEntryCount, Entries } = await events.send(
      new PutEventsCommand({
        Entries: [
          { ...entry, Source: 'millrace.api' },
          { ...entry, Source: 'aws.states' },
          { ...entry, Source: 'shop', Time: new Date('2026-11-30T10:00:00.500Z'), Resources: ['arn:x'] },
        ],
      }),
    );
    expect([FailedEntryCount, Entries?.map(({ ErrorCode }) => ErrorCode)]).toEqual([
      1,
      [undefined, 'NotAuthorizedForSourceException', undefined],
    ]);
    expect(JSON.parse(await arrived)).toMatchObject({
      id: Entries?.[2]?.EventId,
      source: 'shop',
      time: '2026-11-30T10:00:00Z',
      resources: ['arn:x'],
      detail: { pipeline: 'p' },
    });
  });
});
