import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { LAMBDA_ENGINE_DEFINITION } from '../../infra/constructs/lambda-engine-definition.ts';

/** A small cloud assembly written by hand: an API, a queue, the engine's state machine, and functions of given source text. */
export type AssemblyOptions = {
  readonly folder: string;
  /** Our own functions by name: `api` answers HTTP, `scheduler` gets the inbox and the tick. */
  readonly own: Readonly<Record<string, string>>;
  /** Users' functions by name. */
  readonly users: Readonly<Record<string, string>>;
  /** More resources of the template. */
  readonly resources?: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** Seconds that a function of ours may take. @default 30 */
  readonly ownTimeout?: number;
  /** Seconds that a user's function may take. @default 900 */
  readonly userTimeout?: number;
};

export const machineArn = 'arn:aws:states:us-east-1:000000000000:stateMachine:test-lambda-engine';

export async function writeAssembly(options: AssemblyOptions): Promise<string> {
  const cdkOut = path.join(options.folder, 'cdk.out');
  const files: Record<string, unknown> = {};
  for (const [name, source] of Object.entries({ ...options.own, ...options.users })) {
    await mkdir(path.join(cdkOut, `asset.${name}`), { recursive: true });
    await writeFile(path.join(cdkOut, `asset.${name}`, 'index.mjs'), source);
    files[name] = {
      source: { path: `asset.${name}`, packaging: 'zip' },
      destinations: { here: { bucketName: 'b', objectKey: `${name}.zip` } },
    };
  }
  const write = (file: string, value: unknown) => writeFile(path.join(cdkOut, file), JSON.stringify(value));
  await write('manifest.json', {
    version: '1',
    artifacts: {
      'Test.assets': { type: 'cdk:asset-manifest', properties: { file: 'Test.assets.json' } },
      Test: { type: 'aws:cloudformation:stack', properties: { templateFile: 'Test.template.json' } },
    },
  });
  await write('Test.assets.json', { version: '1', files });
  await write('Test.template.json', { Resources: { ...resources(options), ...options.resources } });
  return cdkOut;
}

function resources(options: AssemblyOptions): Record<string, unknown> {
  const own = Object.keys(options.own).map((name) => [
    `Own${name}`,
    lambda(`test-${name}`, name, ownProperties(options)),
  ]);
  const users = Object.keys(options.users).map((name) => [
    `User${name}`,
    lambda(name, name, { Timeout: options.userTimeout ?? 900 }),
  ]);
  return {
    Inbox: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'test-inbox', VisibilityTimeout: 180 } },
    Engine: {
      Type: 'AWS::StepFunctions::StateMachine',
      Properties: {
        StateMachineName: 'test-lambda-engine',
        DefinitionString: JSON.stringify(LAMBDA_ENGINE_DEFINITION),
        RoleArn: 'arn:aws:iam::000000000000:role/engine',
      },
    },
    Ends: { Type: 'AWS::Events::Rule', Properties: endsRule },
    Delivery: {
      Type: 'AWS::Lambda::EventSourceMapping',
      Properties: {
        EventSourceArn: { 'Fn::GetAtt': ['Inbox', 'Arn'] },
        FunctionName: { Ref: 'Ownscheduler' },
        BatchSize: 10,
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency: 5 },
      },
    },
    ...apiResources,
    ...Object.fromEntries([...own, ...users]),
  };
}

const endsRule = {
  EventPattern: {
    source: ['aws.states'],
    'detail-type': ['Step Functions Execution Status Change'],
    detail: { status: ['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'], name: [{ prefix: 'test-' }] },
  },
  State: 'ENABLED',
  Targets: [
    {
      Arn: { 'Fn::GetAtt': ['Inbox', 'Arn'] },
      Id: 'Target0',
      InputTransformer: {
        InputPathsMap: { name: '$.detail.name', status: '$.detail.status', output: '$.detail.output' },
        InputTemplate: '{"kind":"execution","name":<name>,"status":<status>,"output":<output>}',
      },
    },
  ],
};

const apiResources = {
  Api: { Type: 'AWS::ApiGatewayV2::Api', Properties: { Name: 'test', ProtocolType: 'HTTP' } },
  Route: {
    Type: 'AWS::ApiGatewayV2::Route',
    Properties: {
      ApiId: { Ref: 'Api' },
      RouteKey: '$default',
      Target: { 'Fn::Join': ['', ['integrations/', { Ref: 'Integration' }]] },
    },
  },
  Integration: {
    Type: 'AWS::ApiGatewayV2::Integration',
    Properties: {
      ApiId: { Ref: 'Api' },
      IntegrationType: 'AWS_PROXY',
      IntegrationUri: { 'Fn::GetAtt': ['Ownapi', 'Arn'] },
      PayloadFormatVersion: '2.0',
    },
  },
  Stage: {
    Type: 'AWS::ApiGatewayV2::Stage',
    Properties: { ApiId: { Ref: 'Api' }, StageName: '$default', AutoDeploy: true },
  },
};

function ownProperties({ environment, ownTimeout = 30 }: AssemblyOptions): Record<string, unknown> {
  return { Timeout: ownTimeout, Environment: { Variables: { MILLRACE_TABLE: 'none', ...environment } } };
}

function lambda(functionName: string, asset: string, properties: Record<string, unknown>): Record<string, unknown> {
  return {
    Type: 'AWS::Lambda::Function',
    Properties: {
      FunctionName: functionName,
      Code: { S3Bucket: 'b', S3Key: `${asset}.zip` },
      Handler: 'index.handler',
      Runtime: 'nodejs24.x',
      MemorySize: 512,
      ...properties,
    },
  };
}
