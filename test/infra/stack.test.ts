import { RemovalPolicy } from 'aws-cdk-lib';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, it } from 'vitest';
import { hostedType, isMeaninglessType } from '#local/resource-types.ts';
import { allResources, ECHO, folderOf, propertyOf, resourcesOf, synthesize } from './synthesize.ts';

const PASS_SECONDS = 30;

describe('MillraceStack', () => {
  let template: Template;
  beforeAll(() => {
    template = synthesize();
  });

  it('is made of types that the development host knows', () => {
    const types = new Set([...allResources(template).values()].map(({ Type }) => Type));
    expect(types.size).toBeGreaterThan(15);
    expect([...types].filter((type) => !hostedType(type) && !isMeaninglessType(type))).toEqual([]);
  });

  it('names its address, table, bucket, bus and queues', () => {
    expect(Object.keys(template.findOutputs('*')).sort()).toEqual([
      'ApiUrl',
      'BusName',
      'InboxUrl',
      'PayloadBucketName',
      'RequestsUrl',
      'TableName',
    ]);
  });

  it('carries the name of its installation in all physical names', () => {
    const other = synthesize({ installation: 'second' });
    const named = ['Name', 'TableName', 'QueueName', 'FunctionName', 'StateMachineName', 'LogGroupName'];
    const names = [...allResources(other).values()]
      .flatMap((resource) => named.map((property) => propertyOf(resource, property)))
      .filter((name) => typeof name === 'string');
    expect(names).toContain('second');
    expect(names).toContain('second-inbox');
    expect(names).toContain('second-lambda-engine');
    expect(names.filter((name) => !/^(\/aws\/(lambda|vendedlogs)\/)?second(-|$)/.test(name))).toEqual([]);
    expect(JSON.stringify(resourcesOf(other, 'AWS::Events::Rule').get('EventsExecutionsFD1AAD7A'))).toContain(
      '"second-"',
    );
  });

  describe('the table', () => {
    it('is on demand, recoverable to a point in time, protected, and kept when the stack goes', () => {
      template.hasResource('AWS::DynamoDB::Table', {
        Properties: {
          TableName: 'millrace',
          BillingMode: 'PAY_PER_REQUEST',
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
          TimeToLiveSpecification: { AttributeName: 'ttl', Enabled: true },
          DeletionProtectionEnabled: true,
          KeySchema: [
            { AttributeName: 'pk', KeyType: 'HASH' },
            { AttributeName: 'sk', KeyType: 'RANGE' },
          ],
          GlobalSecondaryIndexes: [
            Match.objectLike({
              IndexName: 'due',
              KeySchema: [
                { AttributeName: 'ds', KeyType: 'HASH' },
                { AttributeName: 'da', KeyType: 'RANGE' },
              ],
              Projection: { ProjectionType: 'KEYS_ONLY' },
            }),
            Match.objectLike({
              IndexName: 'runs',
              KeySchema: [
                { AttributeName: 'rp', KeyType: 'HASH' },
                { AttributeName: 'rs', KeyType: 'RANGE' },
              ],
              Projection: { ProjectionType: 'ALL' },
            }),
          ],
          AttributeDefinitions: Match.arrayWith([{ AttributeName: 'da', AttributeType: 'N' }]),
        },
        DeletionPolicy: 'Retain',
        UpdateReplacePolicy: 'Retain',
      });
    });

    it('goes with an ephemeral stack', () => {
      synthesize({ removalPolicy: RemovalPolicy.DESTROY }).hasResource('AWS::DynamoDB::Table', {
        Properties: { DeletionProtectionEnabled: false },
        DeletionPolicy: 'Delete',
      });
    });
  });

  describe('the bucket', () => {
    it('is private, encrypted, takes nothing in the clear, and forgets after 800 days', () => {
      template.hasResource('AWS::S3::Bucket', {
        Properties: {
          BucketName: Match.absent(),
          BucketEncryption: {
            ServerSideEncryptionConfiguration: [{ ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } }],
          },
          PublicAccessBlockConfiguration: {
            BlockPublicAcls: true,
            BlockPublicPolicy: true,
            IgnorePublicAcls: true,
            RestrictPublicBuckets: true,
          },
          LifecycleConfiguration: {
            Rules: [
              {
                ExpirationInDays: 800,
                AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
                Status: 'Enabled',
              },
            ],
          },
        },
        DeletionPolicy: 'Retain',
        UpdateReplacePolicy: 'Retain',
      });
      template.hasResourceProperties('AWS::S3::BucketPolicy', {
        PolicyDocument: {
          Statement: [
            Match.objectLike({
              Effect: 'Deny',
              Action: 's3:*',
              Condition: { Bool: { 'aws:SecureTransport': 'false' } },
            }),
          ],
        },
      });
    });

    it('goes with an ephemeral stack', () => {
      synthesize({ removalPolicy: RemovalPolicy.DESTROY }).hasResource('AWS::S3::Bucket', { DeletionPolicy: 'Delete' });
    });
  });

  describe('the queues', () => {
    it('are all encrypted, and refuse messages that are not', () => {
      const queues = resourcesOf(template, 'AWS::SQS::Queue');
      expect(queues.size).toBe(5);
      for (const [id, queue] of queues) {
        expect(propertyOf(queue, 'SqsManagedSseEnabled'), id).toBe(true);
        template.hasResourceProperties('AWS::SQS::QueuePolicy', {
          Queues: [{ Ref: id }],
          PolicyDocument: {
            Statement: Match.arrayWith([
              Match.objectLike({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
            ]),
          },
        });
      }
    });

    it('have dead letters, which are kept for 14 days', () => {
      const queues = resourcesOf(template, 'AWS::SQS::Queue');
      const living = [...queues.values()].filter((queue) => propertyOf(queue, 'RedrivePolicy'));
      expect(living.map((queue) => propertyOf(queue, 'QueueName'))).toEqual(['millrace-inbox', 'millrace-requests']);
      for (const queue of living) {
        expect(propertyOf(queue, 'RedrivePolicy', 'maxReceiveCount')).toBe(10);
        const dead = queues.get(String(propertyOf(queue, 'RedrivePolicy', 'deadLetterTargetArn', 'Fn::GetAtt', 0)));
        expect(propertyOf(dead, 'QueueName')).toBe(`${propertyOf(queue, 'QueueName')}-dead-letters`);
      }
      for (const queue of queues.values()) expect(propertyOf(queue, 'MessageRetentionPeriod')).toBe(14 * 86_400);
    });

    it('hide a message for six times its reader’s timeout', () => {
      const functions = resourcesOf(template, 'AWS::Lambda::Function');
      const mappings = resourcesOf(template, 'AWS::Lambda::EventSourceMapping');
      expect(mappings.size).toBe(2);
      for (const mapping of mappings.values()) {
        const queue = allResources(template).get(String(propertyOf(mapping, 'EventSourceArn', 'Fn::GetAtt', 0)));
        const reader = functions.get(String(propertyOf(mapping, 'FunctionName', 'Ref')));
        expect(propertyOf(reader, 'Timeout')).toBeLessThanOrEqual(PASS_SECONDS);
        expect(propertyOf(queue, 'VisibilityTimeout')).toBe(6 * PASS_SECONDS);
      }
    });

    it.each([
      ['scheduler', 5],
      ['intake', 2],
    ])('are handed to the %s ten messages at a time, each failing alone', (name, maximumConcurrency) => {
      const [id] = Object.keys(
        template.findResources('AWS::Lambda::Function', { Properties: { FunctionName: `millrace-${name}` } }),
      );
      template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
        FunctionName: { Ref: id },
        BatchSize: 10,
        MaximumBatchingWindowInSeconds: Match.absent(),
        FunctionResponseTypes: ['ReportBatchItemFailures'],
        ScalingConfig: { MaximumConcurrency: maximumConcurrency },
      });
    });
  });

  describe('the functions', () => {
    it.each([
      ['api', 29],
      ['scheduler', PASS_SECONDS],
      ['intake', PASS_SECONDS],
    ])('%s runs on nodejs24.x and arm64 for at most %i s', (name, timeout) => {
      template.hasResourceProperties('AWS::Lambda::Function', {
        FunctionName: `millrace-${name}`,
        Handler: 'index.handler',
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        MemorySize: 512,
        Timeout: timeout,
        RecursiveLoop: name === 'scheduler' ? 'Allow' : Match.absent(),
        Environment: {
          Variables: {
            MILLRACE_INSTALLATION: 'millrace',
            MILLRACE_TABLE: Match.anyValue(),
            MILLRACE_BUS: Match.anyValue(),
            MILLRACE_INBOX_URL: Match.anyValue(),
            MILLRACE_LAMBDA_ENGINE_ARN: Match.anyValue(),
            MILLRACE_PAYLOAD_BUCKET: Match.anyValue(),
            MILLRACE_TICK_SECONDS: '60',
            MILLRACE_PASS_SECONDS: String(PASS_SECONDS),
          },
        },
      });
    });

    it('reserve no concurrency: a new account has ten in all', () => {
      for (const [id, each] of resourcesOf(synthesizeWithUserFunction(), 'AWS::Lambda::Function')) {
        expect(each.Properties, id).not.toHaveProperty('ReservedConcurrentExecutions');
      }
      expect(resourcesOf(template, 'AWS::Lambda::Version').size).toBe(0);
    });

    it('have a log group each, kept for 30 days', () => {
      const functions = synthesizeWithUserFunction();
      const groups = resourcesOf(functions, 'AWS::Logs::LogGroup');
      const used = [...resourcesOf(functions, 'AWS::Lambda::Function').values()].map((each) =>
        propertyOf(each, 'LoggingConfig', 'LogGroup', 'Ref'),
      );
      expect(new Set(used).size).toBe(5);
      for (const id of used) expect(groups.has(String(id))).toBe(true);
      for (const group of groups.values()) expect(propertyOf(group, 'RetentionInDays')).toBe(30);
    });

    it('of a team carry their literal names, may take 15 minutes, and get of ours only the name of the bucket', () => {
      synthesizeWithUserFunction().hasResourceProperties('AWS::Lambda::Function', {
        FunctionName: 'clean_Flights-2',
        Handler: 'index.handler',
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        MemorySize: 512,
        Timeout: 900,
        Environment: {
          Variables: {
            NODE_OPTIONS: '--enable-source-maps',
            MILLRACE_PAYLOAD_BUCKET: { Ref: Match.stringLikeRegexp('^PayloadsBucket') },
            MILLRACE_TABLE: Match.absent(),
          },
        },
      });
    });
  });

  it('lets in only signed requests, all to the api function', () => {
    const types = [...resourcesOf(template, 'AWS::ApiGatewayV2::Route').values()].map((route) =>
      propertyOf(route, 'AuthorizationType'),
    );
    // The routes of a WebSocket behind $connect have none of their own.
    expect(types.sort()).toEqual(['AWS_IAM', 'CUSTOM', 'NONE', 'NONE']);
    template.hasResourceProperties('AWS::ApiGatewayV2::Route', { RouteKey: '$default', AuthorizationType: 'AWS_IAM' });
    template.hasResourceProperties('AWS::ApiGatewayV2::Integration', {
      PayloadFormatVersion: '2.0',
      TimeoutInMillis: 29_000,
    });
    template.hasResourceProperties('AWS::ApiGatewayV2::Stage', { StageName: '$default', AutoDeploy: true });
  });

  it('wakes the scheduler every minute, and does not repeat a tick that is late', () => {
    template.hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: 'rate(1 minute)',
      FlexibleTimeWindow: { Mode: 'OFF' },
      State: 'ENABLED',
      Target: {
        Input: JSON.stringify({ kind: 'tick' }),
        DeadLetterConfig: { Arn: Match.anyValue() },
        RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 },
      },
    });
  });
});

function synthesizeWithUserFunction(): Template {
  return synthesize({ functionsDirectory: folderOf({ 'clean_Flights-2.ts': ECHO }) });
}
