/** Executions on MiniStack's Step Functions: each waits for a task token, which is told to a queue. */
import {
  CreateStateMachineCommand,
  SendTaskFailureCommand,
  SendTaskSuccessCommand,
  SFNClient,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { createSfnExecutions, toExecutionArn } from '#adapters/aws/sfn-executions.ts';
import {
  describeExecutions,
  type ExecutionEnding,
  type ExecutionsHarness,
} from '../../contract/executions.contract.ts';
import { takeMessages } from '../../contract/sqs-inbox.harness.ts';
import { useEmulator } from './emulator.ts';

useEmulator();

describe('executions', () => {
  let sfn: SFNClient;
  let sqs: SQSClient;
  let opened = 0;
  beforeAll(() => {
    sfn = new SFNClient({});
    sqs = new SQSClient({});
  });
  afterAll(() => {
    sfn.destroy();
    sqs.destroy();
  });

  async function createMachine(name: string, queueUrl: string): Promise<string> {
    const definition = {
      StartAt: 'Wait',
      States: {
        Wait: {
          Type: 'Task',
          Resource: 'arn:aws:states:::sqs:sendMessage.waitForTaskToken',
          Parameters: { QueueUrl: queueUrl, MessageBody: { 'name.$': '$.name', 'token.$': '$$.Task.Token' } },
          End: true,
        },
      },
    };
    const roleArn = 'arn:aws:iam::000000000000:role/engine';
    const asked = { name, definition: JSON.stringify(definition), roleArn };
    return String((await sfn.send(new CreateStateMachineCommand(asked))).stateMachineArn);
  }

  /** Tokens that the queue has told so far, by the name of their execution. */
  function openTokens(queueUrl: string) {
    const known = new Map<string, string>();
    return async (name: string): Promise<string> => {
      while (!known.has(name)) {
        const [body] = await takeMessages(sqs, queueUrl, 1);
        if (body === undefined) throw new Error(`${name} waits for nothing`);
        const told = JSON.parse(body) as { name: string; token: string };
        known.set(told.name, told.token);
      }
      return String(known.get(name));
    };
  }

  async function open(): Promise<ExecutionsHarness> {
    opened += 1;
    const { QueueUrl = '' } = await sqs.send(new CreateQueueCommand({ QueueName: `tokens-${opened}` }));
    const one = await createMachine(`one-${opened}`, QueueUrl);
    const other = await createMachine(`other-${opened}`, QueueUrl);
    const tokenOf = openTokens(QueueUrl);
    const executions = createSfnExecutions(sfn);
    const order = async (name: string, { status, output, error }: ExecutionEnding) => {
      if (status === 'ABORTED') {
        await sfn.send(new StopExecutionCommand({ executionArn: toExecutionArn(one, name) }));
      } else if (status === 'SUCCEEDED') {
        await sfn.send(new SendTaskSuccessCommand({ taskToken: await tokenOf(name), output: output ?? 'null' }));
      } else {
        const failure = { error: error?.name, cause: error?.message };
        await sfn.send(new SendTaskFailureCommand({ taskToken: await tokenOf(name), ...failure }));
      }
    };
    return {
      executions,
      machines: { one, other, brief: one },
      async end(name, end) {
        await order(name, end);
        const over = () => executions.describe(one, name);
        await expect.poll(over, { timeout: 20_000 }).toMatchObject({ kind: 'ended' });
      },
      close: async () => {},
    };
  }

  describeExecutions('MiniStack', open, {
    // It ignores `TimeoutSeconds` of a state machine. On AWS, the execution has the status TIMED_OUT then:
    // https://docs.aws.amazon.com/step-functions/latest/dg/statemachine-structure.html
    neverTimesOut: true,
    // It gives `{"Error":…,"Cause":…}` as the output of what failed. On AWS, the field is set only if the execution succeeds:
    // https://docs.aws.amazon.com/step-functions/latest/apireference/API_DescribeExecution.html
    failsWithOutput: true,
    // It answers ValidationException, which AWS has for bad input alone:
    // https://docs.aws.amazon.com/step-functions/latest/apireference/API_StopExecution.html
    refusesStopOfEnded: true,
  });
});
