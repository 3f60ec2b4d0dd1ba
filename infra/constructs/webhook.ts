import { Duration, Validations } from 'aws-cdk-lib';
import {
  ApiDestination,
  Authorization,
  type CfnRule,
  Connection,
  type EventBus,
  EventField,
  type IApiDestination,
  Rule,
  RuleTargetInput,
} from 'aws-cdk-lib/aws-events';
import { ApiDestination as ApiDestinationTarget } from 'aws-cdk-lib/aws-events-targets';
import type { Queue } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { toWebhookSettings, type WebhookEvent, type WebhookOptions, type WebhookSettings } from './webhook-settings.ts';
import { createDeadLetterQueue } from './work-queue.ts';

/** A webhook, and the installation that it hears. */
export interface WebhookProps extends WebhookOptions {
  readonly installation: string;
  readonly bus: EventBus;
}

/** Ours; what others publish under the same names is not passed on. */
const SOURCES = ['millrace.api', 'millrace.intake', 'millrace.scheduler'];

/** Tells an address of events: a rule, an API destination that posts them, and a queue for what nobody took. */
export class Webhook extends Construct {
  /** What could not be delivered, for 14 days: `<installation>-webhook-<name>-dead-letters`. */
  readonly deadLetters: Queue;

  /** @throws SynthesisError `INVALID_WEBHOOK`, naming the option and what would be right */
  constructor(scope: Construct, id: string, props: WebhookProps) {
    const settings = toWebhookSettings(id, props);
    super(scope, id);
    const { installation, bus } = props;
    const { url, header, secret, ratePerSecond, maxAgeSeconds, maxRetries } = settings;
    this.deadLetters = createDeadLetterQueue(this, 'DeadLetters', `${installation}-webhook-${id}-dead-letters`);
    Validations.of(this.deadLetters).acknowledge({
      id: 'AwsSolutions-SQS3',
      reason: 'It is the dead-letter queue of a rule.',
    });
    const connection = new Connection(this, 'Connection', {
      description: `Millrace: what the webhook ${id} of the installation ${installation} is known by`,
      authorization: Authorization.apiKey(header, secret.secretValue),
    });
    const destination = new ApiDestination(this, 'Destination', {
      description: `Millrace: the webhook ${id} of the installation ${installation}`,
      connection,
      endpoint: url,
      rateLimitPerSecond: ratePerSecond,
    });
    const rule = new Rule(this, 'Rule', {
      description: `Millrace: events to the webhook ${id}`,
      eventBus: bus,
      eventPattern: { source: SOURCES },
      targets: [
        // It is one, but for how strictly an optional property is read.
        new ApiDestinationTarget(destination as IApiDestination, {
          event: body(installation),
          deadLetterQueue: this.deadLetters,
          retryAttempts: maxRetries,
          maxEventAge: Duration.seconds(maxAgeSeconds),
        }),
      ],
    });
    // CDK's own type of patterns does not know "$or".
    (rule.node.defaultChild as CfnRule).eventPattern = patternOf(settings);
  }
}

/** What is posted; `docs/reference/events.md` promises it. */
function body(installation: string): RuleTargetInput {
  return RuleTargetInput.fromObject({
    type: EventField.detailType,
    id: EventField.eventId,
    time: EventField.time,
    installation,
    data: EventField.fromPath('$.detail'),
  });
}

function patternOf({ events, pipelines, states }: WebhookSettings): object {
  const parts = events.map((event) => {
    const detail = { ...ofRuns(event, states), ...ofPipelines(event, pipelines) };
    return { 'detail-type': [event], ...(Object.keys(detail).length > 0 && { detail }) };
  });
  return { source: SOURCES, ...(parts.length === 1 ? parts[0] : { $or: parts }) };
}

/** Events of nodes, which come while somebody watches a run, have no previous state of the run. */
function ofRuns(event: WebhookEvent, states: readonly string[] | undefined): object {
  return event === 'RunChanged' ? { previousState: [{ exists: true }], ...(states && { state: states }) } : {};
}

/** An engine is no pipeline's. */
function ofPipelines(event: WebhookEvent, pipelines: readonly string[] | undefined): object {
  return pipelines && event !== 'EngineChanged' ? { pipeline: pipelines } : {};
}
