import type { Disk } from '#local/disk.ts';
import type { HostClock } from '#local/host-clock.ts';
import type { WireAnswer } from '#local/wire-answer.ts';
import type { WireLog } from '#local/wire-log.ts';

/** Where a hosted resource is to be found. */
export type QueueAddress = { readonly arn: string; readonly url: string };

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
export type InvokeWithBatch = (records: readonly QueueRecord[]) => Promise<{ readonly failures: readonly string[] }>;

/** How many messages a queue holds. */
export type QueueCounters = {
  /** Ready to be received. */
  readonly depth: number;
  /** Received and not yet deleted. */
  readonly inFlight: number;
  /** Not yet visible: sent with a delay, or waiting to be tried again. */
  readonly delayed: number;
  /** Moved to its dead-letter queue since this host started. */
  readonly dead: number;
};

/** Standard SQS queues on disk. */
export type QueueService = {
  /**
   * Hosts an `AWS::SQS::Queue` with its resolved properties, or takes up its new properties. Messages left from before are ready again.
   * @throws {QueueError} `UNSUPPORTED_QUEUE` for what the host cannot do, FIFO among it
   */
  create(address: QueueAddress, properties: unknown): Promise<void>;
  /** Resolves when the message is on disk. `delaySeconds` 0 to 900, by default the queue's own. */
  send(queueArn: string, body: string, delaySeconds?: number): Promise<{ readonly messageId: string }>;
  /** Starts an event source mapping. @returns what stops it: no more batches, and waits for those under way */
  consume(queueArn: string, options: ConsumeOptions, invoke: InvokeWithBatch): { stop(): Promise<void> };
  counters(queueArn: string): QueueCounters;
  /** One request of the wire protocol; `target` is the header, `AmazonSQS.SendMessage`. */
  handle(target: string, body: Buffer): Promise<WireAnswer>;
  /** Ends consumers and timers; messages stay on disk. */
  close(): Promise<void>;
};

/** What the queues need. */
export type QueueOptions = {
  readonly disk: Disk;
  readonly wireLog: WireLog;
  /** @default 'us-east-1' */
  readonly region?: string;
  /** @default the machine's clock */
  readonly clock?: HostClock;
};

/** Opens the queue service; queues are hosted by {@link QueueService.create}. */
export declare function openQueues(options: QueueOptions): QueueService;
