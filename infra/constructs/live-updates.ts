import { Duration, Stack, Validations } from 'aws-cdk-lib';
import { WebSocketApi, WebSocketStage } from 'aws-cdk-lib/aws-apigatewayv2';
import { WebSocketLambdaAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { WebSocketLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { type EventBus, Match, Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction as FunctionTarget } from 'aws-cdk-lib/aws-events-targets';
import { Grant } from 'aws-cdk-lib/aws-iam';
import type { Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { acknowledgeWildcards } from './acknowledged-wildcards.ts';
import type { Bundle } from './bundle.ts';
import { NodeFunction } from './node-function.ts';
import type { StateTable } from './state-table.ts';
import type { WorkQueue } from './work-queue.ts';

/** What live updates are made of. */
export interface LiveUpdatesProps {
  readonly installation: string;
  readonly logRetention: RetentionDays;
  /** What our own functions find in their environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly state: StateTable;
  /** By which the scheduler is asked to watch runs. */
  readonly inbox: WorkQueue;
  /** Where changes are published. */
  readonly bus: EventBus;
  /** Gives the tickets, and has to know where they are good. */
  readonly api: LambdaFunction;
  /** The notifier's code. */
  readonly bundle: Bundle;
}

const STAGE = 'live';
/** What a message may take; the gateway gives up after 29 s. */
const TIMEOUT_SECONDS = 25;

/**
 * Live updates: a WebSocket API whose connections are opened by tickets of the HTTP API, the function behind it, and the rule
 * that brings changes of runs to that. The rule is disabled until somebody subscribes; the function switches it.
 */
export class LiveUpdates extends Construct {
  /** Address of the WebSocket. */
  readonly url: string;
  /** Tells clients of changes. */
  readonly notifier: LambdaFunction;

  constructor(scope: Construct, id: string, props: LiveUpdatesProps) {
    super(scope, id);
    const { installation, api, state, inbox } = props;
    const webSocketApi = new WebSocketApi(this, 'Api', {
      apiName: `${installation}-live`,
      description: `Millrace: live updates of the installation ${installation}`,
    });
    this.url = `${webSocketApi.apiEndpoint}/${STAGE}`;
    const ruleName = `${installation}-live`;
    this.notifier = this.addNotifier(props, { MILLRACE_LIVE_URL: this.url, MILLRACE_LIVE_RULE: ruleName });
    const { notifier } = this;
    const integration = (name: string) => new WebSocketLambdaIntegration(name, notifier);
    webSocketApi.addRoute('$connect', {
      integration: integration('Connect'),
      authorizer: new WebSocketLambdaAuthorizer('Ticket', notifier, {
        authorizerName: `${installation}-ticket`,
        identitySource: ['route.request.querystring.ticket'],
      }),
    });
    webSocketApi.addRoute('$disconnect', { integration: integration('Disconnect') });
    webSocketApi.addRoute('$default', { integration: integration('Message') });
    const stage = new WebSocketStage(this, 'Stage', { webSocketApi, stageName: STAGE, autoDeploy: true });
    this.answerForGateway(webSocketApi, stage);
    this.grantConnections(webSocketApi, notifier);
    this.addRule(ruleName, props.bus, notifier);
    state.grantReadWrite(notifier);
    inbox.grantSend(notifier);
    api.addEnvironment('MILLRACE_LIVE_URL', this.url);
  }

  private addNotifier(props: LiveUpdatesProps, more: Readonly<Record<string, string>>): LambdaFunction {
    const { installation, logRetention, environment, bundle } = props;
    return new NodeFunction(this, 'notifier', {
      functionName: `${installation}-notifier`,
      description: 'Millrace: tells clients of changes as they happen',
      bundle,
      environment: { ...environment, ...more },
      logRetention,
      timeoutSeconds: TIMEOUT_SECONDS,
    }).function;
  }

  private addRule(ruleName: string, bus: EventBus, notifier: LambdaFunction): void {
    new Rule(this, 'Changes', {
      ruleName,
      description: 'Changes of runs, to the notifier, but for its own; enabled while somebody is subscribed',
      enabled: false,
      eventBus: bus,
      eventPattern: { source: Match.anythingBut('millrace.notifier'), detailType: ['RunChanged'] },
      // A change that comes late is worth nothing: whoever missed it has read the run by then.
      targets: [new FunctionTarget(notifier, { maxEventAge: Duration.minutes(1), retryAttempts: 2 })],
    });
    notifier.configureAsyncInvoke({ maxEventAge: Duration.minutes(1), retryAttempts: 2 });
    // By its name: the rule itself depends on the function.
    const resourceName = `${bus.eventBusName}/${ruleName}`;
    Grant.addToPrincipal({
      grantee: notifier,
      actions: ['events:EnableRule', 'events:DisableRule'],
      resourceArns: [Stack.of(this).formatArn({ service: 'events', resource: 'rule', resourceName })],
    });
  }

  private grantConnections({ apiId }: WebSocketApi, notifier: LambdaFunction): void {
    const resourceArns = ['POST', 'DELETE'].map((method) =>
      Stack.of(this).formatArn({
        service: 'execute-api',
        resource: apiId,
        resourceName: `${STAGE}/${method}/@connections/*`,
      }),
    );
    Grant.addToPrincipal({ grantee: notifier, actions: ['execute-api:ManageConnections'], resourceArns });
    acknowledgeWildcards(notifier, 'Connections come and go.', resourceArns);
  }

  private answerForGateway(webSocketApi: WebSocketApi, stage: WebSocketStage): void {
    Validations.of(webSocketApi).acknowledge({
      id: 'AwsSolutions-APIG4',
      reason: 'A connection is authorized once, when it is opened; its other routes cannot have an authorizer.',
    });
    Validations.of(stage).acknowledge({
      id: 'AwsSolutions-APIG1',
      reason: 'Access logs of WebSocket APIs need a role for the whole account; the notifier logs who connects.',
    });
  }
}
