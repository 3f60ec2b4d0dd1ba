import { Template } from 'aws-cdk-lib/assertions';
import { Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { describe, expect, it } from 'vitest';
import { ROUTES } from '#http/routes.ts';
import { ADMIN_CALLS, READ_CALLS, RUN_CALLS, START_CALLS } from '../../infra/constructs/api-permissions.ts';
import type { Millrace } from '../../infra/index.ts';
import { createApp, createStack, propertyOf, resourcesOf } from './synthesize.ts';

interface Statement {
  readonly Action: string | string[];
  readonly Resource: unknown;
  readonly Condition?: unknown;
}

/** Who may call a route: the least permission. A route that is not here was forgotten. */
const LEAST: Readonly<Record<string, 'read' | 'start' | 'run' | 'admin'>> = {
  validatePipeline: 'read',
  listPipelines: 'read',
  getPipeline: 'read',
  listRevisions: 'read',
  listRuns: 'read',
  getRun: 'read',
  getRunOutput: 'read',
  listNodes: 'read',
  getNode: 'read',
  getOutput: 'read',
  listAttempts: 'read',
  listItems: 'read',
  getHistory: 'read',
  explainRun: 'read',
  getLogs: 'read',
  getEngine: 'read',
  listEngines: 'read',
  getPool: 'read',
  listPools: 'read',
  getHealth: 'read',
  getOpenApi: 'read',
  createLiveTicket: 'read',
  startRun: 'start',
  startBackfill: 'run',
  stopRun: 'run',
  pauseRun: 'run',
  resumeRun: 'run',
  rerun: 'run',
  markNode: 'run',
  answerNode: 'run',
  reportProgress: 'run',
  putPipeline: 'admin',
  pausePipeline: 'admin',
  resumePipeline: 'admin',
  deletePipeline: 'admin',
  deleteRun: 'admin',
  putEngine: 'admin',
  removeEngine: 'admin',
  drainEngine: 'admin',
  heartbeatEngine: 'admin',
  putPool: 'admin',
};

const GROUPS = { read: READ_CALLS, start: START_CALLS, run: RUN_CALLS, admin: ADMIN_CALLS };

/** Whether a statement for these calls allows one, as IAM reads `*`. */
function allows(calls: readonly string[], call: string): boolean {
  return calls.some((each) => {
    const pattern = each.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
    return new RegExp(`^${pattern.join('.*')}$`).test(call);
  });
}

function groupsOf({ method, path }: { readonly method: string; readonly path: string }): string[] {
  const call = `${method} ${path.replaceAll(/\{\w+\}/g, 'x-1')}`;
  return Object.entries(GROUPS).flatMap(([name, calls]) => (allows(calls, call) ? [name] : []));
}

const EXPECTED = {
  read: ['read', 'run', 'admin'],
  start: ['start', 'run', 'admin'],
  run: ['run', 'admin'],
  admin: ['admin'],
} as const;

describe('the permissions of the API', () => {
  it.each(ROUTES.map((route) => [route.operationId, route] as const))(
    '%s is in the groups that it belongs to',
    (id, route) => {
      expect(groupsOf(route)).toEqual(EXPECTED[LEAST[id] ?? expect.unreachable(`${id} has no group`)]);
    },
  );
});

/** The statements of a role that was granted something. */
function statementsOf(grant: (millrace: Millrace, role: Role) => unknown): Statement[] {
  const stack = createStack(createApp());
  const role = new Role(stack, 'Caller', { assumedBy: new ServicePrincipal('ec2.amazonaws.com') });
  grant(stack.millrace, role);
  const policies = [...resourcesOf(Template.fromStack(stack), 'AWS::IAM::Policy').values()];
  const own = policies.filter((each) => String(propertyOf(each, 'Roles', 0, 'Ref')).startsWith('Caller'));
  return own.flatMap((each) => propertyOf(each, 'PolicyDocument', 'Statement') as Statement[]);
}

const callsIn = (statements: readonly Statement[]) =>
  statements
    .filter(({ Action }) => Action === 'execute-api:Invoke')
    .flatMap(({ Resource }) => [Resource].flat())
    .map((arn) =>
      JSON.stringify(arn)
        .match(/\/\$default\/([^"]*)/)?.[1]
        ?.replace('/', ' /'),
    );

describe('a grant', () => {
  it('to start allows starting, over the API and by its event, and nothing else', () => {
    const statements = statementsOf((millrace, role) => millrace.grantStart(role));
    expect(statements).toHaveLength(2);
    expect(callsIn(statements)).toEqual(['POST /v1/pipelines/*/runs']);
    const publish = statements.find(({ Action }) => Action === 'events:PutEvents');
    expect(publish?.Condition).toEqual({ StringEquals: { 'events:detail-type': ['RunRequested'] } });
    expect(publish?.Resource).toEqual({ 'Fn::GetAtt': [expect.stringMatching(/^EventsBus/), 'Arn'] });
  });

  it('to run allows the two requests, and no event that only Millrace may publish', () => {
    const statements = statementsOf((millrace, role) => millrace.grantRun(role));
    expect(callsIn(statements).sort()).toEqual([...RUN_CALLS].sort());
    expect(statements.find(({ Action }) => Action === 'events:PutEvents')?.Condition).toEqual({
      StringEquals: { 'events:detail-type': ['RunRequested', 'StopRequested'] },
    });
  });

  it.each([
    ['read', (millrace: Millrace, role: Role) => millrace.grantRead(role), READ_CALLS],
    ['admin', (millrace: Millrace, role: Role) => millrace.grantAdmin(role), ADMIN_CALLS],
  ] as const)('to %s allows calls of the API alone', (_name, grant, calls) => {
    const statements = statementsOf(grant);
    expect(statements.map(({ Action }) => Action)).toEqual(['execute-api:Invoke']);
    expect(callsIn(statements).sort()).toEqual([...calls].sort());
  });
});

describe('addLambdaEngine', () => {
  const codeOf = () => Code.fromInline('exports.handler = async () => {};');
  const runtime = Runtime.NODEJS_24_X;

  it('lets the engine invoke a function of the app, which may return large outputs and report progress', () => {
    const stack = createStack(createApp());
    const target = new LambdaFunction(stack, 'Target', {
      functionName: 'clean',
      runtime,
      handler: 'index.handler',
      code: codeOf(),
    });
    stack.millrace.addLambdaEngine(target);
    const template = Template.fromStack(stack);
    const of = (role: string) => policyText(template, role);
    expect(of('LambdaEngineRole')).toMatch(/"lambda:InvokeFunction".*"Target/);
    expect(of('FunctionsapiRole')).toContain(':log-group:/aws/lambda/');
    expect(of('TargetServiceRole')).toMatch(/s3:PutObject/);
    expect(of('TargetServiceRole')).toMatch(/POST\/v1\/runs\/\*\/nodes\/\*\/progress/);
    template.hasResourceProperties('AWS::Lambda::Function', {
      FunctionName: 'clean',
      Environment: { Variables: { MILLRACE_PAYLOAD_BUCKET: {}, MILLRACE_API_URL: {} } },
    });
  });

  it('lets it invoke a function that is made elsewhere, and changes nothing about that', () => {
    const stack = createStack(createApp());
    const arn = 'arn:aws:lambda:eu-central-1:111122223333:function:legacy';
    stack.millrace.addLambdaEngine(LambdaFunction.fromFunctionArn(stack, 'Legacy', arn));
    const template = Template.fromStack(stack);
    expect(policyText(template, 'LambdaEngineRole')).toContain(arn);
    expect(policyText(template, 'FunctionsapiRole')).toContain(':log-group:/aws/lambda/legacy:*');
    expect(resourcesOf(template, 'AWS::Lambda::Function').size).toBe(4);
  });
});

function policyText(template: Template, role: string): string {
  const policies = [...resourcesOf(template, 'AWS::IAM::Policy').values()];
  return JSON.stringify(policies.filter((each) => String(propertyOf(each, 'Roles', 0, 'Ref')).startsWith(role)));
}
