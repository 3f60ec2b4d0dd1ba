/** The development host's queues and buses behind a listener of their own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SQSClient } from '@aws-sdk/client-sqs';
import { openDisk } from '#local/disk.ts';
import { openEventBuses } from '#local/event-bus.ts';
import { openQueues } from '#local/queues.ts';
import { createWireLog } from '#local/wire-log.ts';
import { listen } from '../integration/wire-listener.ts';

const QUEUE_ARN = 'arn:aws:sqs:us-east-1:000000000000:queue';

/** Opens a queue, and a bus that sends every event to it. */
export async function openHostMessages(busName: string) {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-messages-'));
  const disk = await openDisk(folder);
  const wireLog = createWireLog();
  const queues = openQueues({ disk, wireLog });
  const buses = openEventBuses({ disk, wireLog, sendToQueue: queues.send, invokeFunction: async () => undefined });
  const wire = await listen({ AmazonSQS: queues.handle, AWSEvents: buses.handle });
  const queueUrl = `${wire.url}/000000000000/queue`;
  await queues.create({ arn: QUEUE_ARN, url: queueUrl }, { VisibilityTimeout: 60 });
  buses.createBus(busName);
  buses.createRule(
    { name: 'all', arn: 'arn' },
    {
      EventBusName: busName,
      EventPattern: { source: [{ prefix: 'millrace.' }] },
      Targets: [{ Id: 'queue', Arn: QUEUE_ARN }],
    },
  );
  const sqs = new SQSClient(wire.clientConfig);
  const events = new EventBridgeClient(wire.clientConfig);
  return {
    sqs,
    events,
    queueUrl,
    async close() {
      sqs.destroy();
      events.destroy();
      await wire.close();
      await buses.close();
      await queues.close();
      await disk.close();
      await rm(folder, { recursive: true });
    },
  };
}
