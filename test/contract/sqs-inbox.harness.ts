import { setTimeout as delay } from 'node:timers/promises';
import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs';
import { createSqsInbox } from '#adapters/aws/sqs-inbox.ts';
import { createSqsWatches } from '#adapters/aws/sqs-watches.ts';
import type { Watches } from '#ports/live.ts';
import type { InboxHarness } from './inbox.contract.ts';

/** Receives that find nothing, each of a second, before nothing more is awaited. */
const EMPTY_RECEIVES = 5;

/** Takes so many messages out of a queue, once they are there. */
export async function takeMessages(client: SQSClient, QueueUrl: string, count: number): Promise<string[]> {
  const bodies: string[] = [];
  for (let empty = 0; bodies.length < count && empty < EMPTY_RECEIVES; ) {
    const asked = { QueueUrl, MaxNumberOfMessages: Math.min(10, count - bodies.length), WaitTimeSeconds: 1 };
    const { Messages = [] } = await client.send(new ReceiveMessageCommand(asked));
    if (Messages.length === 0) {
      empty += 1;
      await delay(10);
    }
    for (const { Body = '', ReceiptHandle } of Messages) {
      await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }));
      bodies.push(Body);
    }
  }
  return bodies;
}

/** An inbox on an empty queue, over the wire. */
export function openSqsInbox(
  client: SQSClient,
  QueueUrl: string,
): Omit<InboxHarness, 'close'> & { readonly watches: Watches } {
  return {
    watches: createSqsWatches(client, QueueUrl),
    inbox: createSqsInbox(client, QueueUrl),
    take: (count) => takeMessages(client, QueueUrl, count),
    async delayed() {
      const AttributeNames = ['ApproximateNumberOfMessagesDelayed' as const];
      const { Attributes } = await client.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames }));
      return Number(Attributes?.ApproximateNumberOfMessagesDelayed);
    },
  };
}
