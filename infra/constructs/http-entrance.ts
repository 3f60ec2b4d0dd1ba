import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway';
import { HttpApi, HttpStage, LogGroupLogDestination } from 'aws-cdk-lib/aws-apigatewayv2';
import { HttpIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import type { IMetric, MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IFunction, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup, type RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { acknowledgeWildcards } from './acknowledged-wildcards.ts';

/** What the entrance leads to. */
export interface HttpEntranceProps {
  readonly installation: string;
  readonly api: IFunction;
  readonly logRetention: RetentionDays;
}

/**
 * The HTTP API: one `$default` route to the api function, which answers unknown paths itself. Callers sign
 * their requests with AWS credentials (IAM). Requests that the gateway refuses never reach the function, so they are logged here.
 */
export class HttpEntrance extends Construct {
  /** Address of the API, without a trailing slash. */
  readonly url: string;

  readonly #httpApi: HttpApi;

  constructor(scope: Construct, id: string, { installation, api, logRetention }: HttpEntranceProps) {
    super(scope, id);
    const httpApi = new HttpApi(this, 'Api', {
      apiName: installation,
      description: `Millrace: the API of the installation ${installation}`,
      createDefaultStage: false,
      defaultIntegration: new HttpLambdaIntegration('Integration', api, { timeout: Duration.seconds(29) }),
      defaultAuthorizer: new HttpIamAuthorizer(),
    });
    const accessLog = new LogGroup(this, 'AccessLog', {
      logGroupName: `/aws/vendedlogs/${installation}-api-access`,
      retention: logRetention,
      removalPolicy: RemovalPolicy.DESTROY,
    });
    new HttpStage(this, 'Stage', {
      httpApi,
      autoDeploy: true,
      accessLogSettings: {
        destination: new LogGroupLogDestination(accessLog),
        format: AccessLogFormat.custom(ACCESS_LOG_LINE),
      },
    });
    this.url = httpApi.apiEndpoint;
    this.#httpApi = httpApi;
  }

  /** Requests that were answered with 500 or above. */
  metricServerErrors(options: MetricOptions): IMetric {
    return this.#httpApi.metricServerError(options);
  }

  /** Tells a function of a team where the API is, and lets it report its progress there, and do nothing else. */
  allowReporting(reporter: LambdaFunction): void {
    reporter.addEnvironment('MILLRACE_API_URL', this.url);
    const reason = 'Runs and nodes come and go; a report needs the token of its attempt, too.';
    this.grantCalls(reporter, PROGRESS_CALLS, reason);
  }

  /**
   * Allows calls, signed with the grantee's credentials.
   * @param calls method and path of each, `POST /v1/runs/*`
   * @param reason for the wildcards in them
   */
  grantCalls(grantee: IGrantable, calls: readonly string[], reason: string): Grant {
    const resourceArns = calls.map((call) => {
      const [method, path] = call.split(' ');
      return this.#httpApi.arnForExecuteApi(method, path, '$default');
    });
    acknowledgeWildcards(grantee, reason, resourceArns);
    return Grant.addToPrincipal({ grantee, actions: ['execute-api:Invoke'], resourceArns });
  }
}

const PROGRESS_CALLS = ['POST /v1/runs/*/nodes/*/progress'];

const ACCESS_LOG_LINE = JSON.stringify({
  requestId: '$context.requestId',
  time: '$context.requestTimeEpoch',
  caller: '$context.identity.userArn',
  ip: '$context.identity.sourceIp',
  method: '$context.httpMethod',
  path: '$context.path',
  status: '$context.status',
  latencyMs: '$context.responseLatency',
  error: '$context.error.message',
  integrationError: '$context.integrationErrorMessage',
});
