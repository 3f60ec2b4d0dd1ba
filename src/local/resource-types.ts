import { createHash } from 'node:crypto';
import { hostAccount, hostArn } from '#local/cloud-address.ts';

/** What the addresses of resources are made of. */
export type AddressBase = {
  /** Where the AWS wire protocols are spoken: `http://127.0.0.1:PORT`. */
  readonly wireUrl: string;
  /** Where the HTTP API answers. */
  readonly apiUrl: string;
};

/** How the host names resources of one type. */
export type ResourceType = {
  /** The property that may hold the physical name; a name is made where it is missing. */
  readonly nameProperty?: string;
  /** What `Ref` gives. */
  ref(name: string, properties: Properties, base: AddressBase): string;
  /** What `Fn::GetAtt` gives, by attribute. */
  attributes(name: string, properties: Properties, base: AddressBase): Readonly<Record<string, string>>;
};

/** Resolved properties of a resource. */
export type Properties = Readonly<Record<string, unknown>>;

const byName = (name: string) => name;
const noAttributes = () => ({});

const table: ResourceType = {
  nameProperty: 'TableName',
  ref: byName,
  attributes: (name) => ({ Arn: hostArn('dynamodb', `table/${name}`) }),
};

const hostedTypes: ReadonlyMap<string, ResourceType> = new Map<string, ResourceType>([
  ['AWS::DynamoDB::Table', table],
  ['AWS::DynamoDB::GlobalTable', table],
  [
    'AWS::Events::EventBus',
    {
      nameProperty: 'Name',
      ref: byName,
      attributes: (name) => ({ Arn: hostArn('events', `event-bus/${name}`), Name: name }),
    },
  ],
  [
    'AWS::Events::Rule',
    { nameProperty: 'Name', ref: byName, attributes: (name, properties) => ({ Arn: ruleArn(name, properties) }) },
  ],
  ['AWS::Events::Connection', { nameProperty: 'Name', ref: byName, attributes: connectionAttributes }],
  [
    'AWS::Events::ApiDestination',
    {
      nameProperty: 'Name',
      ref: byName,
      attributes: (name) => ({
        Arn: hostArn('events', `api-destination/${name}`),
        ArnForPolicy: hostArn('events', `api-destination/${name}`),
      }),
    },
  ],
  [
    'AWS::SecretsManager::Secret',
    { nameProperty: 'Name', ref: secretArn, attributes: (name) => ({ Arn: secretArn(name), Id: secretArn(name) }) },
  ],
  [
    'AWS::S3::Bucket',
    { nameProperty: 'BucketName', ref: byName, attributes: (name) => ({ Arn: `arn:aws:s3:::${name}` }) },
  ],
  [
    'AWS::SQS::Queue',
    {
      nameProperty: 'QueueName',
      ref: queueUrl,
      attributes: (name, properties, base) => ({
        Arn: hostArn('sqs', name),
        QueueName: name,
        QueueUrl: queueUrl(name, properties, base),
      }),
    },
  ],
  [
    'AWS::Lambda::Function',
    {
      nameProperty: 'FunctionName',
      ref: byName,
      attributes: (name) => ({ Arn: hostArn('lambda', `function:${name}`) }),
    },
  ],
  ['AWS::Lambda::EventSourceMapping', { ref: byName, attributes: (name) => ({ Id: name }) }],
  [
    'AWS::Scheduler::Schedule',
    {
      nameProperty: 'Name',
      ref: byName,
      attributes: (name) => ({ Arn: hostArn('scheduler', `schedule/default/${name}`) }),
    },
  ],
  [
    'AWS::StepFunctions::StateMachine',
    {
      nameProperty: 'StateMachineName',
      ref: (name) => hostArn('states', `stateMachine:${name}`),
      attributes: (name) => ({ Arn: hostArn('states', `stateMachine:${name}`), Name: name }),
    },
  ],
  [
    'AWS::ApiGatewayV2::Api',
    {
      ref: shortId,
      attributes: (name, { ProtocolType }, base) => ({
        ApiId: shortId(name),
        ApiEndpoint: ProtocolType === 'WEBSOCKET' ? base.apiUrl.replace(/^http/, 'ws') : base.apiUrl,
      }),
    },
  ],
  ['AWS::ApiGatewayV2::Integration', { ref: shortId, attributes: (name) => ({ IntegrationId: shortId(name) }) }],
  ['AWS::ApiGatewayV2::Route', { ref: shortId, attributes: (name) => ({ RouteId: shortId(name) }) }],
  // What Ref gives is known only once it is made, and nothing asks for it.
  ['Custom::MillraceEngine', { ref: byName, attributes: noAttributes }],
  ['Custom::MillracePipeline', { ref: byName, attributes: noAttributes }],
  ['AWS::ApiGatewayV2::Stage', { nameProperty: 'StageName', ref: byName, attributes: noAttributes }],
]);

/** Types that a template may hold and that change nothing on a laptop: who may do what, what is kept, what is watched. */
const meaninglessTypes: ReadonlySet<string> = new Set([
  'AWS::ApiGatewayV2::Authorizer',
  'AWS::CDK::Metadata',
  'AWS::CloudWatch::Alarm',
  'AWS::CloudWatch::CompositeAlarm',
  'AWS::CloudWatch::Dashboard',
  'AWS::Events::EventBusPolicy',
  'AWS::IAM::ManagedPolicy',
  'AWS::IAM::Policy',
  'AWS::IAM::Role',
  'AWS::Lambda::EventInvokeConfig',
  'AWS::Lambda::Permission',
  'AWS::Logs::LogGroup',
  'AWS::Logs::MetricFilter',
  'AWS::S3::BucketPolicy',
  'AWS::SNS::Subscription',
  'AWS::SNS::Topic',
  'AWS::SNS::TopicPolicy',
  'AWS::SQS::QueuePolicy',
  'AWS::SecretsManager::ResourcePolicy',
  'AWS::SecretsManager::RotationSchedule',
  'AWS::Scheduler::ScheduleGroup',
]);

/** How the host names resources of a type that it runs; undefined for every other type. */
export function hostedType(type: string): ResourceType | undefined {
  return hostedTypes.get(type);
}

/** Whether resources of a type may be passed over on the host. */
export function isMeaninglessType(type: string): boolean {
  return meaninglessTypes.has(type);
}

function ruleArn(name: string, { EventBusName: bus }: Properties): string {
  const busName = typeof bus === 'string' ? bus.slice(bus.lastIndexOf('/') + 1) : 'default';
  return hostArn('events', busName === 'default' ? `rule/${name}` : `rule/${busName}/${name}`);
}

function connectionAttributes(name: string): Readonly<Record<string, string>> {
  const arn = hostArn('events', `connection/${name}`);
  return { Arn: arn, ArnForPolicy: arn, SecretArn: secretArn(`events!connection/${name}`) };
}

function secretArn(name: string): string {
  return hostArn('secretsmanager', `secret:${name}`);
}

function queueUrl(name: string, _: Properties, base: AddressBase): string {
  return `${base.wireUrl}/${hostAccount}/${name}`;
}

/** AWS gives these resources ids of ten lower-case letters and digits. */
function shortId(name: string): string {
  const digest = createHash('sha256').update(name).digest();
  return BigInt(`0x${digest.toString('hex')}`)
    .toString(36)
    .slice(0, 10);
}
