import type { Template } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, it } from 'vitest';
import { propertyOf, type Resource, resourcesOf, synthesize } from './synthesize.ts';

describe('LiveUpdates', () => {
  let template: Template;
  let routes: Resource[];
  beforeAll(() => {
    template = synthesize();
    const [api] = [...resourcesOf(template, 'AWS::ApiGatewayV2::Api')].filter(
      ([, each]) => propertyOf(each, 'ProtocolType') === 'WEBSOCKET',
    );
    routes = [...resourcesOf(template, 'AWS::ApiGatewayV2::Route').values()].filter(
      (each) => propertyOf(each, 'ApiId', 'Ref') === api?.[0],
    );
  });

  it('opens no connection without a ticket', () => {
    const byKey = new Map(routes.map((route) => [propertyOf(route, 'RouteKey'), route]));
    expect([...byKey.keys()].sort()).toEqual(['$connect', '$default', '$disconnect']);
    expect(propertyOf(byKey.get('$connect'), 'AuthorizationType')).toBe('CUSTOM');
    template.hasResourceProperties('AWS::ApiGatewayV2::Authorizer', {
      AuthorizerType: 'REQUEST',
      IdentitySource: ['route.request.querystring.ticket'],
      Name: 'millrace-ticket',
    });
  });

  it('has a rule that is disabled until somebody subscribes, and that leaves out what the notifier publishes', () => {
    template.hasResourceProperties('AWS::Events::Rule', {
      Name: 'millrace-live',
      State: 'DISABLED',
      EventPattern: { source: [{ 'anything-but': ['millrace.notifier'] }], 'detail-type': ['RunChanged'] },
    });
  });

  it('lets the notifier switch that rule and no other', () => {
    const statements = [...resourcesOf(template, 'AWS::IAM::Policy').values()].flatMap(
      (policy) => propertyOf(policy, 'PolicyDocument', 'Statement') as { Action: unknown; Resource: unknown }[],
    );
    const [switching] = statements.filter(({ Action }) => [Action].flat().includes('events:EnableRule'));
    expect(JSON.stringify(switching?.Resource)).toContain('/millrace-live"');
  });

  it('tells the api and the notifier the address of the stage', () => {
    const told = [...resourcesOf(template, 'AWS::Lambda::Function').values()].filter(
      (each) => propertyOf(each, 'Environment', 'Variables', 'MILLRACE_LIVE_URL') !== undefined,
    );
    expect(told.map((each) => propertyOf(each, 'FunctionName')).sort()).toEqual(['millrace-api', 'millrace-notifier']);
    for (const each of told) {
      const url = propertyOf(each, 'Environment', 'Variables', 'MILLRACE_LIVE_URL');
      expect(JSON.stringify(url)).toMatch(/"LiveApi\w+","ApiEndpoint".*"\/live"/);
    }
  });
});
