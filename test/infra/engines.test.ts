import { CfnParameter, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { DefinitionBody, Pass, StateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions';
import { beforeAll, describe, expect, it } from 'vitest';
import { engineRequestSchema } from '#http/engine-schemas.ts';
import { ApiProblem } from '#http/problem.ts';
import { readJsonBody } from '#http/request-body.ts';
import type { EngineSettings } from '../../infra/constructs/engine-settings.ts';
import type { StateMachineEngineOptions } from '../../infra/constructs/state-machine-engine.ts';
import type { MillraceStack, MillraceStackProps } from '../../infra/stacks/millrace-stack.ts';
import {
  createApp,
  createStack,
  ECHO,
  folderOf,
  nagViolations,
  propertyOf,
  resourcesOf,
  synthesize,
} from './synthesize.ts';

const ARN = 'arn:aws:states:eu-central-1:111122223333:stateMachine:nightly-report';

interface Statement {
  readonly Action: string | string[];
  readonly Resource: unknown;
}

/** A state machine of a team's. */
function machineIn(stack: Stack, type = StateMachineType.STANDARD): StateMachine {
  return new StateMachine(stack, `Machine${type}`, {
    stateMachineType: type,
    definitionBody: DefinitionBody.fromChainable(new Pass(stack, `Pass${type}`)),
  });
}

function statementsOf(template: Template, role: string): Statement[] {
  const policies = [...resourcesOf(template, 'AWS::IAM::Policy').values()].filter((policy) =>
    String(propertyOf(policy, 'Roles', 0, 'Ref')).startsWith(role),
  );
  return policies.flatMap((policy) => propertyOf(policy, 'PolicyDocument', 'Statement') as Statement[]);
}

/** The actions that a role may do on what a text names. */
function actionsOn(template: Template, role: string, named: string): string[] {
  const found = statementsOf(template, role).filter(({ Resource }) => JSON.stringify(Resource).includes(named));
  return found.flatMap(({ Action }) => Action).sort();
}

describe('addStateMachineEngine', () => {
  let template: Template;
  beforeAll(() => {
    const stack = createStack(createApp());
    stack.millrace.addStateMachineEngine('report', { stateMachine: machineIn(stack) });
    const limits = {
      maxConcurrent: 5,
      heartbeatSeconds: 60,
      labels: { team: 'data' },
      paramsSchema: { minProperties: 1 },
    };
    stack.millrace.addStateMachineEngine('nightly', { stateMachineArn: `${ARN}:live`, ...limits });
    template = Template.fromStack(stack);
  });

  const resourceOf = (name: string) => {
    const all = [...resourcesOf(template, 'Custom::MillraceEngine').values()];
    return all.find((each) => propertyOf(each, 'Name') === name);
  };

  it('registers by a resource that holds what the API would be sent, as one text', () => {
    expect(resourcesOf(template, 'Custom::MillraceEngine').size).toBe(2);
    expect(JSON.parse(String(propertyOf(resourceOf('nightly'), 'Registration')))).toEqual({
      stateMachineArn: `${ARN}:live`,
      maxConcurrent: 5,
      labels: { team: 'data' },
      paramsSchema: { minProperties: 1 },
      heartbeatSeconds: 60,
    });
    expect(propertyOf(resourceOf('report'), 'Registration', 'Fn::Join', 1, 1)).toEqual({
      Ref: expect.stringMatching(/^MachineSTANDARD/),
    });
  });

  it('gives up on a registration after minutes, not after an hour', () => {
    expect(propertyOf(resourceOf('nightly'), 'ServiceTimeout')).toBe('300');
  });

  it('registers once its grants are there', () => {
    const needed = (resourceOf('report') as unknown as { DependsOn: string[] }).DependsOn;
    for (const start of [
      'FunctionsapiRoleDefaultPolicy',
      'FunctionsschedulerRoleDefaultPolicy',
      'RegistrarregistrarRoleDefaultPolicy',
    ]) {
      expect(
        needed.some((id) => id.startsWith(start)),
        start,
      ).toBe(true);
    }
  });

  it.each(['FunctionsapiRole', 'FunctionsschedulerRole'])('lets %s run just that machine', (role) => {
    const actions = actionsOn(template, role, 'nightly-report');
    expect(actions).toEqual([
      'states:DescribeExecution',
      'states:DescribeStateMachine',
      'states:ListExecutions',
      'states:StartExecution',
      'states:StopExecution',
    ]);
    expect(actionsOn(template, role, 'MachineSTANDARD')).toEqual(actions);
    const executions = JSON.stringify(statementsOf(template, role)).match(/:execution:nightly-report:[^"]*/g);
    expect(executions).toEqual([':execution:nightly-report:millrace-*']);
  });

  it('lets the registrar look at the machines, and reach table, bus and inbox', () => {
    expect(actionsOn(template, 'RegistrarregistrarRole', 'nightly-report')).toEqual(['states:DescribeStateMachine']);
    const actions = statementsOf(template, 'RegistrarregistrarRole').flatMap(({ Action }) => Action);
    const services = new Set(actions.map((action) => action.split(':')[0]));
    expect([...services].sort()).toEqual(['dynamodb', 'events', 'logs', 'sqs', 'states']);
    expect(actions.filter((action) => action.startsWith('states:'))).toEqual(['states:DescribeStateMachine']);
  });

  it('makes one registrar, and none where there is no engine', () => {
    const named = (of: Template) =>
      [...resourcesOf(of, 'AWS::Lambda::Function').values()].filter(
        (each) => propertyOf(each, 'FunctionName') === 'millrace-registrar',
      );
    expect(named(template).length).toBe(1);
    expect(named(synthesize()).length).toBe(0);
    expect(() => synthesize({ functionsDirectory: folderOf({ 'millrace-registrar.ts': ECHO }) })).toThrow(
      'millrace-registrar',
    );
  });

  it.each<[string, MillraceStackProps['env']]>([
    ['any account and region', undefined],
    ['one that is named', { account: '111122223333', region: 'eu-central-1' }],
  ])('takes state machines that are made elsewhere, in %s', (_name, env) => {
    const app = createApp();
    const place = env ? { env } : {};
    const stack = createStack(app, place);
    const other = new Stack(app, 'Other', place);
    stack.millrace.addStateMachineEngine('other-stack', { stateMachine: machineIn(other) });
    stack.millrace.addStateMachineEngine('imported', {
      stateMachine: StateMachine.fromStateMachineArn(stack, 'Imported', ARN),
    });
    stack.millrace.addStateMachineEngine('told', { stateMachineArn: new CfnParameter(stack, 'Told').valueAsString });
    const made = Template.fromStack(stack);
    expect(resourcesOf(made, 'Custom::MillraceEngine').size).toBe(3);
    expect(actionsOn(made, 'FunctionsapiRole', ':nightly-report')).toHaveLength(5);
    expect(actionsOn(made, 'FunctionsapiRole', '"Told"')).toHaveLength(5);
  });

  it('breaks no rule of cdk-nag that it does not answer for', () => {
    const app = createApp(true);
    const stack = createStack(app);
    stack.millrace.addStateMachineEngine('nightly', { stateMachineArn: ARN });
    stack.millrace.addStateMachineEngine('report', { stateMachineArn: engineOf(stack) });
    expect(nagViolations(app)).toEqual([]);
  });
});

/** The ARN of a state machine that is made in the stack and breaks no rule. */
function engineOf(stack: MillraceStack): string {
  const machine = stack.millrace.node.findChild('LambdaEngine') as unknown as { stateMachine: StateMachine };
  return machine.stateMachine.stateMachineArn;
}

describe('an engine that the API would refuse', () => {
  const stack = createStack(createApp());
  const refusal = (name: string, options: StateMachineEngineOptions): string => {
    try {
      stack.millrace.addStateMachineEngine(name, options);
      return 'taken';
    } catch (error) {
      const { code, message } = error as { code?: string; message: string };
      return `${code}: ${message}`;
    }
  };

  it.each<[string, string]>([
    ['lambda', 'The engine "lambda" is built in; it cannot be changed.'],
    ['http', 'The engine "http" is built in; it cannot be changed.'],
    ['a b', 'name: a name is 1 to 128 letters'],
    ['-x', 'name: a name is'],
    ['x'.repeat(129), 'name: a name is'],
  ])('is refused by its name %s', (name, message) => {
    expect(refusal(name, { stateMachineArn: ARN })).toContain(`INVALID_ENGINE: ${message}`);
  });

  it.each<[string, EngineSettings & { stateMachineArn?: string }]>([
    ['no slots', { maxConcurrent: 0 }],
    ['too many slots', { maxConcurrent: 1001 }],
    ['half a slot', { maxConcurrent: 1.5 }],
    ['too short a period', { heartbeatSeconds: 9 }],
    ['too long a period', { heartbeatSeconds: 86_401 }],
    ['a label without a key', { labels: { '': 'x' } }],
    ['a label with too long a text', { labels: { a: 'x'.repeat(257) } }],
    ['an ARN that is none', { stateMachineArn: 'nightly-report' }],
  ])('is refused with %s, in the words of the API', (_name, settings) => {
    const options = { stateMachineArn: ARN, ...settings };
    expect(refusal('bad', options)).toBe(`INVALID_ENGINE: ${apiRefusal(options)}`);
  });

  it('is refused with labels that the stack has no room for', () => {
    const labels = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`k${at}`, '']));
    expect(refusal('bad', { stateMachineArn: ARN, labels })).toContain('at most 20 labels');
    expect(refusal('bad', { stateMachineArn: ARN, labels: { cloudformation: 'x' } })).toContain('is set by the stack');
  });

  it('is refused with too large a schema', () => {
    const paramsSchema = { description: 'x'.repeat(65_536) };
    expect(refusal('bad', { stateMachineArn: ARN, paramsSchema })).toContain('the schema of the params has 65');
  });

  it('is refused with an EXPRESS state machine, where that can be seen', () => {
    const express = machineIn(stack, StateMachineType.EXPRESS);
    expect(refusal('bad', { stateMachine: express })).toContain('is an EXPRESS state machine; engines are STANDARD');
  });

  it('is refused without a state machine, and with two', () => {
    expect(refusal('bad', {} as StateMachineEngineOptions)).toContain('either stateMachine or stateMachineArn');
    const both = { stateMachine: machineIn(stack), stateMachineArn: ARN } as unknown as StateMachineEngineOptions;
    expect(refusal('bad', both)).toContain('either stateMachine or stateMachineArn');
  });

  it('is refused the second time', () => {
    expect(refusal('twice', { stateMachineArn: ARN })).toBe('taken');
    expect(refusal('twice', { stateMachineArn: ARN })).toContain('twice');
  });
});

/** What the API says to a body. */
function apiRefusal(body: object): string {
  try {
    const headers = new Map([['content-type', 'application/json']]);
    const bytes = Buffer.from(JSON.stringify(body));
    readJsonBody(
      { method: 'PUT', path: '', query: new URLSearchParams(), headers, body: bytes, requestId: '' },
      engineRequestSchema,
    );
    return 'taken';
  } catch (error) {
    if (error instanceof ApiProblem) return error.message;
    throw error;
  }
}
