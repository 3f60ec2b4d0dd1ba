import { z } from 'zod';

/** A queue that the host cannot have, or a request for one that is not there. */
export class QueueError extends Error {
  override readonly name = 'QueueError';
  /** `UNSUPPORTED_QUEUE`: properties that the host does not know. `NO_QUEUE`: no such queue. */
  readonly code: 'UNSUPPORTED_QUEUE' | 'NO_QUEUE';

  constructor(code: QueueError['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** What a queue does with its messages; AWS's defaults where the template says nothing. */
export type QueueDefinition = {
  /** How long a received message stays out of sight. @default 30 */
  readonly visibilityTimeoutSeconds: number;
  /** How long a new message stays out of sight. @default 0 */
  readonly delaySeconds: number;
  /** How long a message is kept. @default 345600, four days */
  readonly retentionSeconds: number;
  /** Where a message goes that was received `maxReceiveCount` times and never deleted. */
  readonly redrive?: { readonly deadLetterArn: string; readonly maxReceiveCount: number };
};

/** CloudFormation gives numbers as text where they went through an intrinsic. */
const wholeNumber = z.coerce.number().int().min(0);

const propertiesSchema = z.object({
  VisibilityTimeout: wholeNumber.max(43_200).default(30),
  DelaySeconds: wholeNumber.max(900).default(0),
  MessageRetentionPeriod: wholeNumber.min(60).max(1_209_600).default(345_600),
  RedrivePolicy: z
    .object({ deadLetterTargetArn: z.string(), maxReceiveCount: wholeNumber.min(1).max(1000) })
    .optional(),
  FifoQueue: z.literal(false, { error: 'FIFO queues are not hosted' }).optional(),
});

/**
 * Reads the resolved properties of an `AWS::SQS::Queue`; encryption and the like have no meaning here.
 * @throws {QueueError} `UNSUPPORTED_QUEUE`, naming the property
 */
export function queueDefinitionOf(queueName: string, properties: unknown): QueueDefinition {
  const parsed = propertiesSchema.safeParse(properties ?? {});
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'properties'}: ${issue.message}`);
    throw new QueueError('UNSUPPORTED_QUEUE', `Queue ${queueName}: ${problems.join('; ')}`);
  }
  const { RedrivePolicy } = parsed.data;
  return {
    visibilityTimeoutSeconds: parsed.data.VisibilityTimeout,
    delaySeconds: parsed.data.DelaySeconds,
    retentionSeconds: parsed.data.MessageRetentionPeriod,
    ...(RedrivePolicy === undefined
      ? {}
      : {
          redrive: {
            deadLetterArn: RedrivePolicy.deadLetterTargetArn,
            maxReceiveCount: RedrivePolicy.maxReceiveCount,
          },
        }),
  };
}
