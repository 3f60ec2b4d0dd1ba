import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openQueues, type QueueRecord, type QueueService } from '#local/queues.ts';
import { createWireLog, type WireLog } from '#local/wire-log.ts';
import { ManualClock } from './manual-clock.ts';
import { temporaryDisk } from './temporary-disk.ts';

const INBOX = { arn: 'arn:aws:sqs:us-east-1:000000000000:inbox', url: 'http://127.0.0.1:1/000000000000/inbox' };
const DEAD = { arn: 'arn:aws:sqs:us-east-1:000000000000:dead', url: 'http://127.0.0.1:1/000000000000/dead' };
const REDRIVE = { RedrivePolicy: { deadLetterTargetArn: DEAD.arn, maxReceiveCount: 3 } };

let storage: Awaited<ReturnType<typeof temporaryDisk>>;
let clock: ManualClock;
let wireLog: WireLog;
let queues: QueueService;

beforeEach(async () => {
  storage = await temporaryDisk();
  clock = new ManualClock();
  wireLog = createWireLog();
  queues = openQueues({ disk: storage.disk, wireLog, clock });
  await queues.create(DEAD, {});
  await queues.create(INBOX, { VisibilityTimeout: 180, ...REDRIVE });
});
afterEach(async () => {
  await queues.close();
  await storage.remove();
});

/** Takes batches as they come; each is settled by the test. */
function recorder() {
  const batches: { records: readonly QueueRecord[]; settle: (failures: string[] | Error) => void }[] = [];
  const waiting: (() => void)[] = [];
  return {
    batches,
    invoke: (records: readonly QueueRecord[]) =>
      new Promise<{ failures: string[] }>((resolve, reject) => {
        const settle = (result: string[] | Error) =>
          result instanceof Error ? reject(result) : resolve({ failures: result });
        batches.push({ records, settle });
        waiting.shift()?.();
      }),
    /** The next batch, now or when it comes. */
    async batch(index: number) {
      while (batches.length <= index) await new Promise<void>((resolve) => waiting.push(resolve));
      const batch = batches[index];
      if (batch === undefined) throw new Error('no such batch');
      return { ...batch, bodies: batch.records.map(({ body }) => body) };
    },
  };
}

/** Lets everything that is on its way arrive. */
async function quiet(until: () => boolean): Promise<void> {
  while (!until()) await turn();
}

async function restart(): Promise<void> {
  await queues.close();
  queues = openQueues({ disk: await storage.reopen(), wireLog, clock });
  await queues.create(DEAD, {});
  await queues.create(INBOX, { VisibilityTimeout: 180, ...REDRIVE });
}

describe('openQueues', () => {
  it('delivers a message to a consumer and deletes it when the invocation succeeds', async () => {
    const { invoke, batch } = recorder();
    queues.consume(INBOX.arn, {}, invoke);
    const { messageId } = await queues.send(INBOX.arn, 'hello');
    const { records, settle } = await batch(0);
    expect(records).toMatchObject([
      {
        messageId,
        body: 'hello',
        md5OfBody: '5d41402abc4b2a76b9719d911017c592',
        eventSource: 'aws:sqs',
        eventSourceARN: INBOX.arn,
        attributes: { ApproximateReceiveCount: '1', SenderId: '000000000000' },
      },
    ]);
    expect(queues.counters(INBOX.arn)).toEqual({ depth: 0, inFlight: 1, delayed: 0, dead: 0 });
    settle([]);
    await quiet(() => queues.counters(INBOX.arn).inFlight === 0);
    await restart();
    expect(queues.counters(INBOX.arn)).toEqual({ depth: 0, inFlight: 0, delayed: 0, dead: 0 });
  });

  it('keeps messages over a restart, those in flight among them', async () => {
    const { invoke, batch } = recorder();
    await queues.send(INBOX.arn, 'one');
    await queues.send(INBOX.arn, 'two');
    const consumer = queues.consume(INBOX.arn, { batchSize: 1, maximumConcurrency: 1 }, invoke);
    const { settle } = await batch(0);
    settle(new Error('the host died'));
    await consumer.stop();
    await restart();
    clock.advance(180_000);
    const again = recorder();
    queues.consume(INBOX.arn, {}, again.invoke);
    const { bodies, settle: settleAgain } = await again.batch(0);
    expect(bodies.toSorted()).toEqual(['one', 'two']);
    settleAgain([]);
  });

  it('folds what waits into batches of the batch size', async () => {
    for (let index = 0; index < 25; index++) await queues.send(INBOX.arn, String(index));
    const { invoke, batch, batches } = recorder();
    queues.consume(INBOX.arn, { batchSize: 10, maximumConcurrency: 2 }, invoke);
    const [first, second] = [await batch(0), await batch(1)];
    expect([first.records.length, second.records.length, batches.length]).toEqual([10, 10, 2]);
    first.settle([]);
    const third = await batch(2);
    expect(third.records.length).toBe(5);
    second.settle([]);
    third.settle([]);
  });

  it('brings a failed batch back after one second for each receive', async () => {
    const { invoke, batch } = recorder();
    queues.consume(INBOX.arn, {}, invoke);
    await queues.send(INBOX.arn, 'again');
    (await batch(0)).settle(new Error('terminated'));
    await quiet(() => queues.counters(INBOX.arn).delayed === 1);
    clock.advance(1000);
    const second = await batch(1);
    expect(second.records[0]?.attributes.ApproximateReceiveCount).toBe('2');
    second.settle(new Error('terminated'));
    await quiet(() => queues.counters(INBOX.arn).delayed === 1);
    clock.advance(1999);
    await turn();
    expect(queues.counters(INBOX.arn).delayed).toBe(1);
    clock.advance(1);
    (await batch(2)).settle([]);
  });

  it('brings back only what the function reports, and everything if it reports an unknown id', async () => {
    await Promise.all(['a', 'b', 'c'].map((body) => queues.send(INBOX.arn, body)));
    const { invoke, batch } = recorder();
    queues.consume(INBOX.arn, { reportBatchItemFailures: true }, invoke);
    const { records, settle } = await batch(0);
    const b = records.find(({ body }) => body === 'b');
    settle([b?.messageId ?? '']);
    await quiet(() => queues.counters(INBOX.arn).delayed === 1);
    await queues.send(INBOX.arn, 'd');
    (await batch(1)).settle(['not an id of this batch']);
    await quiet(() => queues.counters(INBOX.arn).delayed === 2);
    clock.advance(2000);
    const third = await batch(2);
    expect(third.bodies.toSorted()).toEqual(['b', 'd']);
    third.settle([]);
  });

  it('moves a message to the dead-letter queue after maxReceiveCount receives', async () => {
    const { invoke, batch } = recorder();
    queues.consume(INBOX.arn, {}, invoke);
    const { messageId } = await queues.send(INBOX.arn, 'poison');
    for (const attempt of [0, 1, 2]) {
      (await batch(attempt)).settle(new Error('no'));
      await quiet(() => queues.counters(INBOX.arn).inFlight === 0);
      clock.advance(10_000);
    }
    await quiet(() => queues.counters(DEAD.arn).depth === 1);
    expect(queues.counters(INBOX.arn)).toEqual({ depth: 0, inFlight: 0, delayed: 0, dead: 1 });
    await restart();
    const graves = recorder();
    queues.consume(DEAD.arn, {}, graves.invoke);
    const { records, settle } = await graves.batch(0);
    expect(records).toMatchObject([{ messageId, body: 'poison' }]);
    settle([]);
  });

  it('hides a delayed message until its time, over a restart', async () => {
    await queues.send(INBOX.arn, 'later', 60);
    clock.advance(30_000);
    await restart();
    const { invoke, batch, batches } = recorder();
    queues.consume(INBOX.arn, {}, invoke);
    clock.advance(29_999);
    await turn();
    await turn();
    expect([batches.length, queues.counters(INBOX.arn).delayed]).toEqual([0, 1]);
    clock.advance(1);
    const { bodies, settle } = await batch(0);
    expect(bodies).toEqual(['later']);
    settle([]);
  });

  it('forgets a message after its retention', async () => {
    await queues.send(INBOX.arn, 'old');
    clock.advance(345_600_000);
    await queues.send(INBOX.arn, 'new');
    const { invoke, batch } = recorder();
    queues.consume(INBOX.arn, {}, invoke);
    const { bodies, settle } = await batch(0);
    expect(bodies).toEqual(['new']);
    settle([]);
  });

  it('counts messages and the requests that SQS would bill', async () => {
    const { invoke, batch } = recorder();
    queues.consume(INBOX.arn, {}, invoke);
    await queues.send(INBOX.arn, 'x'.repeat(65_537));
    (await batch(0)).settle([]);
    expect(wireLog.snapshot()).toMatchObject({ messages: 1, queueRequests: 2 + 2 + 1 });
  });

  it('refuses FIFO queues and bad properties by name, and unknown queues', async () => {
    await expect(queues.create(INBOX, { FifoQueue: true })).rejects.toMatchObject({
      code: 'UNSUPPORTED_QUEUE',
      message: 'Queue inbox: FifoQueue: FIFO queues are not hosted',
    });
    await expect(queues.create(INBOX, { DelaySeconds: 901 })).rejects.toThrow(/DelaySeconds/);
    await expect(queues.send('arn:aws:sqs:us-east-1:000000000000:nobody', 'x')).rejects.toMatchObject({
      code: 'NO_QUEUE',
    });
  });
});
