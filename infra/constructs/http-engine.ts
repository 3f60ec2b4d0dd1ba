import { Token, Validations } from 'aws-cdk-lib';
import type { IConnection } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { Construct } from 'constructs';
import type { EngineSettings } from './engine-settings.ts';
import { httpEngineDefinition } from './http-engine-definition.ts';
import { createStandardMachine } from './standard-machine.ts';
import { SynthesisError } from './synthesis-error.ts';

/** Which API an engine calls, and how. */
export interface HttpEngineOptions extends Omit<EngineSettings, 'paramsSchema'> {
  /** What the address of every request begins with, `https://api.example.com/v2`; nodes give the rest as `path`. */
  readonly baseUrl: string;
  /** The credentials that are added to every request; nodes never see them. */
  readonly connection: IConnection;
}

/** A state machine that makes one HTTP request, and may call nothing but its API. */
export class HttpEngine extends Construct {
  readonly stateMachine: StateMachine;

  /** @throws SynthesisError `INVALID_ENGINE` for a base address that is none */
  constructor(scope: Construct, id: string, options: Pick<HttpEngineOptions, 'baseUrl' | 'connection'>) {
    super(scope, id);
    const baseUrl = parseBaseUrl(options.baseUrl);
    const { connection } = options;
    const role = new Role(this, 'Role', { assumedBy: new ServicePrincipal('states.amazonaws.com') });
    role.addToPolicy(
      new PolicyStatement({ actions: ['events:RetrieveConnectionCredentials'], resources: [connection.connectionArn] }),
    );
    role.addToPolicy(
      new PolicyStatement({
        actions: ['secretsmanager:GetSecretValue', 'secretsmanager:DescribeSecret'],
        resources: [connection.connectionSecretArn],
      }),
    );
    // The resource would be the state machine itself, which needs this policy first; the condition keeps to the API.
    role.addToPolicy(
      new PolicyStatement({
        actions: ['states:InvokeHTTPEndpoint'],
        resources: ['*'],
        conditions: { StringLike: { 'states:HTTPEndpoint': `${baseUrl}/*` } },
      }),
    );
    Validations.of(role).acknowledge({
      id: 'AwsSolutions-IAM5[Resource::*]',
      reason: 'The resource is the state machine that needs the policy; a condition keeps to the addresses of the API.',
    });
    this.stateMachine = createStandardMachine(this, {
      comment: `Millrace: one execution for each attempt of a node of the engine "${id}"`,
      definition: JSON.stringify(httpEngineDefinition(baseUrl, connection.connectionArn)),
      role,
    });
  }
}

/** Letters that have a meaning neither in an expression nor in a condition of IAM. */
const PLAIN_URL = /^https:\/\/[a-z0-9.-]+(?::\d{1,5})?(?:\/[A-Za-z0-9._~-]+)*$/;

function parseBaseUrl(given: string): string {
  const url = given.replace(/\/+$/, '');
  if (!Token.isUnresolved(url) && PLAIN_URL.test(url)) return url;
  const message = `baseUrl: ${JSON.stringify(given)} must be like https://api.example.com/v2, and known when the app runs`;
  throw new SynthesisError('INVALID_ENGINE', message);
}
