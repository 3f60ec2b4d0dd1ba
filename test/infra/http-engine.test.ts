import { Validator } from '@cfworker/json-schema';
import { SecretValue } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Authorization, Connection } from 'aws-cdk-lib/aws-events';
import jsonata from 'jsonata';
import { describe, expect, it } from 'vitest';
import { HTTP_PARAMS_SCHEMA, httpEngineDefinition } from '../../infra/constructs/http-engine-definition.ts';
import type { HttpEngineOptions } from '../../infra/index.ts';
import type { MillraceStack } from '../../infra/stacks/millrace-stack.ts';
import { createApp, createStack, propertyOf, resourcesOf } from './synthesize.ts';

const CONNECTION = 'arn:aws:events:eu-central-1:111122223333:connection/crm/1';

function connectionIn(stack: MillraceStack): Connection {
  const authorization = Authorization.apiKey('x-key', SecretValue.secretsManager('crm-key'));
  return new Connection(stack, 'Crm', { authorization });
}

const state = (httpEngineDefinition('https://api.example.com/v2', CONNECTION) as { States: { Call: CallState } }).States
  .Call;

interface CallState {
  readonly Arguments: string;
  readonly Output: string;
  readonly TimeoutSeconds: string;
  readonly Retry: readonly { readonly ErrorEquals: readonly string[] }[];
}

/** What an expression of the definition gives. */
async function evaluate(expression: string, states: object): Promise<unknown> {
  const [, inner = ''] = /^\{%([\s\S]*)%\}$/.exec(expression) ?? [];
  return JSON.parse(JSON.stringify(await jsonata(inner).evaluate(undefined, { states })));
}

const requestOf = (params: object) => evaluate(state.Arguments, { input: { params, millrace: { timeoutSeconds: 5 } } });

describe('the definition of an HTTP engine', () => {
  it('makes a request of what the node says, and of nothing else', async () => {
    const params = { method: 'POST', path: '/people', query: { dry: 1 }, headers: { a: 'b' }, body: { name: 'Ada' } };
    expect(await requestOf(params)).toEqual({
      ApiEndpoint: 'https://api.example.com/v2/people',
      Method: 'POST',
      Authentication: { ConnectionArn: CONNECTION },
      QueryParameters: { dry: 1 },
      Headers: { a: 'b' },
      RequestBody: { name: 'Ada' },
    });
  });

  it('leaves out what the node does not say', async () => {
    expect(await requestOf({})).toEqual({
      ApiEndpoint: 'https://api.example.com/v2/',
      Method: 'GET',
      Authentication: { ConnectionArn: CONNECTION },
    });
  });

  it('sends lists as they are, and a body that is false or null', async () => {
    for (const body of [[], [1], [[1]], false, null, 0, '']) {
      expect(await requestOf({ path: 'x', body })).toMatchObject({ RequestBody: body });
    }
  });

  it('ends at the attempt’s own timeout, and gives status, headers and body', async () => {
    expect(await evaluate(state.TimeoutSeconds, { input: { millrace: { timeoutSeconds: 7 } } })).toBe(7);
    const answered = { StatusCode: 200, StatusText: 'OK', Headers: { a: ['b'] }, ResponseBody: [{ id: 1 }] };
    expect(await evaluate(state.Output, { result: answered })).toEqual({
      status: 200,
      headers: { a: ['b'] },
      body: [{ id: 1 }],
    });
    expect(await evaluate(state.Output, { result: { StatusCode: 204, Headers: {} } })).toEqual({
      status: 204,
      headers: {},
    });
  });

  it('tries again only what was never sent', () => {
    expect(state.Retry.flatMap(({ ErrorEquals }) => ErrorEquals)).toEqual([
      'Events.ConnectionResource.AuthInProgress',
      'Events.ConnectionResource.ConcurrentModification',
    ]);
  });
});

describe('the params of its nodes', () => {
  const validator = new Validator(HTTP_PARAMS_SCHEMA as object, '2020-12');

  it.each(['', '/', 'people', '/people/7', 'a.b/c..d/...', 'x%20y', 'v1:run', '/a//b'])(
    'may have the path %j',
    (path) => {
      expect(validator.validate({ path }).valid).toBe(true);
    },
  );

  it.each([
    '..',
    '.',
    '../admin',
    '/..',
    'a/../../admin',
    'a/..',
    '%2e%2e/x',
    'a%2F..',
    'a\\..\\b',
    'x?y=1',
    'x#y',
    'a b',
  ])('may not have the path %j, which leads elsewhere', (path) => {
    expect(validator.validate({ path }).valid).toBe(false);
  });

  it.each([{ method: 'CONNECT' }, { url: 'https://other.example' }, { headers: { a: 1 } }, { query: { a: {} } }])(
    'may not be %j',
    (params) => {
      expect(validator.validate(params).valid).toBe(false);
    },
  );
});

describe('addHttpEngine', () => {
  it('registers a state machine that may call just its API, with just its connection', () => {
    const stack = createStack(createApp());
    const connection = connectionIn(stack);
    stack.millrace.addHttpEngine('crm', { baseUrl: 'https://api.example.com/v2/', connection, maxConcurrent: 3 });
    const template = Template.fromStack(stack);
    const [engine] = resourcesOf(template, 'Custom::MillraceEngine').values();
    expect(propertyOf(engine, 'Name')).toBe('crm');
    expect(JSON.stringify(propertyOf(engine, 'Registration'))).toContain('\\"maxConcurrent\\":3');
    const policies = [...resourcesOf(template, 'AWS::IAM::Policy').values()];
    const own = policies.filter((each) => String(propertyOf(each, 'Roles', 0, 'Ref')).startsWith('HttpEnginescrm'));
    expect(own.map((each) => propertyOf(each, 'PolicyDocument', 'Statement'))).toEqual([
      [
        {
          Effect: 'Allow',
          Action: 'events:RetrieveConnectionCredentials',
          Resource: { 'Fn::GetAtt': [expect.stringMatching(/^Crm/), 'Arn'] },
        },
        {
          Effect: 'Allow',
          Action: ['secretsmanager:DescribeSecret', 'secretsmanager:GetSecretValue'],
          Resource: { 'Fn::GetAtt': [expect.stringMatching(/^Crm/), 'SecretArn'] },
        },
        {
          Effect: 'Allow',
          Action: 'states:InvokeHTTPEndpoint',
          Resource: '*',
          Condition: { StringLike: { 'states:HTTPEndpoint': 'https://api.example.com/v2/*' } },
        },
      ],
    ]);
  });

  it.each<[string, string, Partial<HttpEngineOptions>]>([
    ['a built-in name', 'http', {}],
    ['a name that is none', 'a b', {}],
    ['an address in the clear', 'crm', { baseUrl: 'http://api.example.com' }],
    ['an address with a query', 'crm', { baseUrl: 'https://api.example.com?x=1' }],
    ['an address that ends an expression', 'crm', { baseUrl: "https://api.example.com/'&x" }],
    ['an address with a wildcard', 'crm', { baseUrl: 'https://*.example.com' }],
    ['no address', 'crm', { baseUrl: '' }],
    ['too many slots', 'crm', { maxConcurrent: 1001 }],
  ])('refuses %s', (_name, name, options) => {
    const stack = createStack(createApp());
    const add = () =>
      stack.millrace.addHttpEngine(name, {
        baseUrl: 'https://api.example.com',
        connection: connectionIn(stack),
        ...options,
      });
    expect(add).toThrow(expect.objectContaining({ code: 'INVALID_ENGINE' }));
  });
});
