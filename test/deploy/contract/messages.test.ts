/** The inbox on MiniStack's SQS, and the bus on its EventBridge. */
import {
  CreateEventBusCommand,
  EventBridgeClient,
  PutRuleCommand,
  PutTargetsCommand,
} from '@aws-sdk/client-eventbridge';
import { CreateQueueCommand, GetQueueAttributesCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe } from 'vitest';
import { createEventBridgeBus } from '#adapters/aws/event-bridge-bus.ts';
import { createEventBridgeFeed } from '#adapters/aws/event-bridge-feed.ts';
import { describeEventBus, describeLiveFeed, type Envelope } from '../../contract/event-bus.contract.ts';
import { describeInbox, describeWatches } from '../../contract/inbox.contract.ts';
import { openSqsInbox, takeMessages } from '../../contract/sqs-inbox.harness.ts';
import { useEmulator } from './emulator.ts';

const BACKEND = 'MiniStack';

useEmulator();

describe('messages', () => {
  let sqs: SQSClient;
  let events: EventBridgeClient;
  beforeAll(() => {
    sqs = new SQSClient({});
    events = new EventBridgeClient({});
  });
  afterAll(() => {
    sqs.destroy();
    events.destroy();
  });

  const close = async () => {};
  const createQueue = async (QueueName: string) => {
    const Attributes = { VisibilityTimeout: '60' };
    const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
    return QueueUrl;
  };
  const arnOf = async (QueueUrl: string) => {
    const asked = { QueueUrl, AttributeNames: ['QueueArn' as const] };
    const { Attributes } = await sqs.send(new GetQueueAttributesCommand(asked));
    return Attributes?.QueueArn;
  };

  describeInbox(BACKEND, async () => ({ ...openSqsInbox(sqs, await createQueue('inbox')), close }));
  describeWatches(BACKEND, async () => ({ ...openSqsInbox(sqs, await createQueue('watches')), close }));

  let buses = 0;
  const openBus = async () => {
    buses += 1;
    const bus = `bus-${buses}`;
    const queueUrl = await createQueue(`heard-${buses}`);
    const EventPattern = JSON.stringify({ source: [{ prefix: 'millrace.' }] });
    await events.send(new CreateEventBusCommand({ Name: bus }));
    await events.send(new PutRuleCommand({ Name: 'all', EventBusName: bus, EventPattern }));
    const Targets = [{ Id: 'queue', Arn: await arnOf(queueUrl) }];
    await events.send(new PutTargetsCommand({ Rule: 'all', EventBusName: bus, Targets }));
    return {
      bus: createEventBridgeBus(events, bus),
      feed: createEventBridgeFeed(events, { bus, rule: 'all' }),
      async take(count: number) {
        const bodies = await takeMessages(sqs, queueUrl, count);
        return bodies.map((body) => JSON.parse(body) as Envelope);
      },
      close,
    };
  };

  describeEventBus(BACKEND, openBus);
  describeLiveFeed(BACKEND, openBus);
});
