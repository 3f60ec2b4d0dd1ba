import type { Disk } from '#local/disk.ts';
import { type HostClock, systemClock } from '#local/host-clock.ts';
import { MessageQueue, type QueueCounters } from '#local/message-queue.ts';
import { type ConsumeOptions, type InvokeWithBatch, type QueueConsumer, startConsumer } from '#local/queue-consumer.ts';
import { QueueError, queueDefinitionOf } from '#local/queue-definition.ts';
import { QUEUE_ACTIONS, type QueueProtocol } from '#local/queue-protocol.ts';
import { type WireAnswer, WireError, wireAnswer, wireFailure } from '#local/wire-answer.ts';
import type { WireLog } from '#local/wire-log.ts';

export type { QueueRecord } from '#local/queue-consumer.ts';

/** Where a hosted queue is to be found. */
type QueueAddress = { readonly arn: string; readonly url: string };

/** What the queues need. */
export type QueueOptions = {
  readonly disk: Disk;
  readonly wireLog: WireLog;
  /** @default 'us-east-1' */
  readonly region?: string;
  /** @default the machine's clock */
  readonly clock?: HostClock;
};

/** Standard SQS queues on disk. */
export type QueueService = {
  /**
   * Hosts an `AWS::SQS::Queue` with its resolved properties, or takes up its new properties.
   * Messages left by an earlier host are ready again, those that were in flight among them.
   * @throws {QueueError} `UNSUPPORTED_QUEUE`, naming the property
   */
  create(address: QueueAddress, properties: unknown): Promise<void>;
  /**
   * Resolves when the message is on disk. `delaySeconds` is 0 to 900, by default the queue's own.
   * @throws {QueueError} `NO_QUEUE`
   */
  send(queueArn: string, body: string, delaySeconds?: number): Promise<{ readonly messageId: string }>;
  /**
   * Starts an event source mapping.
   * @throws {QueueError} `NO_QUEUE`
   */
  consume(queueArn: string, options: ConsumeOptions, invoke: InvokeWithBatch): QueueConsumer;
  /** @throws {QueueError} `NO_QUEUE` */
  counters(queueArn: string): QueueCounters;
  /** One request of the wire protocol; `target` is the header, `AmazonSQS.SendMessage`. */
  handle(target: string, body: Buffer): Promise<WireAnswer>;
  /** Ends consumers and timers, and waits for batches and writes under way; messages stay on disk. */
  close(): Promise<void>;
};

/** Opens the queue service; queues are hosted by {@link QueueService.create}. */
export function openQueues(options: QueueOptions): QueueService {
  const { disk, wireLog, region = 'us-east-1', clock = systemClock } = options;
  const byArn = new Map<string, { queue: MessageQueue; url: string }>();
  const consumers = new Set<QueueConsumer>();

  function queueAt(arn: string): MessageQueue {
    const hosted = byArn.get(arn);
    if (hosted === undefined) throw new QueueError('NO_QUEUE', `There is no queue ${arn}`);
    return hosted.queue;
  }
  const protocol: QueueProtocol = {
    clock,
    wireLog,
    find(nameOrUrl) {
      const name = nameOrUrl.slice(nameOrUrl.lastIndexOf('/') + 1);
      const found = [...byArn].find(([, { queue }]) => queue.name === name);
      if (found === undefined) throw new WireError('QueueDoesNotExist', `There is no queue ${name}`);
      return { arn: found[0], ...found[1] };
    },
  };

  return {
    async create({ arn, url }, properties) {
      const name = nameOf(arn);
      const definition = queueDefinitionOf(name, properties);
      const known = byArn.get(arn)?.queue;
      const queue = known ?? new MessageQueue(definition, { name, disk, clock, queueOf: (at) => byArn.get(at)?.queue });
      queue.definition = definition;
      byArn.set(arn, { queue, url });
      if (known === undefined) await queue.load();
    },
    async send(queueArn, body, delaySeconds) {
      wireLog.count('messages');
      wireLog.count('queueRequests', queueRequests(Buffer.byteLength(body)));
      return { messageId: await queueAt(queueArn).send(body, delaySeconds) };
    },
    consume(queueArn, consumeOptions, invoke) {
      const queue = queueAt(queueArn);
      const consumer = startConsumer({
        ...consumeOptions,
        queue,
        queueArn,
        region,
        invoke,
        onBatch: (bytes) => wireLog.count('queueRequests', queueRequests(bytes) + 1),
      });
      consumers.add(consumer);
      return consumer;
    },
    counters: (queueArn) => queueAt(queueArn).counters(),
    handle: (target, body) => answer(protocol, target, body),
    async close() {
      await Promise.all([...consumers].map((consumer) => consumer.stop()));
      await Promise.all([...byArn.values()].map(({ queue }) => queue.close()));
    },
  };
}

/** How many requests SQS bills for a request of that many bytes. */
function queueRequests(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / 65_536));
}

function nameOf(arn: string): string {
  return arn.slice(arn.lastIndexOf(':') + 1);
}

async function answer(protocol: QueueProtocol, target: string, body: Buffer): Promise<WireAnswer> {
  const api = target.slice(target.indexOf('.') + 1);
  try {
    const action = QUEUE_ACTIONS.get(api);
    if (action === undefined) throw new WireError('UnsupportedOperation', `${api} is not hosted`);
    protocol.wireLog.call('sqs', api);
    protocol.wireLog.count('queueRequests', queueRequests(body.length));
    return wireAnswer('1.0', await action(protocol, body.toString()));
  } catch (error) {
    return wireFailure('1.0', error);
  }
}
