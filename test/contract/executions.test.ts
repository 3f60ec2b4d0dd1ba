import { SFNClient } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll } from 'vitest';
import { createSfnExecutions } from '#adapters/aws/sfn-executions.ts';
import { createMemoryExecutions, type MemoryExecutions } from '#adapters/memory/memory-executions.ts';
import { describeExecutions, type ExecutionsHarness } from './executions.contract.ts';
import { openHostExecutions } from './host-executions.ts';
import { CREATED } from './sample-run.ts';
import { failure, type ServiceAnswer, type ServiceCall, startScriptedService } from './scripted-service.ts';

const ACCOUNT = 'arn:aws:states:eu-central-1:123456789012:stateMachine';
const MACHINES = { one: `${ACCOUNT}:millrace-lambda`, other: `${ACCOUNT}:millrace-other`, brief: `${ACCOUNT}:brief` };

function openMemory(): ExecutionsHarness & { readonly memory: MemoryExecutions } {
  let now = CREATED;
  const memory = createMemoryExecutions({ now: () => now });
  return {
    memory,
    executions: memory,
    machines: MACHINES,
    times: { startedAt: CREATED, endedAt: CREATED + 1_000 },
    async end(name, end) {
      now = CREATED + 1_000;
      memory.end(name, end);
      now = CREATED;
    },
    remove: (machine) => void memory.missingMachines.add(machine),
    close: async () => {},
  };
}

let service: Awaited<ReturnType<typeof startScriptedService>>;
let client: SFNClient;

beforeAll(async () => {
  service = await startScriptedService('AWSStepFunctions');
  client = new SFNClient(service.clientConfig);
});

afterAll(async () => {
  client.destroy();
  await service.close();
});

const MACHINE_GONE = failure('StateMachineDoesNotExist', 'State Machine Does Not Exist');

/** Speaks Step Functions' protocol from the executions in memory, which are looked at without a port between. */
function answerFrom({ started, missingMachines }: MemoryExecutions, { api, body }: ServiceCall): ServiceAnswer {
  if (api === 'StartExecution') {
    const { stateMachineArn, name, input } = body as Record<string, string>;
    if (missingMachines.has(stateMachineArn as string)) return MACHINE_GONE;
    const key = `${stateMachineArn}/${name}`;
    const known = started.get(key);
    if (known && (known.status !== 'RUNNING' || known.input !== input)) {
      return failure('ExecutionAlreadyExists', `Execution Already Exists: '${name}'`);
    }
    if (!known) {
      started.set(key, {
        stateMachineArn: stateMachineArn as string,
        name: name as string,
        input: input as string,
        startedAt: CREATED,
        status: 'RUNNING',
      });
    }
    return { body: { executionArn: 'arn', startDate: CREATED / 1000 } };
  }
  if (api === 'ListExecutions') return pageOf(started, body);
  if (api === 'DescribeStateMachine') {
    if (missingMachines.has(String(body['stateMachineArn']))) return MACHINE_GONE;
    return { body: { status: 'ACTIVE', type: 'STANDARD' } };
  }
  const [account, machine, name] = String(body['executionArn']).split(/:execution:|:(?=[^:]*$)/);
  const execution = started.get(`${account}:stateMachine:${machine}/${name}`);
  if (!execution) return failure('ExecutionDoesNotExist', 'Execution Does Not Exist');
  if (api === 'StopExecution') {
    if (execution.status === 'RUNNING') Object.assign(execution, { status: 'ABORTED', endedAt: CREATED });
    return { body: { stopDate: CREATED / 1000 } };
  }
  return {
    body: {
      executionArn: body['executionArn'],
      stateMachineArn: execution.stateMachineArn,
      status: execution.status,
      startDate: execution.startedAt / 1000,
      ...(execution.endedAt !== undefined && { stopDate: execution.endedAt / 1000 }),
      ...(execution.output !== undefined && { output: execution.output }),
      ...(execution.error && { error: execution.error.name, cause: execution.error.message }),
    },
  };
}

/** The next token is the place to go on from. */
function pageOf(started: MemoryExecutions['started'], body: ServiceCall['body']): ServiceAnswer {
  const { stateMachineArn, statusFilter, maxResults, nextToken = '0' } = body;
  const found = [...started.values()].filter(
    (execution) => execution.stateMachineArn === stateMachineArn && execution.status === statusFilter,
  );
  const from = Number(nextToken);
  const to = from + Number(maxResults);
  const executions = found.slice(from, to).map(({ name, status, startedAt }) => ({
    executionArn: 'arn',
    stateMachineArn,
    name,
    status,
    startDate: startedAt / 1000,
  }));
  return { body: { executions, ...(to < found.length && { nextToken: String(to) }) } };
}

describeExecutions('memory', async () => openMemory());
describeExecutions("Step Functions' protocol", async () => {
  const harness = openMemory();
  service.script((call) => answerFrom(harness.memory, call));
  return { ...harness, executions: createSfnExecutions(client) };
});
describeExecutions('the development host', openHostExecutions);
