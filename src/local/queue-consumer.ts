import { type MessageQueue, md5OfBody, type ReceivedMessage } from '#local/message-queue.ts';

/** A record of the event that Lambda gets from a queue: `{Records: QueueRecord[]}`. */
export type QueueRecord = {
  readonly messageId: string;
  readonly receiptHandle: string;
  readonly body: string;
  readonly attributes: {
    readonly ApproximateReceiveCount: string;
    readonly SentTimestamp: string;
    readonly SenderId: string;
    readonly ApproximateFirstReceiveTimestamp: string;
  };
  readonly messageAttributes: Readonly<Record<string, unknown>>;
  readonly md5OfBody: string;
  readonly eventSource: 'aws:sqs';
  readonly eventSourceARN: string;
  readonly awsRegion: string;
};

/** How an event source mapping takes messages. */
export type ConsumeOptions = {
  /** Most messages of one invocation, 1 to 10. @default 10 */
  readonly batchSize?: number;
  /** Most invocations at a time. @default 1000 */
  readonly maximumConcurrency?: number;
  /** Only the messages that the function names have failed. @default false: all succeed or all fail */
  readonly reportBatchItemFailures?: boolean;
};

/** Hands a batch to a function. A rejection means that the whole batch failed. */
export type InvokeWithBatch = (records: readonly QueueRecord[]) => Promise<{
  /** The `messageId`s that failed; read only with `reportBatchItemFailures`. */
  readonly failures: readonly string[];
}>;

/** A running event source mapping. */
export type QueueConsumer = {
  /** No more batches; resolves when those under way have ended. */
  stop(): Promise<void>;
};

/** What a consumer works with. */
export type ConsumerOptions = ConsumeOptions & {
  readonly queue: MessageQueue;
  readonly queueArn: string;
  readonly region: string;
  readonly invoke: InvokeWithBatch;
  /** Called for every batch taken; the bodies' total length in bytes tells what the requests would cost. */
  readonly onBatch: (bytes: number) => void;
};

const BACKOFF_MS = 1000;

/**
 * Starts an event source mapping: whatever is ready goes out at once while a slot is free, folded into batches.
 * Messages that failed come back after one second for each time they were received, at most after the visibility timeout.
 */
export function startConsumer(options: ConsumerOptions): QueueConsumer {
  const { queue, batchSize = 10, maximumConcurrency = 1000 } = options;
  const running = new Set<Promise<void>>();
  let isScheduled = false;
  let isStopped = false;

  function pump(): void {
    isScheduled = false;
    while (!isStopped && running.size < maximumConcurrency) {
      const messages = queue.receive(batchSize);
      if (messages.length === 0) return;
      const batch = deliver(options, messages).finally(() => {
        running.delete(batch);
        schedule();
      });
      running.add(batch);
    }
  }
  /** Waits for the end of the turn, so that what arrives together goes out together. */
  function schedule(): void {
    if (isScheduled || isStopped) return;
    isScheduled = true;
    setImmediate(pump);
  }
  const unsubscribe = queue.onReady(schedule);
  schedule();
  return {
    async stop() {
      isStopped = true;
      unsubscribe();
      await Promise.allSettled(running);
    },
  };
}

async function deliver(options: ConsumerOptions, messages: readonly ReceivedMessage[]): Promise<void> {
  const { queue } = options;
  options.onBatch(messages.reduce((bytes, { body }) => bytes + Buffer.byteLength(body), 0));
  const records = messages.map((message) => recordOf(options, message));
  const failed = await options.invoke(records).then(
    ({ failures }) => failedOf(options, messages, failures),
    () => messages,
  );
  const gone = new Set(failed);
  const visibilityMs = queue.definition.visibilityTimeoutSeconds * 1000;
  await Promise.all([
    queue.delete(messages.filter((message) => !gone.has(message)).map(({ handle }) => handle)),
    ...failed.map(({ handle, receives }) => queue.release(handle, Math.min(BACKOFF_MS * receives, visibilityMs))),
  ]);
}

/** An id that is not in the batch fails the whole batch, as on AWS. */
function failedOf(
  options: ConsumerOptions,
  messages: readonly ReceivedMessage[],
  failures: readonly string[],
): readonly ReceivedMessage[] {
  if (options.reportBatchItemFailures !== true) return [];
  const byId = new Map(messages.map((message) => [message.id, message]));
  const failed = failures.map((id) => byId.get(id));
  return failed.some((message) => message === undefined) ? messages : failed.filter((message) => message !== undefined);
}

function recordOf({ queueArn, region }: ConsumerOptions, message: ReceivedMessage): QueueRecord {
  return {
    messageId: message.id,
    receiptHandle: message.handle,
    body: message.body,
    attributes: {
      ApproximateReceiveCount: String(message.receives),
      SentTimestamp: String(message.sentAt),
      SenderId: queueArn.split(':')[4] ?? '',
      ApproximateFirstReceiveTimestamp: String(message.firstReceivedAt),
    },
    messageAttributes: {},
    md5OfBody: md5OfBody(message.body),
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn,
    awsRegion: region,
  };
}
