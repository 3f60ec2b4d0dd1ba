/** Step Functions over the AWS SDK. Every answer, refusals and throttles included, is a value. */
import {
  DescribeExecutionCommand,
  DescribeStateMachineCommand,
  ListExecutionsCommand,
  type SFNClient,
  StartExecutionCommand,
  StopExecutionCommand,
} from '@aws-sdk/client-sfn';
import * as z from 'zod';
import type { ErrorInfo } from '#domain/run.ts';
import type { ExecutionSeen, Executions, MachineSeen, RunningListed } from '#ports/index.ts';
import { type CallAllowance, UNLIMITED } from './call-allowance.ts';
import { type ServiceFailure, toServiceFailure } from './service-error.ts';
import type { CountedCall } from './service-quotas.ts';

/** Longest message of an error that is kept, in UTF-16 units. */
const MAX_MESSAGE = 2_000;

/** Longest cause that StopExecution is given; it takes 32,768 characters. */
const MAX_CAUSE = 1_000;

const STATE_MACHINE_ARN = /^(arn:[^:]+:states:[^:]*:[^:]*):stateMachine:([^:/]+)/;

const describedExecution = z.object({
  status: z.enum(['RUNNING', 'PENDING_REDRIVE', 'SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED']),
  startDate: z.date(),
  stopDate: z.date().optional(),
  output: z.string().optional(),
  error: z.string().optional(),
  cause: z.string().optional(),
});

const describedMachine = z.object({
  status: z.enum(['ACTIVE', 'DELETING']).optional(),
  type: z.enum(['STANDARD', 'EXPRESS']),
});

const listedExecutions = z.object({
  executions: z.array(z.object({ name: z.string(), startDate: z.date() })),
  nextToken: z.string().optional(),
});

/** The most that a page may have. https://docs.aws.amazon.com/step-functions/latest/apireference/API_ListExecutions.html */
const PAGE = 1_000;

/** What Step Functions gives as the cause where a Lambda function threw. */
const lambdaCause = z.object({ errorMessage: z.string() });

/** How long a look that somebody waits for may wait for its turn (ms). */
const LONGEST_WAIT_MS = 3_000;

/**
 * The client must not repeat calls by itself: a start that it repeats could come after the fence of its pass.
 * @param allowance how many calls may be made; every call unless told otherwise
 */
export function createSfnExecutions(client: SFNClient, allowance: CallAllowance = UNLIMITED): Executions {
  const failureOf = (call: CountedCall, error: unknown): ServiceFailure => {
    const failure = toServiceFailure(error);
    if (failure.kind === 'throttled') allowance.throttled(call);
    return failure;
  };
  return {
    async start(stateMachineArn, name, input) {
      // It is now or later: a start that waited here could come after the fence.
      if (!(await allowance.take('StartExecution', 'prompt')))
        return { kind: 'later', message: usedUp('StartExecution') };
      try {
        await client.send(new StartExecutionCommand({ stateMachineArn, name, input }));
        return { kind: 'started' };
      } catch (error) {
        const failure = failureOf('StartExecution', error);
        if (failure.code === 'ExecutionAlreadyExists') return { kind: 'exists' };
        const message = cutMessage(failure.message);
        if (failure.kind !== 'refused') return { kind: 'later', message };
        return { kind: 'refused', message, ...(isMachineGone(failure.code) && { isMachineGone: true }) };
      }
    },
    async describe(stateMachineArn, name, urgency = 'prompt') {
      const executionArn = toExecutionArn(stateMachineArn, name);
      if (executionArn === undefined) return { kind: 'missing' };
      const waitMs = urgency === 'prompt' ? LONGEST_WAIT_MS : 0;
      if (!(await allowance.take('DescribeExecution', urgency, waitMs))) {
        return { kind: 'unanswered', message: usedUp('DescribeExecution') };
      }
      try {
        return toSeen(await client.send(new DescribeExecutionCommand({ executionArn })));
      } catch (error) {
        const { code, message } = failureOf('DescribeExecution', error);
        return isMissing(code) ? { kind: 'missing' } : { kind: 'unanswered', message: cutMessage(message) };
      }
    },
    listRunning: (stateMachineArn, pageLimit = 1) => listRunning(client, allowance, stateMachineArn, pageLimit),
    async stop(stateMachineArn, name, reason) {
      const executionArn = toExecutionArn(stateMachineArn, name);
      if (executionArn === undefined) return 'missing';
      if (!(await allowance.take('StopExecution', 'prompt'))) return 'unanswered';
      try {
        await client.send(
          new StopExecutionCommand({ executionArn, error: 'Millrace.Stopped', cause: cut(reason, MAX_CAUSE) }),
        );
        return 'accepted';
      } catch (error) {
        return isMissing(failureOf('StopExecution', error).code) ? 'missing' : 'unanswered';
      }
    },
    findMachine: (stateMachineArn) => findMachine(client, stateMachineArn),
  };
}

/** Asked for when an engine is put, and four times an hour for one whose machine is gone: too seldom to be counted. */
async function findMachine(client: SFNClient, stateMachineArn: string): Promise<MachineSeen> {
  try {
    const answer = await client.send(new DescribeStateMachineCommand({ stateMachineArn }));
    const { status, type } = describedMachine.parse(answer);
    return status === 'DELETING' ? { kind: 'missing' } : { kind: 'there', isStandard: type === 'STANDARD' };
  } catch (error) {
    const { code, message } = toServiceFailure(error);
    if (isMachineGone(code) || code === 'InvalidArn') return { kind: 'missing' };
    return { kind: code === 'AccessDeniedException' ? 'denied' : 'unanswered', message: cutMessage(message) };
  }
}

function isMachineGone(code: string): boolean {
  return code === 'StateMachineDoesNotExist' || code === 'StateMachineDeleting';
}

/** A list that breaks off after some pages is none the less true of what those named. */
async function listRunning(
  client: SFNClient,
  allowance: CallAllowance,
  stateMachineArn: string,
  pageLimit: number,
): Promise<RunningListed> {
  const startedAt = new Map<string, number>();
  let nextToken: string | undefined;
  for (let page = 0; page < pageLimit && (page === 0 || nextToken !== undefined); page++) {
    const answer = await listPage(client, allowance, stateMachineArn, nextToken);
    if (typeof answer === 'string') {
      if (page > 0) break;
      return { kind: 'unanswered', message: cutMessage(answer) };
    }
    for (const { name, startDate } of answer.executions) startedAt.set(name, startDate.getTime());
    nextToken = answer.nextToken;
  }
  return { kind: 'listed', startedAt };
}

/** A page, or why there is none now. */
async function listPage(
  client: SFNClient,
  allowance: CallAllowance,
  stateMachineArn: string,
  nextToken: string | undefined,
): Promise<z.output<typeof listedExecutions> | string> {
  if (!(await allowance.take('ListExecutions', 'sweep'))) return usedUp('ListExecutions');
  try {
    const asked = { stateMachineArn, statusFilter: 'RUNNING', maxResults: PAGE, nextToken } as const;
    return listedExecutions.parse(await client.send(new ListExecutionsCommand(asked)));
  } catch (error) {
    const { kind, message } = toServiceFailure(error);
    if (kind === 'throttled') allowance.throttled('ListExecutions');
    return message;
  }
}

function usedUp(call: CountedCall): string {
  return `this instance has used up its share of ${call}`;
}

/**
 * ARN of an execution. That of a version or alias of a state machine leaves the qualifier out.
 * Nothing where the state machine's ARN is none: no execution of it can exist.
 */
export function toExecutionArn(stateMachineArn: string, name: string): string | undefined {
  const [, account, stateMachine] = STATE_MACHINE_ARN.exec(stateMachineArn) ?? [];
  return account && `${account}:execution:${stateMachine}:${name}`;
}

function isMissing(code: string): boolean {
  return code === 'ExecutionDoesNotExist' || code === 'InvalidArn';
}

function toSeen(answer: unknown): ExecutionSeen {
  const parsed = describedExecution.safeParse(answer);
  if (!parsed.success) {
    return { kind: 'unanswered', message: `DescribeExecution answered something unknown: ${parsed.error.message}` };
  }
  const { status, startDate, stopDate, output, error, cause } = parsed.data;
  if (status === 'RUNNING' || status === 'PENDING_REDRIVE') return { kind: 'running', startedAt: startDate.getTime() };
  const info = toErrorInfo(status, error, cause);
  return {
    kind: 'ended',
    status,
    ...(output !== undefined && { output }),
    ...(info && { error: info }),
    startedAt: startDate.getTime(),
    endedAt: (stopDate ?? startDate).getTime(),
  };
}

function toErrorInfo(status: string, error: string | undefined, cause: string | undefined): ErrorInfo | undefined {
  if (status !== 'FAILED' && error === undefined && cause === undefined) return undefined;
  if (status === 'SUCCEEDED') return undefined;
  const name = error || (status === 'TIMED_OUT' ? 'States.Timeout' : 'States.TaskFailed');
  return { name, message: cutMessage(toMessage(cause ?? '')) };
}

function toMessage(cause: string): string {
  if (!cause.startsWith('{')) return cause;
  try {
    return lambdaCause.safeParse(JSON.parse(cause)).data?.errorMessage ?? cause;
  } catch {
    return cause;
  }
}

function cutMessage(message: string): string {
  return cut(message, MAX_MESSAGE);
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
}
