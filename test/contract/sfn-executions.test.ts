import { SFNClient } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallAllowance } from '#adapters/aws/call-allowance.ts';
import { createSfnExecutions, toExecutionArn } from '#adapters/aws/sfn-executions.ts';
import type { Executions } from '#ports/index.ts';
import { ODD_TEXTS } from './sample-run.ts';
import { failure, type ServiceAnswer, startScriptedService } from './scripted-service.ts';

const MACHINE = 'arn:aws:states:eu-central-1:123456789012:stateMachine:millrace-lambda';
const EXECUTION = 'arn:aws:states:eu-central-1:123456789012:execution:millrace-lambda:millrace-run-1';
const STARTED = Date.UTC(2026, 10, 30, 8, 0, 0, 250);

let service: Awaited<ReturnType<typeof startScriptedService>>;
let client: SFNClient;
let executions: Executions;

beforeAll(async () => {
  service = await startScriptedService('AWSStepFunctions');
  client = new SFNClient(service.clientConfig);
  executions = createSfnExecutions(client);
});

afterAll(async () => {
  client.destroy();
  await service.close();
});

/** Throttles, in all the clothes they have been seen in. */
const THROTTLES: readonly [string, ServiceAnswer][] = [
  ['its own code', failure('ThrottlingException', 'Rate exceeded')],
  ['too many requests', failure('TooManyRequestsException', 'slow down, please')],
  ['the limit of open executions', failure('ExecutionLimitExceeded', 'The maximum number of open executions')],
  ['a text in another code', failure('ValidationException', 'Invalid parameter: Rate exceeded (Service: AWSLambda)')],
  ['another text in another code', failure('InvalidParameterException', 'request was throttled by the provider')],
  ['HTTP 429', failure('SomethingElse', 'no', 429)],
  ['HTTP 503', failure('ServiceUnavailable', 'no', 503)],
  ['HTTP 500', failure('InternalFailure', 'no', 500)],
  ['KMS', failure('KmsThrottlingException', 'no')],
  ['an expired token of our own', failure('ExpiredTokenException', 'The security token has expired')],
  ['an answer that is cut off', { text: '{"executionArn": "arn:', status: 200 }],
  ['the page of some proxy', { text: '<html>Forbidden</html>', status: 403 }],
];

/** Refusals; the service's own words are kept. */
const REFUSALS: readonly [string, string][] = [
  ['StateMachineDoesNotExist', "State Machine Does Not Exist: 'arn:aws:states:::stateMachine:throttled'"],
  ['StateMachineDeleting', 'State machine is being deleted'],
  ['AccessDeniedException', 'User is not authorized to perform: states:StartExecution; rate exceeded is not the cause'],
  ['InvalidExecutionInput', 'Invalid JSON'],
  ['InvalidName', 'Invalid Name'],
  ['InvalidArn', 'Invalid Arn'],
  ['ValidationException', '1 validation error detected'],
  ['KmsAccessDeniedException', 'no key'],
];

describe('SfnExecutions', () => {
  describe('start', () => {
    it('sends the name and the very input', async () => {
      service.script(() => ({ body: { executionArn: EXECUTION, startDate: STARTED / 1000 } }));
      const input = JSON.stringify({ millrace: {}, params: { odd: ODD_TEXTS } });
      expect(await executions.start(MACHINE, 'millrace-run-1', input)).toEqual({ kind: 'started' });
      expect(service.calls).toEqual([
        { api: 'StartExecution', body: { stateMachineArn: MACHINE, name: 'millrace-run-1', input } },
      ]);
    });

    it('tells that the name is taken', async () => {
      service.script(() => failure('ExecutionAlreadyExists', `Execution Already Exists: '${EXECUTION}'`));
      expect(await executions.start(MACHINE, 'millrace-run-1', '{}')).toEqual({ kind: 'exists' });
    });

    it.each(THROTTLES)('is to be asked again later after %s, and asks once', async (_, answer) => {
      service.script(() => answer);
      expect(await executions.start(MACHINE, 'millrace-run-1', '{}')).toMatchObject({ kind: 'later' });
      expect(service.calls).toHaveLength(1);
    });

    it.each(REFUSALS)('is refused by %s', async (code, message) => {
      service.script(() => failure(code, message));
      const isGone = code === 'StateMachineDoesNotExist' || code === 'StateMachineDeleting';
      const refused = { kind: 'refused', message, ...(isGone && { isMachineGone: true }) };
      expect(await executions.start(MACHINE, 'millrace-run-1', '{}')).toEqual(refused);
    });

    it('is to be asked again where nobody listens', async () => {
      const deaf = new SFNClient({ ...service.clientConfig, endpoint: 'http://127.0.0.1:1' });
      expect(await createSfnExecutions(deaf).start(MACHINE, 'x', '{}')).toMatchObject({ kind: 'later' });
      expect(await createSfnExecutions(deaf).describe(MACHINE, 'x')).toMatchObject({ kind: 'unanswered' });
      expect(await createSfnExecutions(deaf).stop(MACHINE, 'x', 'why')).toBe('unanswered');
    });
  });

  describe('describe', () => {
    const described = (fields: object): ServiceAnswer => ({
      body: { executionArn: EXECUTION, stateMachineArn: MACHINE, startDate: STARTED / 1000, ...fields },
    });
    const stopDate = (STARTED + 1_500) / 1000;
    const ended = { kind: 'ended', startedAt: STARTED, endedAt: STARTED + 1_500 };

    it('asks by the ARN of the execution', async () => {
      service.script(() => described({ status: 'RUNNING' }));
      expect(await executions.describe(MACHINE, 'millrace-run-1')).toEqual({ kind: 'running', startedAt: STARTED });
      expect(service.calls).toEqual([{ api: 'DescribeExecution', body: { executionArn: EXECUTION } }]);
    });

    it('gives the output of a success as it is', async () => {
      const output = JSON.stringify({ odd: ODD_TEXTS });
      service.script(() => described({ status: 'SUCCEEDED', stopDate, output }));
      expect(await executions.describe(MACHINE, 'x')).toEqual({ ...ended, status: 'SUCCEEDED', output });
    });

    it.each([
      [
        { error: 'BadInput', cause: 'row 7' },
        { name: 'BadInput', message: 'row 7' },
      ],
      [{}, { name: 'States.TaskFailed', message: '' }],
      [
        { error: '', cause: '' },
        { name: 'States.TaskFailed', message: '' },
      ],
      [
        { error: 'TypeError', cause: '{"errorType":"TypeError","errorMessage":"x is no function","trace":["a"]}' },
        { name: 'TypeError', message: 'x is no function' },
      ],
      [
        { error: 'E', cause: '{"errorMessage":5}' },
        { name: 'E', message: '{"errorMessage":5}' },
      ],
      [
        { error: 'E', cause: '{not JSON' },
        { name: 'E', message: '{not JSON' },
      ],
    ])('gives the error of a failure: %j', async (fields, error) => {
      service.script(() => described({ status: 'FAILED', stopDate, ...fields }));
      expect(await executions.describe(MACHINE, 'x')).toEqual({ ...ended, status: 'FAILED', error });
    });

    it('cuts a long message between characters', async () => {
      service.script(() => described({ status: 'FAILED', stopDate, error: 'E', cause: `x${'🚀'.repeat(5_000)}` }));
      const seen = await executions.describe(MACHINE, 'x');
      const message = seen.kind === 'ended' ? (seen.error?.message ?? '') : '';
      expect(message.length).toBeLessThanOrEqual(2_000);
      expect(message.isWellFormed()).toBe(true);
      expect(message.endsWith('…')).toBe(true);
    });

    it('T43 knows time-outs and aborts', async () => {
      service.script(() => described({ status: 'TIMED_OUT', stopDate }));
      expect(await executions.describe(MACHINE, 'x')).toEqual({ ...ended, status: 'TIMED_OUT' });
      service.script(() => described({ status: 'ABORTED', stopDate, error: 'Millrace.Stopped', cause: 'why' }));
      expect(await executions.describe(MACHINE, 'x')).toEqual({
        ...ended,
        status: 'ABORTED',
        error: { name: 'Millrace.Stopped', message: 'why' },
      });
    });

    it('T48 tells a missing execution from a question that was not answered', async () => {
      service.script(() => failure('ExecutionDoesNotExist', 'Execution Does Not Exist'));
      expect(await executions.describe(MACHINE, 'x')).toEqual({ kind: 'missing' });
      for (const [, answer] of THROTTLES) {
        service.script(() => answer);
        expect(await executions.describe(MACHINE, 'x')).toMatchObject({ kind: 'unanswered' });
      }
      service.script(() => failure('AccessDeniedException', 'not authorized'));
      expect(await executions.describe(MACHINE, 'x')).toEqual({ kind: 'unanswered', message: 'not authorized' });
    });

    it('takes an answer that it does not understand for none', async () => {
      service.script(() => described({ status: 'SLEEPING' }));
      expect(await executions.describe(MACHINE, 'x')).toMatchObject({ kind: 'unanswered' });
      service.script(() => ({ body: {} }));
      expect(await executions.describe(MACHINE, 'x')).toMatchObject({ kind: 'unanswered' });
    });
  });

  describe('listRunning', () => {
    const page = (name: string, nextToken?: string): ServiceAnswer => ({
      body: {
        executions: [
          { executionArn: EXECUTION, stateMachineArn: MACHINE, name, status: 'RUNNING', startDate: STARTED / 1000 },
        ],
        nextToken,
      },
    });

    it('asks for what runs, a thousand at a time, as long as there is more', async () => {
      service.script(({ body }) => (body['nextToken'] === undefined ? page('a', 'more') : page('b')));
      const startedAt = new Map([
        ['a', STARTED],
        ['b', STARTED],
      ]);
      expect(await executions.listRunning(MACHINE, 5)).toEqual({ kind: 'listed', startedAt });
      const asked = { stateMachineArn: MACHINE, statusFilter: 'RUNNING', maxResults: 1_000 };
      expect(service.calls.map(({ body }) => body)).toEqual([asked, { ...asked, nextToken: 'more' }]);
    });

    it('asks once where nobody says how often', async () => {
      service.script(() => page('a', 'more'));
      await executions.listRunning(MACHINE);
      expect(service.calls).toHaveLength(1);
    });

    it('gives the pages that it got', async () => {
      service.script(({ body }) =>
        body['nextToken'] === undefined ? page('a', 'more') : failure('ThrottlingException', 'Rate exceeded'),
      );
      expect(await executions.listRunning(MACHINE, 5)).toEqual({
        kind: 'listed',
        startedAt: new Map([['a', STARTED]]),
      });
    });

    it('knows nothing where it is not answered, or not understood', async () => {
      const answers = [...THROTTLES.map(([, answer]) => answer), failure('AccessDeniedException', 'no'), { body: {} }];
      for (const answer of answers) {
        service.script(() => answer);
        expect(await executions.listRunning(MACHINE, 5)).toMatchObject({ kind: 'unanswered' });
      }
    });
  });

  describe('within an allowance', () => {
    const none: CallAllowance = { take: async () => false, throttled: () => {} };

    it('makes no call that it may not make', async () => {
      service.script(() => failure('InternalFailure', 'nobody may ask', 500));
      const silent = createSfnExecutions(client, none);
      expect(await silent.start(MACHINE, 'a', '{}')).toEqual({
        kind: 'later',
        message: 'this instance has used up its share of StartExecution',
      });
      expect(await silent.describe(MACHINE, 'a')).toMatchObject({ kind: 'unanswered' });
      expect(await silent.listRunning(MACHINE)).toMatchObject({ kind: 'unanswered' });
      expect(await silent.stop(MACHINE, 'a', 'why')).toBe('unanswered');
      expect(service.calls).toEqual([]);
    });

    it('asks for what kind of call it is, and lets only looks that somebody waits for wait', async () => {
      const asked: unknown[] = [];
      const watched = createSfnExecutions(client, { ...none, take: async (...args) => asked.push(args) === 0 });
      await watched.start(MACHINE, 'a', '{}');
      await watched.describe(MACHINE, 'a');
      await watched.describe(MACHINE, 'a', 'sweep');
      await watched.listRunning(MACHINE);
      await watched.stop(MACHINE, 'a', 'why');
      expect(asked).toEqual([
        ['StartExecution', 'prompt'],
        ['DescribeExecution', 'prompt', 3_000],
        ['DescribeExecution', 'sweep', 0],
        ['ListExecutions', 'sweep'],
        ['StopExecution', 'prompt'],
      ]);
    });

    it('tells it of every call that AWS throttled, and of no other failure', async () => {
      const told: string[] = [];
      const listening = createSfnExecutions(client, { take: async () => true, throttled: (call) => told.push(call) });
      const callAll = async () => {
        await listening.start(MACHINE, 'a', '{}');
        await listening.describe(MACHINE, 'a');
        await listening.listRunning(MACHINE);
        await listening.stop(MACHINE, 'a', 'why');
      };
      const others = ['HTTP 500', 'an expired token of our own', 'an answer that is cut off', 'the page of some proxy'];
      for (const [clothes, answer] of THROTTLES) {
        service.script(() => answer);
        told.length = 0;
        await callAll();
        const isRate = ![...others, 'the limit of open executions'].includes(clothes);
        expect(told, clothes).toEqual(
          isRate ? ['StartExecution', 'DescribeExecution', 'ListExecutions', 'StopExecution'] : [],
        );
      }
      service.script(() => failure('AccessDeniedException', 'not authorized'));
      told.length = 0;
      await callAll();
      expect(told).toEqual([]);
    });
  });

  describe('stop', () => {
    it('gives the reason as the cause', async () => {
      service.script(() => ({ body: { stopDate: STARTED / 1000 } }));
      expect(await executions.stop(MACHINE, 'millrace-run-1', 'the run was stopped')).toBe('accepted');
      expect(service.calls).toEqual([
        {
          api: 'StopExecution',
          body: { executionArn: EXECUTION, error: 'Millrace.Stopped', cause: 'the run was stopped' },
        },
      ]);
    });

    it('tells a missing execution from a call that was not answered', async () => {
      service.script(() => failure('ExecutionDoesNotExist', 'Execution Does Not Exist'));
      expect(await executions.stop(MACHINE, 'x', 'why')).toBe('missing');
      for (const [, answer] of THROTTLES) {
        service.script(() => answer);
        expect(await executions.stop(MACHINE, 'x', 'why')).toBe('unanswered');
      }
    });
  });
});

describe('findMachine', () => {
  it.each([
    ['ACTIVE', 'STANDARD', { kind: 'there', isStandard: true }],
    ['ACTIVE', 'EXPRESS', { kind: 'there', isStandard: false }],
    ['DELETING', 'STANDARD', { kind: 'missing' }],
  ])('tells one that is %s and %s', async (status, type, seen) => {
    service.script(() => ({ body: { stateMachineArn: MACHINE, name: 'millrace-lambda', status, type } }));
    expect(await executions.findMachine(MACHINE)).toEqual(seen);
    expect(service.calls).toEqual([{ api: 'DescribeStateMachine', body: { stateMachineArn: MACHINE } }]);
  });

  it.each([
    ['StateMachineDoesNotExist', { kind: 'missing' }],
    ['InvalidArn', { kind: 'missing' }],
    ['AccessDeniedException', { kind: 'denied', message: 'no' }],
    ['KmsAccessDeniedException', { kind: 'unanswered', message: 'no' }],
  ])('tells what %s means', async (code, seen) => {
    service.script(() => failure(code, 'no'));
    expect(await executions.findMachine(MACHINE)).toEqual(seen);
  });

  it('knows nothing where it is throttled', async () => {
    for (const [, answer] of THROTTLES) {
      service.script(() => answer);
      expect(await executions.findMachine(MACHINE)).toMatchObject({ kind: 'unanswered' });
    }
  });
});

describe('toExecutionArn', () => {
  it('leaves the qualifier of a version or alias out', () => {
    expect(toExecutionArn(MACHINE, 'millrace-run-1')).toBe(EXECUTION);
    expect(toExecutionArn(`${MACHINE}:12`, 'millrace-run-1')).toBe(EXECUTION);
    expect(toExecutionArn(`${MACHINE}:PROD`, 'millrace-run-1')).toBe(EXECUTION);
    expect(toExecutionArn(MACHINE.replace('arn:aws:', 'arn:aws-cn:'), 'millrace-run-1')).toMatch(/^arn:aws-cn:states:/);
  });

  it('makes none of what is no state machine', async () => {
    for (const arn of ['', 'x', 'arn:aws:lambda:eu-central-1:123456789012:function:x']) {
      expect(toExecutionArn(arn, 'name')).toBeUndefined();
      expect(await executions.describe(arn, 'name')).toEqual({ kind: 'missing' });
      expect(await executions.stop(arn, 'name', 'why')).toBe('missing');
    }
  });
});
