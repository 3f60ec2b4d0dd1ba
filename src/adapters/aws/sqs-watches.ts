/** Asks the scheduler, by its inbox, to watch runs. */
import { SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import type { Watches } from '#ports/live.ts';

/** Makes them over the inbox queue. */
export function createSqsWatches(client: SQSClient, queueUrl: string): Watches {
  return {
    async ask(runId) {
      const MessageBody = JSON.stringify({ kind: 'watch', run: runId });
      await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody }));
    },
  };
}
