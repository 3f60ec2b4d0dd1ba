import { Duration } from 'aws-cdk-lib';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { SqsEventSource } from 'aws-cdk-lib/aws-lambda-event-sources';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { PASS_SECONDS } from './settings.ts';

/** Settings of a queue. */
export interface WorkQueueProps {
  readonly queueName: string;
}

/** Who reads a queue, and how many at once. */
export interface DeliveryProps {
  /** Batches handed over at the same time, 2 to 1,000. It bounds the reader without reserving concurrency. */
  readonly maxConcurrency: number;
}

/**
 * A standard queue that a function of ours reads in batches, and the queue beside it for messages which ten
 * readings did not settle, or which a rule could not deliver.
 */
export class WorkQueue extends Construct {
  readonly queue: Queue;
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, props: WorkQueueProps) {
    super(scope, id);
    this.deadLetters = createDeadLetterQueue(this, 'DeadLetters', `${props.queueName}-dead-letters`);
    this.queue = new Queue(this, 'Queue', {
      queueName: props.queueName,
      // AWS asks for six times the reader's timeout: a batch that is throttled is tried again before it is shown to others.
      visibilityTimeout: Duration.seconds(6 * PASS_SECONDS),
      retentionPeriod: Duration.days(14),
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: 10 },
    });
  }

  /** Hands messages to a function: up to ten at once, as soon as they are there; each can fail alone. */
  deliverTo(reader: IFunction, { maxConcurrency }: DeliveryProps): void {
    reader.addEventSource(
      new SqsEventSource(this.queue, { batchSize: 10, reportBatchItemFailures: true, maxConcurrency }),
    );
  }

  /** Allows sending messages, and nothing else. */
  grantSend(grantee: IGrantable): void {
    Grant.addToPrincipal({ grantee, actions: ['sqs:SendMessage'], resourceArns: [this.queue.queueArn] });
  }
}

/** A queue for what could not be delivered: kept for 14 days, the longest there is, since nobody may have looked yet. */
export function createDeadLetterQueue(scope: Construct, id: string, queueName: string): Queue {
  return new Queue(scope, id, {
    queueName,
    retentionPeriod: Duration.days(14),
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
  });
}
