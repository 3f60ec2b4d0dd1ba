/** The inbox on an SQS queue. */
import { SendMessageBatchCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import * as z from 'zod';
import type { DueThing, Inbox } from '#ports/index.ts';
import { sendBatch } from './batch-sending.ts';

/** Messages that SendMessageBatch takes. */
const BATCH = 10;

const LONGEST_DELAY_SECONDS = 900;

const batchAnswer = z.object({
  Failed: z
    .array(z.object({ Id: z.string(), Code: z.string().optional(), Message: z.string().optional() }))
    .default([]),
});

/** Makes an inbox that writes to a queue. */
export function createSqsInbox(client: SQSClient, queueUrl: string): Inbox {
  async function sendRings(things: readonly DueThing[]) {
    const answer = await client.send(
      new SendMessageBatchCommand({
        QueueUrl: queueUrl,
        Entries: things.map((thing, at) => ({ Id: String(at), MessageBody: toRing(thing) })),
      }),
    );
    return batchAnswer.parse(answer).Failed.flatMap(({ Id, Code, Message }) => {
      const entry = things[Number(Id)];
      return entry === undefined ? [] : [{ entry, why: `${Code}: ${Message}` }];
    });
  }

  async function ringThing(thing: DueThing, delaySeconds = 0) {
    await client.send(
      new SendMessageCommand({
        QueueUrl: queueUrl,
        MessageBody: toRing(thing),
        DelaySeconds: Math.min(Math.max(Math.ceil(delaySeconds), 0), LONGEST_DELAY_SECONDS),
      }),
    );
  }

  return {
    ring: (id, delaySeconds) => ringThing({ kind: 'run', id }, delaySeconds),
    ringThing,
    async ringAbout(runId, executionName) {
      const body = JSON.stringify({ kind: 'ring', run: runId, about: executionName });
      await client.send(new SendMessageCommand({ QueueUrl: queueUrl, MessageBody: body }));
    },
    async ringAll(things) {
      for (let at = 0; at < things.length; at += BATCH) {
        await sendBatch('rings', things.slice(at, at + BATCH), sendRings);
      }
    },
  };
}

function toRing({ kind, id }: DueThing): string {
  return JSON.stringify({ kind: 'ring', [kind]: id });
}
