import { Template } from 'aws-cdk-lib/assertions';
import { beforeAll, describe, expect, it } from 'vitest';
import { createEverything } from './everything.ts';
import { createApp, ECHO, folderOf, propertyOf, resourcesOf, synthesize } from './synthesize.ts';

interface Statement {
  readonly Effect: string;
  readonly Action: string | string[];
  readonly Resource: unknown;
}

const TABLE = [
  'dynamodb:BatchGetItem',
  'dynamodb:BatchWriteItem',
  'dynamodb:DeleteItem',
  'dynamodb:GetItem',
  'dynamodb:PutItem',
  'dynamodb:Query',
  'dynamodb:UpdateItem',
];
const LOGS = ['logs:CreateLogStream', 'logs:PutLogEvents'];
const READ_QUEUE = [
  'sqs:ChangeMessageVisibility',
  'sqs:DeleteMessage',
  'sqs:GetQueueAttributes',
  'sqs:GetQueueUrl',
  'sqs:ReceiveMessage',
];
const USE_PAYLOADS = ['s3:GetObject', 's3:PutObject'];
const RUN = [
  'states:DescribeExecution',
  'states:DescribeStateMachine',
  'states:ListExecutions',
  'states:StartExecution',
  'states:StopExecution',
];

/** Each resource with a wildcard that a role may name, and why it cannot be named outright. */
const WILDCARDS = new Map([
  ['/live/POST/@connections/*', 'connections come and go'],
  ['/live/DELETE/@connections/*', 'connections come and go'],
  [':execution:millrace-lambda-engine:millrace-*', 'executions are made at run time; the prefix keeps to ours'],
  [':stateMachine:millrace-*', 'teams make state machines and register them at run time'],
  [':stateMachine:nightly:*', 'versions and aliases of a state machine that the context names'],
  [':execution:millrace-*:millrace-*', 'executions are made at run time; the prefix keeps to ours'],
  [':execution:nightly:millrace-*', 'executions are made at run time; the prefix keeps to ours'],
  [':stateMachine:nightly-report:*', 'versions and aliases of the one state machine that is an engine'],
  [':stateMachine:HttpEnginescrmStateMachineB49C6580:*', 'versions and aliases of the one state machine of the engine'],
  [
    ':execution:HttpEnginescrmStateMachineB49C6580:millrace-*',
    'executions are made at run time; the prefix keeps to ours',
  ],
  [':execution:nightly-report:millrace-*', 'executions are made at run time; the prefix keeps to ours'],
  [
    'FunctionsschedulerFunction5694BE36:*',
    'EventBridge Scheduler’s target also covers the versions of the one function',
  ],
  ['/outputs/*', 'payloads are made at run time, each under its own hash'],
  ['/inputs/*', 'payloads are made at run time, each under its own hash'],
  ['/$default/POST/v1/runs/*/nodes/*/progress', 'runs and nodes come and go; a report needs the token of its attempt'],
]);

describe('the roles', () => {
  let template: Template;
  beforeAll(() => {
    const functionsDirectory = folderOf({ 'one.ts': ECHO, 'two/index.ts': ECHO });
    template = synthesize({ functionsDirectory, stateMachines: ['nightly'] });
  });

  it.each([
    [
      'FunctionsapiRole',
      [...TABLE, 'events:PutEvents', ...LOGS, 'logs:FilterLogEvents', 'sqs:SendMessage', ...RUN, ...USE_PAYLOADS],
    ],
    [
      'FunctionsschedulerRole',
      [...TABLE, 'events:PutEvents', ...LOGS, ...READ_QUEUE, 'sqs:SendMessage', ...RUN, ...USE_PAYLOADS],
    ],
    ['FunctionsintakeRole', [...TABLE, 'events:PutEvents', ...LOGS, ...READ_QUEUE, 'sqs:SendMessage']],
    [
      'LivenotifierRole',
      [
        ...TABLE,
        'events:DisableRule',
        'events:EnableRule',
        'execute-api:ManageConnections',
        ...LOGS,
        'sqs:SendMessage',
      ],
    ],
    ['LambdaEngineRole', ['lambda:InvokeFunction']],
    ['TickRole', ['lambda:InvokeFunction', 'sqs:SendMessage']],
    ['UserFunctionsoneRole', [...LOGS, ...USE_PAYLOADS, 'execute-api:Invoke']],
    ['UserFunctionstwoRole', [...LOGS, ...USE_PAYLOADS, 'execute-api:Invoke']],
  ])('%s allows just what its edges need', (role, actions) => {
    const allowed = new Set(statementsOf(template, role).flatMap(({ Action }) => Action));
    expect([...allowed].sort()).toEqual(actions.toSorted());
  });

  it('are all listed above', () => {
    expect(resourcesOf(template, 'AWS::IAM::Role').size).toBe(8);
  });

  it('let the engine invoke the team’s functions and no others', () => {
    const [statement] = statementsOf(template, 'LambdaEngineRole');
    const functions = resourcesOf(template, 'AWS::Lambda::Function');
    const named = [statement?.Resource].flat().map((arn) => functions.get(flatten(arn)));
    expect(named.map((each) => propertyOf(each, 'FunctionName'))).toEqual(['one', 'two']);
  });

  it('name no action by wildcard, and no resource but for a reason', () => {
    const seen = new Set<string>();
    for (const statement of statementsOf(Template.fromStack(createEverything(createApp())), '')) {
      expect(statement.Effect).toBe('Allow');
      expect([statement.Action].flat().filter((action) => action.includes('*'))).toEqual([]);
      // A policy of the state machine that needs it; its condition says which addresses it may call.
      if (statement.Resource === '*') {
        expect(statement).toMatchObject({
          Action: 'states:InvokeHTTPEndpoint',
          Condition: { StringLike: { 'states:HTTPEndpoint': 'https://api.example.com/*' } },
        });
        continue;
      }
      for (const text of [statement.Resource]
        .flat()
        .map(flatten)
        .filter((arn) => arn.includes('*'))) {
        const known = [...WILDCARDS.keys()].find((end) => text.endsWith(end));
        expect(known, text).toBeDefined();
        seen.add(known as string);
      }
    }
    expect([...seen].sort()).toEqual([...WILDCARDS.keys()].sort());
  });

  it.each([
    ['UserFunctionsoneRole', 'outputs'],
    ['FunctionsschedulerRole', 'inputs'],
    ['FunctionsapiRole', 'inputs'],
  ])('%s may read all payloads, and put just %s', (role, folder) => {
    const statements = statementsOf(template, role);
    const named = (action: string) =>
      statements
        .filter(({ Action }) => [Action].flat().includes(action))
        .flatMap(({ Resource }) => [Resource].flat().map(flatten))
        .map((arn) => arn.replace(/^PayloadsBucket\w+/, ''));
    expect(named('s3:PutObject')).toEqual([`/${folder}/*`]);
    expect(new Set(named('s3:GetObject'))).toEqual(new Set(['/inputs/*', '/outputs/*']));
  });

  it('have no managed policies', () => {
    for (const role of resourcesOf(template, 'AWS::IAM::Role').values()) {
      expect(role.Properties).not.toHaveProperty('ManagedPolicyArns');
      expect(role.Properties).not.toHaveProperty('Policies');
    }
  });
});

function statementsOf(template: Template, role: string): Statement[] {
  const policies = [...resourcesOf(template, 'AWS::IAM::Policy').values()].filter((policy) =>
    String(propertyOf(policy, 'Roles', 0, 'Ref')).startsWith(role),
  );
  expect(policies.length).toBeGreaterThan(0);
  return policies.flatMap((policy) => propertyOf(policy, 'PolicyDocument', 'Statement') as Statement[]);
}

/** An ARN as text, with logical ids in place of what CloudFormation fills in. */
function flatten(arn: unknown): string {
  if (typeof arn === 'string') return arn;
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = arn as Record<string, never[]>;
  if (Ref) return String(Ref);
  if (attribute) return String(attribute[0]);
  return ((join?.[1] ?? []) as unknown[]).map(flatten).join('');
}
