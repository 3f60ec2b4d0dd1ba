import { z } from 'zod';
import type { HostClock } from '#local/host-clock.ts';
import { type MessageQueue, md5OfBody, type ReceivedMessage } from '#local/message-queue.ts';
import { WireError } from '#local/wire-answer.ts';
import type { WireLog } from '#local/wire-log.ts';

/** What the wire protocol of SQS works with. */
export type QueueProtocol = {
  readonly clock: HostClock;
  readonly wireLog: WireLog;
  /**
   * The queue of that name, or of the name at the end of that address.
   * @throws {WireError} `QueueDoesNotExist`
   */
  find(nameOrUrl: string): { readonly queue: MessageQueue; readonly arn: string; readonly url: string };
};

/** Answers the JSON text of one request. @throws {WireError} */
export type QueueAction = (protocol: QueueProtocol, request: string) => Promise<object>;

const LIMIT_BYTES = 1_048_576;

const url = z.string().min(1);
const body = z
  .string()
  .min(1, 'The request must contain a message body')
  .refine((text) => Buffer.byteLength(text) <= LIMIT_BYTES, `One or more parameters are over ${LIMIT_BYTES} bytes`);
const delay = z.number().int().min(0).max(900).optional();
const visibility = z.number().int().min(0).max(43_200);
const attributes = z.undefined({ error: 'Message attributes are not hosted' }).optional();
const entryId = z.string().regex(/^[\w-]{1,80}$/);
const message = z.object({ MessageBody: body, DelaySeconds: delay, MessageAttributes: attributes });

/** Entries of a batch: 1 to 10, each with an id of its own. */
function batchOf<Entry extends { Id: string }>(entry: z.ZodType<Entry>) {
  return z
    .array(entry)
    .min(1)
    .max(10)
    .refine((entries) => new Set(entries.map(({ Id }) => Id)).size === entries.length, 'Two entries have one id');
}

function action<Request>(
  schema: z.ZodType<Request>,
  run: (protocol: QueueProtocol, request: Request) => Promise<object>,
): QueueAction {
  return (protocol, text) => {
    const parsed = schema.safeParse(jsonOf(text));
    if (parsed.success) return run(protocol, parsed.data);
    const [issue] = parsed.error.issues;
    throw new WireError('InvalidParameterValue', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
  };
}

async function sendOne(
  { wireLog }: QueueProtocol,
  queue: MessageQueue,
  { MessageBody, DelaySeconds }: z.infer<typeof message>,
) {
  wireLog.count('messages');
  const id = await queue.send(MessageBody, DelaySeconds);
  return { MessageId: id, MD5OfMessageBody: md5OfBody(MessageBody) };
}

const sendMessage = action(message.extend({ QueueUrl: url }), async (protocol, request) =>
  sendOne(protocol, protocol.find(request.QueueUrl).queue, request),
);

const sendMessageBatch = action(
  z.object({ QueueUrl: url, Entries: batchOf(message.extend({ Id: entryId })) }),
  async (protocol, { QueueUrl, Entries }) => {
    const { queue } = protocol.find(QueueUrl);
    const bytes = Entries.reduce((sum, { MessageBody }) => sum + Buffer.byteLength(MessageBody), 0);
    if (bytes > LIMIT_BYTES) throw new WireError('BatchRequestTooLong', `The messages are over ${LIMIT_BYTES} bytes`);
    const Successful = await Promise.all(
      Entries.map(async (entry) => ({ Id: entry.Id, ...(await sendOne(protocol, queue, entry)) })),
    );
    return { Successful, Failed: [] };
  },
);

const receiveMessage = action(
  z.object({
    QueueUrl: url,
    MaxNumberOfMessages: z.number().int().min(1).max(10).default(1),
    VisibilityTimeout: visibility.optional(),
    WaitTimeSeconds: z.number().int().min(0).max(20).default(0),
  }),
  async (protocol, request) => {
    const { queue } = protocol.find(request.QueueUrl);
    const hideMs = 1000 * (request.VisibilityTimeout ?? queue.definition.visibilityTimeoutSeconds);
    let received = queue.receive(request.MaxNumberOfMessages);
    if (received.length === 0 && request.WaitTimeSeconds > 0) {
      await readyOrTimeout(queue, protocol.clock, request.WaitTimeSeconds * 1000);
      received = queue.receive(request.MaxNumberOfMessages);
    }
    for (const { handle } of received) queue.expireAfter(handle, hideMs);
    return received.length === 0 ? {} : { Messages: received.map(messageOf) };
  },
);

function readyOrTimeout(queue: MessageQueue, clock: HostClock, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      unsubscribe();
      cancel();
      resolve();
    };
    const unsubscribe = queue.onReady(done);
    const cancel = clock.after(timeoutMs, done);
  });
}

function messageOf({ id, handle, body: text, sentAt, firstReceivedAt, receives }: ReceivedMessage) {
  const Attributes = {
    ApproximateReceiveCount: String(receives),
    SentTimestamp: String(sentAt),
    ApproximateFirstReceiveTimestamp: String(firstReceivedAt),
  };
  return { MessageId: id, ReceiptHandle: handle, MD5OfBody: md5OfBody(text), Body: text, Attributes };
}

const deleteMessage = action(
  z.object({ QueueUrl: url, ReceiptHandle: z.string() }),
  async (protocol, { QueueUrl, ReceiptHandle }) => {
    await protocol.find(QueueUrl).queue.delete([ReceiptHandle]);
    return {};
  },
);

const deleteMessageBatch = action(
  z.object({ QueueUrl: url, Entries: batchOf(z.object({ Id: entryId, ReceiptHandle: z.string() })) }),
  async (protocol, { QueueUrl, Entries }) => {
    await protocol.find(QueueUrl).queue.delete(Entries.map(({ ReceiptHandle }) => ReceiptHandle));
    return { Successful: Entries.map(({ Id }) => ({ Id })), Failed: [] };
  },
);

const changeMessageVisibility = action(
  z.object({ QueueUrl: url, ReceiptHandle: z.string(), VisibilityTimeout: visibility }),
  async (protocol, { QueueUrl, ReceiptHandle, VisibilityTimeout }) => {
    const { queue } = protocol.find(QueueUrl);
    if (!queue.expireAfter(ReceiptHandle, VisibilityTimeout * 1000)) {
      throw new WireError('MessageNotInflight', 'The message is not in flight');
    }
    return {};
  },
);

const getQueueUrl = action(z.object({ QueueName: z.string() }), async (protocol, { QueueName }) => ({
  QueueUrl: protocol.find(QueueName).url,
}));

const getQueueAttributes = action(
  z.object({ QueueUrl: url, AttributeNames: z.array(z.string()).default([]) }),
  async (protocol, { QueueUrl, AttributeNames }) => {
    const { queue, arn } = protocol.find(QueueUrl);
    const { definition } = queue;
    const { depth, inFlight, delayed } = queue.counters();
    const { redrive } = definition;
    const all = new Map<string, string>([
      ['QueueArn', arn],
      ['ApproximateNumberOfMessages', String(depth)],
      ['ApproximateNumberOfMessagesNotVisible', String(inFlight)],
      ['ApproximateNumberOfMessagesDelayed', String(delayed)],
      ['VisibilityTimeout', String(definition.visibilityTimeoutSeconds)],
      ['DelaySeconds', String(definition.delaySeconds)],
      ['MessageRetentionPeriod', String(definition.retentionSeconds)],
    ]);
    if (redrive) {
      const policy = { deadLetterTargetArn: redrive.deadLetterArn, maxReceiveCount: redrive.maxReceiveCount };
      all.set('RedrivePolicy', JSON.stringify(policy));
    }
    const isWanted = (name: string) => AttributeNames.includes('All') || AttributeNames.includes(name);
    return { Attributes: Object.fromEntries([...all].filter(([name]) => isWanted(name))) };
  },
);

/** The hosted APIs of SQS, by name. Queues themselves come from the template alone. */
export const QUEUE_ACTIONS: ReadonlyMap<string, QueueAction> = new Map([
  ['SendMessage', sendMessage],
  ['SendMessageBatch', sendMessageBatch],
  ['ReceiveMessage', receiveMessage],
  ['DeleteMessage', deleteMessage],
  ['DeleteMessageBatch', deleteMessageBatch],
  ['ChangeMessageVisibility', changeMessageVisibility],
  ['GetQueueUrl', getQueueUrl],
  ['GetQueueAttributes', getQueueAttributes],
]);

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new WireError('SerializationException', 'The request is no JSON');
  }
}
