/** The development host's Step Functions behind a listener of its own; its tasks end when a test says so. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SFNClient, StopExecutionCommand } from '@aws-sdk/client-sfn';
import { expect } from 'vitest';
import { createSfnExecutions, toExecutionArn } from '#adapters/aws/sfn-executions.ts';
import { hostArn } from '#local/cloud-address.ts';
import { openDisk } from '#local/disk.ts';
import type { LambdaFunctions } from '#local/lambda-functions.ts';
import { openStateMachines } from '#local/state-machines.ts';
import { createWireLog } from '#local/wire-log.ts';
import { listen } from '../integration/wire-listener.ts';
import type { ExecutionEnding, ExecutionsHarness } from './executions.contract.ts';

type Outcome = Awaited<ReturnType<LambdaFunctions['invoke']>>;

/** One task, whose function is told the name in the input of its execution. */
const DEFINITION = {
  StartAt: 'Wait',
  States: {
    Wait: {
      Type: 'Task',
      Resource: 'arn:aws:states:::lambda:invoke',
      Parameters: { FunctionName: 'wait', 'Payload.$': '$.name' },
      OutputPath: '$.Payload',
      End: true,
    },
  },
};

/** Functions of which one is there, that answers each call when it is told to. */
function openWaitingFunction() {
  const calls = new Map<string, (outcome: Outcome) => void>();
  const functions: LambdaFunctions = {
    create: () => {},
    find: (name) => name,
    invoke: (_, { event }) => new Promise((resolve) => calls.set(JSON.parse(event), resolve)),
    isOurs: () => false,
    names: () => ['wait'],
    warm: () => {},
    active: () => calls.size,
    close: async () => {},
  };
  return { functions, calls };
}

function outcomeOf({ status, output = 'null', error }: ExecutionEnding): Outcome {
  const requestId = 'request';
  if (status === 'SUCCEEDED') return { ok: true, requestId, payload: output };
  return {
    ok: false,
    requestId,
    error: { errorType: error?.name ?? '', errorMessage: error?.message ?? '', trace: [] },
  };
}

/** Opens three state machines without an execution. */
export async function openHostExecutions(): Promise<ExecutionsHarness> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-executions-'));
  const disk = await openDisk(folder);
  const { functions, calls } = openWaitingFunction();
  const machines = openStateMachines({
    disk,
    wireLog: createWireLog(),
    functions,
    validDefinitions: { has: () => true, add: () => {} },
    publish: async () => {},
    log: () => {},
    failed: (error) => {
      throw error;
    },
  });
  const create = async (name: string, fields: object = {}) => {
    const arn = hostArn('states', `stateMachine:${name}`);
    const properties = { DefinitionString: JSON.stringify({ ...DEFINITION, ...fields }) };
    await machines.create({
      logicalId: name,
      type: 'AWS::StepFunctions::StateMachine',
      name,
      ref: arn,
      arn,
      properties,
    });
    return arn;
  };
  const arns = {
    one: await create('one'),
    other: await create('other'),
    brief: await create('brief', { TimeoutSeconds: 1 }),
  };
  const wire = await listen({ AWSStepFunctions: machines.handle });
  const client = new SFNClient(wire.clientConfig);
  const executions = createSfnExecutions(client);
  const abort = (name: string) =>
    client.send(new StopExecutionCommand({ executionArn: toExecutionArn(arns.one, name) }));
  return {
    executions,
    machines: arns,
    async end(name, end) {
      if (end.status === 'TIMED_OUT') return;
      if (end.status === 'ABORTED') await abort(name);
      else {
        await expect.poll(() => calls.has(name)).toBe(true);
        calls.get(name)?.(outcomeOf(end));
      }
      await expect.poll(() => executions.describe(arns.one, name)).toMatchObject({ kind: 'ended' });
    },
    async close() {
      client.destroy();
      await wire.close();
      await machines.close();
      await disk.close();
      await rm(folder, { recursive: true });
    },
  };
}
