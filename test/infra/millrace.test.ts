import { join } from 'node:path';
import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { ManagedPolicy } from 'aws-cdk-lib/aws-iam';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { beforeAll, describe, expect, it } from 'vitest';
import { compileEventPattern } from '#local/event-pattern.ts';
import { Millrace, type MillraceProps } from '../../infra/index.ts';
import { allResources, createApp, ECHO, folderOf, propertyOf, type Resource, resourcesOf } from './synthesize.ts';

const entry = join(folderOf({ 'index.ts': ECHO }), 'index.ts');
const ownEntries = { api: entry, scheduler: entry, intake: entry, registrar: entry, notifier: entry };

/** A stack of somebody's, with what is made in it. */
function stackWith(make: (stack: Stack) => unknown): Template {
  const stack = new Stack(createApp(), 'Shop');
  make(stack);
  return Template.fromStack(stack);
}

const synthesizeWith = (props: MillraceProps) =>
  stackWith((stack) => new Millrace(stack, 'Millrace', { ownEntries, ...props }));

describe('Millrace in a stack of somebody’s', () => {
  it('needs nothing to be said', () => {
    const template = synthesizeWith({});
    template.hasResourceProperties('AWS::DynamoDB::Table', { TableName: 'millrace' });
    template.hasResourceProperties('AWS::Scheduler::Schedule', { ScheduleExpression: 'rate(1 minute)' });
    expect(template.findOutputs('*')).toEqual({});
  });

  it('keeps its logs as long as is said', () => {
    const functionsDirectory = folderOf({ 'one.ts': ECHO });
    const groups = resourcesOf(
      synthesizeWith({ logRetention: RetentionDays.TWO_YEARS, functionsDirectory }),
      'AWS::Logs::LogGroup',
    );
    expect(groups.size).toBeGreaterThanOrEqual(5);
    for (const [id, group] of groups) expect(propertyOf(group, 'RetentionInDays'), id).toBe(731);
  });

  it('ticks as often as is said, and tells its functions', () => {
    const template = synthesizeWith({ tickRate: Duration.minutes(5) });
    template.hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: 'rate(5 minutes)',
      Target: { RetryPolicy: { MaximumEventAgeInSeconds: 300 } },
    });
    template.hasResourceProperties('AWS::Lambda::Function', {
      FunctionName: 'millrace-scheduler',
      Environment: { Variables: { MILLRACE_TICK_SECONDS: '300' } },
    });
  });

  it('bounds all roles, those of functions and engines too', () => {
    const template = stackWith((stack) => {
      const arn = 'arn:aws:iam::111122223333:policy/boundary';
      const permissionsBoundary = ManagedPolicy.fromManagedPolicyArn(stack, 'Boundary', arn);
      const millrace = new Millrace(stack, 'Millrace', { ownEntries, permissionsBoundary });
      millrace.addFunctionsFromDirectory(folderOf({ 'one.ts': ECHO }));
      millrace.addPipeline({ name: 'etl', nodes: [{ id: 'a', engine: 'pass' }] });
    });
    const roles = resourcesOf(template, 'AWS::IAM::Role');
    expect(roles.size).toBeGreaterThan(6);
    for (const [id, role] of roles) {
      expect(propertyOf(role, 'PermissionsBoundary'), id).toBe('arn:aws:iam::111122223333:policy/boundary');
    }
  });

  it('keeps table and bucket, unless it is to be destroyed', () => {
    const kept = synthesizeWith({ removalPolicy: RemovalPolicy.RETAIN });
    const gone = synthesizeWith({ removalPolicy: RemovalPolicy.DESTROY });
    for (const type of ['AWS::DynamoDB::Table', 'AWS::S3::Bucket']) {
      kept.hasResource(type, { DeletionPolicy: 'Retain' });
      gone.hasResource(type, { DeletionPolicy: 'Delete' });
    }
    kept.hasResourceProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: true });
    gone.hasResourceProperties('AWS::DynamoDB::Table', { DeletionProtectionEnabled: false });
  });

  it.each<[MillraceProps, string, RegExp]>([
    [{ installation: 'Mill-race' }, 'INVALID_INSTALLATION', /"Mill-race"; it must be 1 to 20/],
    [
      { eventStartsPerMinute: 0 },
      'INVALID_PROPS',
      /"eventStartsPerMinute" is 0; it must be a whole number from 1 to 1000/,
    ],
    [
      { tickRate: Duration.seconds(30) },
      'INVALID_PROPS',
      /"tickRate" is 0.5; it must be a whole number of minutes from 1 to 15/,
    ],
    [{ tickRate: Duration.minutes(16) }, 'INVALID_PROPS', /"tickRate" is 16/],
    [{ stateMachines: ['a b'] }, 'INVALID_PROPS', /prop "stateMachines" is \["a b"\]/],
  ])('refuses %j', (props, code, message) => {
    expect(() => synthesizeWith(props)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });

  it('takes functions of several directories, each name once', () => {
    const template = stackWith((stack) => {
      const millrace = new Millrace(stack, 'Millrace', {
        ownEntries,
        functionsDirectory: folderOf({ 'one.ts': ECHO }),
      });
      expect([...millrace.addFunctionsFromDirectory(folderOf({ 'two.ts': ECHO })).keys()]).toEqual(['two']);
      expect([...millrace.functions.keys()]).toEqual(['one', 'two']);
      expect(() => millrace.addFunctionsFromDirectory(folderOf({ 'one.ts': ECHO }))).toThrow(
        expect.objectContaining({ code: 'DUPLICATE_FUNCTION_NAME' }),
      );
    });
    for (const FunctionName of ['one', 'two'])
      template.hasResourceProperties('AWS::Lambda::Function', { FunctionName });
  });
});

describe('two installations in one stack', () => {
  let template: Template;
  beforeAll(() => {
    template = stackWith((stack) => {
      const first = new Millrace(stack, 'First', { ownEntries, installation: 'first' });
      const second = new Millrace(stack, 'Second', { ownEntries, installation: 'firsts' });
      const filter = { source: ['acme.shop'], 'detail-type': ['OrderPlaced'] };
      first.addTrigger('orders', { pipeline: 'etl', filter });
      second.addTrigger('orders', { pipeline: 'etl', filter });
      first.addPipeline({ name: 'etl', nodes: [{ id: 'a', engine: 'pass' }] });
      second.addPipeline({ name: 'etl', nodes: [{ id: 'a', engine: 'pass' }] });
    });
  });

  const ofOther = { First: 'Second', Second: 'First' } as const;
  const resourcesIn = (scope: string): [string, Resource][] =>
    [...allResources(template)].filter(([id]) => id.startsWith(scope));

  it.each(['First', 'Second'] as const)(
    '%s names nothing of the other: no queue, table, bus, function, role',
    (scope) => {
      const own = resourcesIn(scope);
      expect(own.length).toBeGreaterThan(40);
      const named = new RegExp(`"${ofOther[scope]}[A-Za-z0-9]+"`);
      expect(own.filter(([, resource]) => named.test(JSON.stringify(resource))).map(([id]) => id)).toEqual([]);
    },
  );

  it('share no physical name', () => {
    const properties = [
      'Name',
      'TableName',
      'QueueName',
      'FunctionName',
      'StateMachineName',
      'LogGroupName',
      'AlarmName',
      'DashboardName',
    ];
    const names = [...allResources(template).values()].flatMap((resource) =>
      properties
        .map((property) => [resource.Type, property, propertyOf(resource, property)] as const)
        .filter(([, , name]) => typeof name === 'string'),
    );
    const named = names
      .filter(([type]) => !['AWS::ApiGatewayV2::Stage', 'Custom::MillracePipeline'].includes(type))
      .map((each) => each.join(' '));
    expect(named.length).toBeGreaterThan(50);
    expect(new Set(named).size).toBe(named.length);
  });

  it.each([
    ['first', 'First'],
    ['firsts', 'Second'],
  ])('the end of an execution of %s is heard by it alone', (installation, scope) => {
    const event = {
      source: 'aws.states',
      'detail-type': 'Step Functions Execution Status Change',
      detail: { status: 'SUCCEEDED', name: `${installation}-abcdefghijklmnopqrstuvwxyz-abcdefgh-0-1` },
    };
    expect(takersOnDefaultBus(event).map((id) => id.slice(0, scope.length))).toEqual([scope]);
  });

  it('an event of the account starts a pipeline of each that asked for it, once', () => {
    const takers = takersOnDefaultBus({ source: 'acme.shop', 'detail-type': 'OrderPlaced', detail: {} });
    expect(takers.map((id) => id.match(/^[A-Z][a-z]+/)?.[0])).toEqual(['First', 'Second']);
  });

  it('each has its own bus, to which its rules belong', () => {
    const buses = [...resourcesOf(template, 'AWS::Events::EventBus')].map(([id, bus]) => [id, propertyOf(bus, 'Name')]);
    expect(buses).toEqual([
      [expect.stringMatching(/^First/), 'first'],
      [expect.stringMatching(/^Second/), 'firsts'],
    ]);
  });

  it('of one name are refused', () => {
    expect(() =>
      stackWith((stack) => {
        new Millrace(stack, 'First', { ownEntries });
        new Millrace(stack, 'Second', { ownEntries });
      }),
    ).toThrow(expect.objectContaining({ code: 'INVALID_INSTALLATION' }));
  });

  function takersOnDefaultBus(event: Record<string, unknown>): string[] {
    return [...resourcesOf(template, 'AWS::Events::Rule')]
      .filter(([, rule]) => propertyOf(rule, 'EventBusName') === undefined)
      .filter(([, rule]) => compileEventPattern(propertyOf(rule, 'EventPattern'))(event))
      .map(([id]) => id);
  }
});

it('is kept out of another account’s way: nothing in the template is open to everybody', () => {
  const template = synthesizeWith({});
  for (const [id, each] of allResources(template)) {
    if (each.Type === 'AWS::Lambda::Permission') expect(propertyOf(each, 'SourceArn'), id).toBeDefined();
  }
  // Those of a WebSocket that is open already: its `$connect` asks for a ticket.
  const open = [...resourcesOf(template, 'AWS::ApiGatewayV2::Route').values()].filter(
    (each) => propertyOf(each, 'AuthorizationType') === 'NONE',
  );
  const apis = open.map((each) => allResources(template).get(String(propertyOf(each, 'ApiId', 'Ref'))));
  for (const api of apis) expect(propertyOf(api, 'ProtocolType')).toBe('WEBSOCKET');
});
