import { EventBus, EventField, Match, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import { Construct } from 'constructs';
import type { WorkQueue } from './work-queue.ts';

/** What the routes connect. */
export interface EventRoutesProps {
  /** Name of the bus, and prefix of the executions' names. */
  readonly installation: string;
  /** Read by the scheduler. */
  readonly inbox: WorkQueue;
  /** Read by the intake. */
  readonly requests: WorkQueue;
}

/**
 * The bus, and the rules that bring events to our queues. No rule gives a function what it published itself
 * (`anything-but` its own source); what cannot be delivered goes to the dead letters of the queue it was meant for.
 */
export class EventRoutes extends Construct {
  readonly bus: EventBus;

  constructor(scope: Construct, id: string, props: EventRoutesProps) {
    super(scope, id);
    const { installation, inbox, requests } = props;
    this.bus = new EventBus(this, 'Bus', {
      eventBusName: installation,
      description: `Millrace: events of the installation ${installation}`,
    });
    new Rule(this, 'Changes', {
      ruleName: `${installation}-changes`,
      description: 'Changes of engines and pipelines, to the scheduler, but for its own',
      eventBus: this.bus,
      eventPattern: {
        source: Match.anythingBut('millrace.scheduler'),
        detailType: ['EngineChanged', 'PipelineChanged'],
      },
      targets: [new SqsQueue(inbox.queue, { deadLetterQueue: inbox.deadLetters })],
    });
    new Rule(this, 'Requests', {
      ruleName: `${installation}-requests`,
      description: 'Requests of other systems, to the intake',
      eventBus: this.bus,
      eventPattern: {
        source: Match.anythingButPrefix('millrace.'),
        detailType: ['RunRequested', 'StopRequested'],
      },
      targets: [new SqsQueue(requests.queue, { deadLetterQueue: requests.deadLetters })],
    });
    this.addExecutionRule(installation, inbox);
  }

  /** Allows publishing on the bus. */
  grantPublish(grantee: IGrantable): void {
    Grant.addToPrincipal({
      grantee,
      actions: ['events:PutEvents'],
      resourceArns: [this.bus.eventBusArn],
    });
  }

  /** Allows publishing requests of these types, and no other events. */
  grantRequest(grantee: IGrantable, detailTypes: readonly ('RunRequested' | 'StopRequested')[]): Grant {
    return Grant.addToPrincipal({
      grantee,
      actions: ['events:PutEvents'],
      resourceArns: [this.bus.eventBusArn],
      conditions: { StringEquals: { 'events:detail-type': detailTypes } },
    });
  }

  /**
   * Ends of our executions. Step Functions publishes on the default bus only. The execution's input is left out:
   * we wrote it, and with it a message might not fit into the queue. EventBridge gives an absent output as empty text.
   */
  private addExecutionRule(installation: string, inbox: WorkQueue): void {
    new Rule(this, 'Executions', {
      ruleName: `${installation}-executions`,
      description: `Ends of executions of the installation ${installation}, to the scheduler`,
      eventPattern: {
        source: ['aws.states'],
        detailType: ['Step Functions Execution Status Change'],
        detail: {
          status: ['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'],
          name: Match.prefix(`${installation}-`),
        },
      },
      targets: [
        new SqsQueue(inbox.queue, {
          deadLetterQueue: inbox.deadLetters,
          message: RuleTargetInput.fromObject({
            kind: 'execution',
            name: EventField.fromPath('$.detail.name'),
            arn: EventField.fromPath('$.detail.executionArn'),
            status: EventField.fromPath('$.detail.status'),
            output: EventField.fromPath('$.detail.output'),
            startDate: EventField.fromPath('$.detail.startDate'),
            stopDate: EventField.fromPath('$.detail.stopDate'),
          }),
        }),
      ],
    });
  }
}
