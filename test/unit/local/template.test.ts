import { describe, expect, it } from 'vitest';
import type { RawTemplate } from '#local/assets.ts';
import { type HostedTemplate, resolveTemplate } from '#local/template.ts';

const base = { wireUrl: 'http://127.0.0.1:4000', apiUrl: 'http://127.0.0.1:8787' };

function resolve(template: Partial<Record<keyof RawTemplate, Record<string, unknown>>>): HostedTemplate {
  const { Resources = {}, ...rest } = template;
  const complete = Object.entries(Resources).map(([id, resource]) => [id, { Properties: {}, ...(resource as object) }]);
  const raw = { Conditions: {}, Parameters: {}, Outputs: {}, ...rest, Resources: Object.fromEntries(complete) };
  return resolveTemplate({ stackName: 'Stack', template: raw as RawTemplate, assets: new Map() }, base);
}

/** The value of an expression in a template that holds a queue and a function. */
function resolvedValue(expression: unknown): unknown {
  const { resources } = resolve({
    Resources: {
      Queue: { Type: 'AWS::SQS::Queue', Properties: { QueueName: 'jobs' } },
      Probe: { Type: 'AWS::Events::EventBus', Properties: { Value: expression } },
      Role: { Type: 'AWS::IAM::Role' },
    },
    Parameters: { Version: { Default: '/cdk/version' } },
    Conditions: {
      Yes: { 'Fn::Equals': [{ Ref: 'AWS::Region' }, 'us-east-1'] },
      No: { 'Fn::Not': [{ Condition: 'Yes' }] },
      Either: { 'Fn::Or': [{ Condition: 'No' }, { 'Fn::And': [{ Condition: 'Yes' }, { Condition: 'Yes' }] }] },
    },
  });
  return new Map(Object.entries(resources.find(({ logicalId }) => logicalId === 'Probe')?.properties ?? {})).get(
    'Value',
  );
}

describe('resolveTemplate', () => {
  it.each([
    [{ Ref: 'Queue' }, 'http://127.0.0.1:4000/000000000000/jobs'],
    [{ 'Fn::GetAtt': ['Queue', 'Arn'] }, 'arn:aws:sqs:us-east-1:000000000000:jobs'],
    [{ 'Fn::GetAtt': 'Queue.QueueName' }, 'jobs'],
    [{ 'Fn::Join': ['-', ['a', { Ref: 'AWS::Region' }, { Ref: 'AWS::AccountId' }]] }, 'a-us-east-1-000000000000'],
    [
      { 'Fn::Sub': `\${AWS::Partition}:\${Queue.Arn}:\${!Kept}` },
      `aws:arn:aws:sqs:us-east-1:000000000000:jobs:\${Kept}`,
    ],
    [{ 'Fn::Sub': [`\${x}-\${AWS::StackName}`, { x: { Ref: 'Version' } }] }, '/cdk/version-Stack'],
    [{ 'Fn::Select': [1, { 'Fn::Split': ['/', 'a/b/c'] }] }, 'b'],
    [{ 'Fn::If': ['Either', { a: { Ref: 'AWS::NoValue' }, b: 1 }, 2] }, { b: 1 }],
    [{ 'Fn::If': ['No', 1, [{ Ref: 'AWS::NoValue' }, 2]] }, [2]],
    [
      { Condition: 'kept', Effect: 'Allow' },
      { Condition: 'kept', Effect: 'Allow' },
    ],
    [{ 'Fn::GetAtt': ['Role', 'Arn'] }, 'arn:aws:iam:us-east-1:000000000000:Stack-Role'],
  ])('resolves %j', (expression, value) => {
    expect(resolvedValue(expression)).toEqual(value);
  });

  it.each([
    [{ 'Fn::Cidr': ['10.0.0.0/8', 1, 8] }, 'UNSUPPORTED_INTRINSIC', 'Fn::Cidr'],
    [{ Ref: 'Nothing' }, 'TEMPLATE_INVALID', 'Nothing'],
    [{ Ref: 'AWS::NotificationARNs' }, 'UNSUPPORTED_INTRINSIC', 'AWS::NotificationARNs'],
    [{ 'Fn::GetAtt': ['Queue', 'Colour'] }, 'UNSUPPORTED_RESOURCE', 'Colour'],
    [{ 'Fn::Join': ['-', 'text'] }, 'TEMPLATE_INVALID', 'Fn::Join'],
    [{ 'Fn::Select': [3, ['a']] }, 'TEMPLATE_INVALID', 'no element 3'],
    [{ 'Fn::If': ['Maybe', 1, 2] }, 'TEMPLATE_INVALID', 'Maybe'],
  ])('refuses %j by name', (expression, code, what) => {
    expect(() => resolvedValue(expression)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(what) }),
    );
  });

  it('names every resource that it cannot host', () => {
    const Resources = {
      Domain: { Type: 'AWS::OpenSearchService::Domain' },
      Cluster: { Type: 'AWS::ECS::Cluster' },
      Alarm: { Type: 'AWS::CloudWatch::Alarm' },
    };
    expect(() => resolve({ Resources })).toThrow(
      expect.objectContaining({
        code: 'UNSUPPORTED_RESOURCE',
        message: expect.stringMatching(/Domain \(AWS::OpenSearchService::Domain\), Cluster \(AWS::ECS::Cluster\)$/),
      }),
    );
  });

  it('leaves out what has no meaning on a laptop, and resources whose condition does not hold', () => {
    const { resources } = resolve({
      Resources: {
        Policy: { Type: 'AWS::IAM::Policy' },
        Meta: { Type: 'AWS::S3::Bucket', Condition: 'Never' },
        Machine: { Type: 'AWS::StepFunctions::StateMachine' },
      },
      Conditions: { Never: { 'Fn::Equals': ['a', 'b'] } },
    });
    expect(resources).toMatchObject([
      {
        logicalId: 'Machine',
        name: 'Stack-Machine',
        ref: 'arn:aws:states:us-east-1:000000000000:stateMachine:Stack-Machine',
      },
    ]);
  });

  it('resolves resources that refer to each other', () => {
    const { resources, outputs } = resolve({
      Resources: {
        A: { Type: 'AWS::SQS::Queue', Properties: { Other: { Ref: 'B' } } },
        B: { Type: 'AWS::SQS::Queue', Properties: { Other: { Ref: 'A' } } },
        Api: { Type: 'AWS::ApiGatewayV2::Api' },
      },
      Outputs: { ApiUrl: { Value: { 'Fn::GetAtt': ['Api', 'ApiEndpoint'] } } },
    });
    expect(resources.slice(0, 2).map(({ properties }) => properties)).toEqual([
      { Other: 'http://127.0.0.1:4000/000000000000/Stack-B' },
      { Other: 'http://127.0.0.1:4000/000000000000/Stack-A' },
    ]);
    expect(outputs.get('ApiUrl')).toBe('http://127.0.0.1:8787');
  });

  it('says which name depends on itself', () => {
    const Resources = {
      A: { Type: 'AWS::SQS::Queue', Properties: { QueueName: { 'Fn::GetAtt': ['A', 'QueueName'] } } },
    };
    expect(() => resolve({ Resources })).toThrow('the name of A depends on itself');
  });
});
