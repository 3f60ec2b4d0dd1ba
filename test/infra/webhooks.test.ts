import { Fn } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { describe, expect, it } from 'vitest';
import { compileEventPattern } from '#local/event-pattern.ts';
import { compileTargetInput, type TargetInput } from '#local/input-transformer.ts';
import type { WebhookOptions } from '../../infra/index.ts';
import type { MillraceStack } from '../../infra/stacks/millrace-stack.ts';
import { createApp, createStack, nagViolations, propertyOf, type Resource, resourcesOf } from './synthesize.ts';

const URL = 'https://hooks.example.com/millrace?team=sales';

const secretOf = (stack: MillraceStack) => Secret.fromSecretNameV2(stack, 'Hook', 'hook-key');

/** The resources of a webhook in a stack of its own. */
function made(options: Partial<WebhookOptions> = {}) {
  const stack = createStack(createApp());
  stack.millrace.addWebhook('chat', { url: URL, secret: secretOf(stack), ...options });
  const template = Template.fromStack(stack);
  const own = (type: string) => [...resourcesOf(template, type)].find(([id]) => id.startsWith('Webhookschat'));
  const only = (type: string): Resource => {
    const [, resource] = own(type) ?? [];
    if (!resource) throw new Error(`the webhook made no ${type}`);
    return resource;
  };
  return { only, idOf: (type: string) => own(type)?.[0] };
}

function event(type: string, detail: object, source = 'millrace.scheduler') {
  return { id: 'e1', source, 'detail-type': type, time: '2026-11-30T12:00:00Z', detail };
}

const changed = (detail: object) => event('RunChanged', { pipeline: 'etl', ...detail });
const failed = changed({ state: 'FAILED', previousState: 'RUNNING' });
const rejected = event('RunRejected', { pipeline: 'etl' }, 'millrace.intake');

describe('addWebhook', () => {
  it('posts to its address with the secret in a header, no faster than it may', () => {
    const { only, idOf } = made({ header: 'x-key', ratePerSecond: 3 });
    expect(only('AWS::Events::ApiDestination').Properties).toMatchObject({
      ConnectionArn: { 'Fn::GetAtt': [idOf('AWS::Events::Connection'), 'Arn'] },
      HttpMethod: 'POST',
      InvocationEndpoint: URL,
      InvocationRateLimitPerSecond: 3,
    });
    expect(only('AWS::Events::Connection').Properties).toMatchObject({
      AuthorizationType: 'API_KEY',
      AuthParameters: { ApiKeyAuthParameters: { ApiKeyName: 'x-key' } },
    });
    const value = propertyOf(only('AWS::Events::Connection'), 'AuthParameters', 'ApiKeyAuthParameters', 'ApiKeyValue');
    expect(JSON.stringify(value)).toMatch(/\{\{resolve:secretsmanager:.*hook-key:SecretString:::\}\}/);
  });

  it('tries again for a day, and then keeps what nobody took in an encrypted queue', () => {
    const { only, idOf } = made();
    const queue = idOf('AWS::SQS::Queue');
    expect(propertyOf(only('AWS::Events::Rule'), 'Targets', 0)).toMatchObject({
      Arn: { 'Fn::GetAtt': [idOf('AWS::Events::ApiDestination'), 'Arn'] },
      DeadLetterConfig: { Arn: { 'Fn::GetAtt': [queue, 'Arn'] } },
      RetryPolicy: { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 },
    });
    expect(only('AWS::SQS::Queue').Properties).toMatchObject({
      QueueName: 'millrace-webhook-chat-dead-letters',
      MessageRetentionPeriod: 1_209_600,
      SqsManagedSseEnabled: true,
    });
    expect(JSON.stringify(only('AWS::SQS::QueuePolicy'))).toContain('"Service":"events.amazonaws.com"');
    const role = propertyOf(only('AWS::IAM::Policy'), 'PolicyDocument', 'Statement');
    expect(role).toEqual([
      {
        Action: 'events:InvokeApiDestination',
        Effect: 'Allow',
        Resource: { 'Fn::GetAtt': [idOf('AWS::Events::ApiDestination'), 'Arn'] },
      },
    ]);
  });

  it('says what the documentation promises', () => {
    const target = propertyOf(made().only('AWS::Events::Rule'), 'Targets', 0, 'InputTransformer');
    const make = compileTargetInput({ InputTransformer: target } as TargetInput, { ruleArn: 'a', ruleName: 'n' });
    expect(JSON.parse(make({ event: failed, text: '' }))).toEqual({
      type: 'RunChanged',
      id: 'e1',
      time: '2026-11-30T12:00:00Z',
      installation: 'millrace',
      data: failed.detail,
    });
  });

  it.each<[string, Partial<WebhookOptions>, object, boolean]>([
    ['a change of a run’s state', {}, failed, true],
    ['a change of nodes alone', {}, changed({ state: 'RUNNING', nodes: [] }), false],
    ['what somebody else published', {}, { ...failed, source: 'acme' }, false],
    ['another event', {}, rejected, false],
    ['another event that is asked for', { events: ['RunChanged', 'RunRejected'] }, rejected, true],
    ['both that are asked for', { events: ['RunChanged', 'RunRejected'] }, failed, true],
    ['nodes, of two events', { events: ['RunChanged', 'RunRejected'] }, changed({ state: 'RUNNING' }), false],
    ['a pipeline that is asked for', { pipelines: ['other', 'etl'] }, failed, true],
    ['another pipeline', { pipelines: ['other'] }, failed, false],
    ['a rejection of another pipeline', { events: ['RunRejected'], pipelines: ['other'] }, rejected, false],
    ['a state that is asked for', { states: ['FAILED', 'TIMED_OUT'] }, failed, true],
    ['another state', { states: ['SUCCEEDED'] }, failed, false],
    [
      'an engine, whatever the pipelines',
      { events: ['EngineChanged'], pipelines: ['x'] },
      event('EngineChanged', {}),
      true,
    ],
  ])('%s: %j', (_name, options, one, isTold) => {
    const matches = compileEventPattern(propertyOf(made(options).only('AWS::Events::Rule'), 'EventPattern'));
    expect(matches(one as Parameters<typeof matches>[0])).toBe(isTold);
  });

  it('breaks no rule of cdk-nag', () => {
    const app = createApp(true);
    const stack = createStack(app);
    stack.millrace.addWebhook('chat', { url: URL, secret: secretOf(stack), events: ['RunChanged', 'RunRejected'] });
    expect(nagViolations(app)).toEqual([]);
  });
});

describe('a webhook that is no good', () => {
  const stack = createStack(createApp());
  const secret = secretOf(stack);
  const add = (name: string, options: object) => () =>
    stack.millrace.addWebhook(name, { url: URL, secret, ...options } as WebhookOptions);

  it.each<[string, object, string]>([
    ['an address in the clear', { url: 'http://hooks.example.com' }, "A webhook's url is"],
    ['an address that is none', { url: 'hooks.example.com' }, "A webhook's url is"],
    ['another protocol', { url: 'ftp://127.0.0.1/x' }, "A webhook's url is"],
    ['a host that only begins like this machine', { url: 'http://localhost.example.com' }, "A webhook's url is"],
    ['credentials in the address', { url: 'https://me:secret@example.com' }, 'without credentials'],
    ['a placeholder in the address', { url: 'https://example.com/*' }, "A webhook's url is"],
    ['a header of HTTP itself', { header: 'Content-Type' }, "A webhook's header is"],
    ['a header with a line break', { header: 'a\r\nb' }, "A webhook's header is"],
    ['no events', { events: [] }, "A webhook's events is"],
    ['an unknown event', { events: ['RunChange'] }, 'some of RunChanged, RunRejected'],
    ['no pipelines', { pipelines: [] }, "A webhook's pipelines is"],
    ['an unknown state', { states: ['BROKEN'] }, "A webhook's states is"],
    ['states without runs', { events: ['RunRejected'], states: ['FAILED'] }, 'left out'],
    ['no rate', { ratePerSecond: 0 }, 'a whole number, 1 to 300'],
    ['too high a rate', { ratePerSecond: 301 }, 'a whole number, 1 to 300'],
    ['too short an age', { maxAgeSeconds: 59 }, 'a whole number, 60 to 86400'],
    ['too many retries', { maxRetries: 186 }, 'a whole number, 0 to 185'],
  ])('is refused: %s', (_name, options, message) => {
    expect(add('bad', options)).toThrow(expect.objectContaining({ code: 'INVALID_WEBHOOK' }));
    expect(add('bad', options)).toThrow(message);
  });

  it('is refused by its name, and the second time', () => {
    expect(add('a b', {})).toThrow("A webhook's name is");
    expect(add('x'.repeat(41), {})).toThrow("A webhook's name is");
    add('twice', {})();
    expect(add('twice', {})).toThrow('twice');
  });

  it.each(['http://127.0.0.1:8080/hook', 'http://localhost/', 'http://[::1]:9/', Fn.importValue('hook-address')])(
    'may have the address %s',
    (url) => {
      expect(add(`fine${url.length}`, { url })).not.toThrow();
    },
  );
});
