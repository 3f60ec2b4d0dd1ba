import { type CfnElement, type Duration, Stack, Validations } from 'aws-cdk-lib';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Schedule, ScheduleExpression, ScheduleTargetInput } from 'aws-cdk-lib/aws-scheduler';
import { LambdaInvoke } from 'aws-cdk-lib/aws-scheduler-targets';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { createDeadLetterQueue } from './work-queue.ts';

/** What the tick wakes. */
export interface TickProps {
  readonly installation: string;
  readonly scheduler: IFunction;
  /** The time between two ticks, in whole minutes. */
  readonly rate: Duration;
}

/** The scheduled wake-up of the scheduler. One that is late is worthless, since the next does the same: it is dropped by then. */
export class Tick extends Construct {
  readonly deadLetters: Queue;

  constructor(scope: Construct, id: string, { installation, scheduler, rate }: TickProps) {
    super(scope, id);
    this.deadLetters = createDeadLetterQueue(this, 'DeadLetters', `${installation}-tick-dead-letters`);
    scheduler.configureAsyncInvoke({ maxEventAge: rate, retryAttempts: 0 });
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    });
    new Schedule(this, 'Schedule', {
      scheduleName: `${installation}-tick`,
      description: 'Wakes the scheduler, so that every run ends whatever was lost',
      schedule: ScheduleExpression.rate(rate),
      target: new LambdaInvoke(scheduler, {
        input: ScheduleTargetInput.fromObject({ kind: 'tick' }),
        deadLetterQueue: this.deadLetters,
        retryAttempts: 0,
        maxEventAge: rate,
        role,
      }),
    });
    const invoked = Stack.of(this).getLogicalId(scheduler.node.defaultChild as CfnElement);
    Validations.of(role).acknowledge({
      id: `AwsSolutions-IAM5[Resource::<${invoked}.Arn>:*]`,
      reason: 'The target of a schedule also covers the versions of its one function.',
    });
    Validations.of(this.deadLetters).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: 'It is a dead-letter queue itself.',
    });
  }
}
