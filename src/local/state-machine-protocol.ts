import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { hostArn } from '#local/cloud-address.ts';
import { type ExecutionRecord, executionStatuses } from '#local/execution-store.ts';
import { ExecutionExistsError, executionArn } from '#local/executions.ts';
import { maxStateBytes } from '#local/lambda-task.ts';
import type { HostedMachine, StateMachines } from '#local/state-machines.ts';
import { WireError } from '#local/wire-answer.ts';

/** One action of the wire protocol: the request's body in, the answer's body out. */
export type StateMachineAction = (service: StateMachines, body: unknown) => Promise<unknown>;

/** Whitespace, wildcards, brackets, quotes and what else AWS forbids in the name of an execution. */
const forbiddenInNames = /[\s<>{}[\]?*"#%\\^|~`$&,;:/\p{Cc}\p{Cs}]/u;
const maxNameLength = 80;

const startExecution = z.object({
  stateMachineArn: z.string(),
  name: z.string().optional(),
  input: z.string().default('{}'),
});
const executionRequest = z.object({ executionArn: z.string() });
const stopExecution = executionRequest.extend({
  error: z.string().max(256).optional(),
  cause: z.string().max(32_768).optional(),
});
const listExecutions = z.object({
  stateMachineArn: z.string(),
  statusFilter: z.enum(executionStatuses).optional(),
  maxResults: z.int().min(0).max(1000).default(0),
  nextToken: z.string().optional(),
});
const describeStateMachine = z.object({ stateMachineArn: z.string() });

/** The actions of Step Functions that the host knows, by API name. */
export const stateMachineActions: ReadonlyMap<string, StateMachineAction> = new Map<string, StateMachineAction>([
  ['StartExecution', start],
  ['DescribeExecution', describe],
  ['StopExecution', stop],
  ['ListExecutions', list],
  ['DescribeStateMachine', describeMachine],
]);

async function start(service: StateMachines, body: unknown): Promise<unknown> {
  const { stateMachineArn, name = randomUUID(), input } = parse(startExecution, body);
  if (name.length < 1 || name.length > maxNameLength || forbiddenInNames.test(name)) {
    throw new WireError('InvalidName', `Invalid Name: '${name}'`);
  }
  if (Buffer.byteLength(input) > maxStateBytes) {
    throw new WireError('ValidationException', `The input must have at most ${maxStateBytes} bytes`);
  }
  if (!isJson(input))
    throw new WireError('InvalidExecutionInput', 'Invalid State Machine Execution Input: it is not JSON');
  const machine = machineOf(service, stateMachineArn);
  try {
    const record = await service.executions.start(machine, name, input);
    return { executionArn: record.arn, startDate: record.startDate / 1000 };
  } catch (error) {
    if (!(error instanceof ExecutionExistsError)) throw error;
    throw new WireError('ExecutionAlreadyExists', `Execution Already Exists: '${executionArn(machine.name, name)}'`);
  }
}

async function describe(service: StateMachines, body: unknown): Promise<unknown> {
  const { executionArn } = parse(executionRequest, body);
  const record = await service.executions.find(...splitArn(executionArn));
  if (record === undefined) throw doesNotExist(executionArn);
  return {
    executionArn: record.arn,
    stateMachineArn: record.machineArn,
    ...summary(record),
    input: record.input,
    inputDetails: { included: true },
    ...(record.output === undefined ? {} : { output: record.output, outputDetails: { included: true } }),
    ...(record.error === undefined ? {} : { error: record.error }),
    ...(record.cause === undefined ? {} : { cause: record.cause }),
    redriveCount: 0,
    redriveStatus: 'NOT_REDRIVABLE',
  };
}

async function stop(service: StateMachines, body: unknown): Promise<unknown> {
  const { executionArn, error, cause } = parse(stopExecution, body);
  const reason = { ...(error === undefined ? {} : { error }), ...(cause === undefined ? {} : { cause }) };
  const record = await service.executions.stop(...splitArn(executionArn), reason);
  if (record === undefined) throw doesNotExist(executionArn);
  return { stopDate: (record.stopDate ?? Date.now()) / 1000 };
}

async function list(service: StateMachines, body: unknown): Promise<unknown> {
  const { stateMachineArn, statusFilter, maxResults, nextToken } = parse(listExecutions, body);
  const machine = machineOf(service, stateMachineArn);
  const page = await service.store.list({
    machineArn: machine.arn,
    limit: maxResults === 0 ? 100 : maxResults,
    ...(statusFilter === undefined ? {} : { status: statusFilter }),
    ...(nextToken === undefined ? {} : { after: readToken(nextToken) }),
  });
  return {
    executions: page.items.map((record) => ({
      executionArn: record.arn,
      stateMachineArn: record.machineArn,
      ...summary(record),
      redriveCount: 0,
    })),
    ...(page.next === undefined ? {} : { nextToken: Buffer.from(page.next).toString('base64url') }),
  };
}

async function describeMachine(service: StateMachines, body: unknown): Promise<unknown> {
  const machine = machineOf(service, parse(describeStateMachine, body).stateMachineArn);
  return {
    stateMachineArn: machine.arn,
    name: machine.name,
    status: 'ACTIVE',
    type: 'STANDARD',
    definition: machine.definition,
    roleArn: hostArn('iam', `role/${machine.name}`),
    creationDate: machine.creationDate / 1000,
  };
}

function summary(record: ExecutionRecord): Record<string, unknown> {
  return {
    name: record.name,
    status: record.status,
    startDate: record.startDate / 1000,
    ...(record.stopDate === undefined ? {} : { stopDate: record.stopDate / 1000 }),
  };
}

function machineOf(service: StateMachines, arn: string): HostedMachine {
  if (!arn.startsWith('arn:')) throw new WireError('InvalidArn', `Invalid Arn: '${arn}'`);
  const machine = service.machine(arn);
  if (machine === undefined) throw new WireError('StateMachineDoesNotExist', `State Machine Does Not Exist: '${arn}'`);
  return machine;
}

/** The machine's ARN and the execution's name. */
function splitArn(executionArn: string): [string, string] {
  const match = /^(arn:[^:]*:states:[^:]*:[^:]*):execution:([^:]+):([^:]+)$/.exec(executionArn);
  if (match === null) throw new WireError('InvalidArn', `Invalid Arn: '${executionArn}'`);
  return [`${match[1]}:stateMachine:${match[2]}`, match[3] ?? ''];
}

function doesNotExist(arn: string): WireError {
  return new WireError('ExecutionDoesNotExist', `Execution Does Not Exist: '${arn}'`);
}

function readToken(token: string): string {
  const key = Buffer.from(token, 'base64url').toString();
  if (/^\d{13}\//.test(key)) return key;
  throw new WireError('InvalidToken', `Invalid Token: '${token}'`);
}

function parse<Schema extends z.ZodType>(schema: Schema, body: unknown): z.infer<Schema> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw new WireError('ValidationException', z.prettifyError(parsed.error));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
