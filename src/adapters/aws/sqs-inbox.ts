/** The inbox on an SQS queue. */
import { SendMessageBatchCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs';
import pMap from 'p-map';
import * as z from 'zod';
import type { DueThing, Inbox } from '#ports/index.ts';
import { sendBatch } from './batch-sending.ts';

/** Messages that SendMessageBatch takes. */
const BATCH = 10;

/** Calls of SendMessageBatch at the same time. */
const AT_ONCE = 8;

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
      const errors: unknown[] = [];
      const send = async (batch: readonly DueThing[]) => {
        // What is wrong with one batch is most likely wrong with the rest of them.
        if (errors.length > 0) return;
        await sendBatch('rings', batch, sendRings).catch((error: unknown) => errors.push(error));
      };
      await pMap(inBatches(things), send, { concurrency: AT_ONCE });
      if (errors.length > 0) throw asOne(errors);
    },
  };
}

function inBatches(things: readonly DueThing[]): (readonly DueThing[])[] {
  const count = Math.ceil(things.length / BATCH);
  return Array.from({ length: count }, (_, at) => things.slice(at * BATCH, (at + 1) * BATCH));
}

/** A single error stays what it is; of several, the first one's words come with the number of the others. */
function asOne(errors: readonly unknown[]): unknown {
  const [first] = errors;
  if (errors.length === 1) return first;
  const words = first instanceof Error ? first.message : String(first);
  return new AggregateError(errors, `${words} (and ${errors.length - 1} more calls failed)`);
}

function toRing({ kind, id }: DueThing): string {
  return JSON.stringify({ kind: 'ring', [kind]: id });
}
