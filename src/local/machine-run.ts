import { ExecutionAbortedError, ExecutionError, ExecutionTimeoutError, StateMachine } from 'aws-local-stepfunctions';
import { longestTimerSeconds, type PreparedDefinition, type PreparedTask } from '#local/asl-definition.ts';
import type { ExecutionRecord } from '#local/execution-store.ts';
import { maxStateBytes, TaskError } from '#local/lambda-task.ts';

/** How an execution ends by itself. */
export type Ending = Pick<ExecutionRecord, 'output' | 'error' | 'cause'> & {
  readonly status: 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT';
};

/** A run of a state machine. */
export type MachineRun = {
  /** Resolves when the machine comes to its end; undefined if it was aborted. It never rejects. */
  readonly ending: Promise<Ending | undefined>;
  /** Ends it where it is: no further state and no further task begins. A task under way runs on, unheard. */
  abort(): void;
};

/** What a run needs from the host. */
export type RunSurroundings = {
  runTask(task: PreparedTask, argument: unknown): Promise<unknown>;
  /** Told of each state entered and each retry, which are what AWS bills. */
  transition(): void;
};

type RunOptions = NonNullable<Parameters<StateMachine['run']>[1]>;
type Handler = NonNullable<NonNullable<RunOptions['overrides']>['taskResourceLocalHandlers']>[string];
type StateInput = Parameters<Handler>[0];

/** Runs a machine from its first state. */
export function runMachine(prepared: PreparedDefinition, record: ExecutionRecord, around: RunSurroundings): MachineRun {
  let isOver = false;
  const machine = new StateMachine(prepared.definition, { validationOptions: { noValidate: true } });
  const handlers = [...prepared.tasks].map(([name, task]): [string, Handler] => [
    name,
    async (input) => {
      // The package goes on to retry a task after an abort.
      if (isOver) throw new TaskError('States.Runtime', 'The execution is over', { isFinal: true });
      if (task.readsTimeLimit && !limitTime(input)) return null;
      return (await around.runTask(task, task.open(input))) as StateInput;
    },
  ]);
  const run = machine.run(JSON.parse(record.input), {
    overrides: { taskResourceLocalHandlers: Object.fromEntries(handlers) },
    context: {
      Execution: { Id: record.arn, Name: record.name },
      StateMachine: { Id: record.machineArn, Name: record.machineArn.slice(record.machineArn.lastIndexOf(':') + 1) },
    },
  });
  void countTransitions(run.eventLogs, around);
  return {
    ending: run.result.then(toSuccess, toFailure).finally(() => {
      isOver = true;
    }),
    abort() {
      isOver = true;
      run.abort();
    },
  };
}

/**
 * Shortens a time limit that is too long for a timer, in the object that the package reads it from once the handler has
 * returned. False if it is no time limit at all: the package then fails the state itself, and nothing may be invoked.
 */
function limitTime(input: unknown): boolean {
  const wrapped = input as { timeoutSeconds: unknown };
  if (!Number.isInteger(wrapped.timeoutSeconds) || Number(wrapped.timeoutSeconds) < 1) return false;
  wrapped.timeoutSeconds = Math.min(Number(wrapped.timeoutSeconds), longestTimerSeconds);
  return true;
}

async function countTransitions(
  events: ReturnType<StateMachine['run']>['eventLogs'],
  around: RunSurroundings,
): Promise<void> {
  for await (const event of events) {
    if (event.type === 'StateEntered' || event.type === 'StateRetried') around.transition();
  }
}

function toSuccess(value: unknown): Ending {
  const output = JSON.stringify(value);
  if (Buffer.byteLength(output) <= maxStateBytes) return { status: 'SUCCEEDED', output };
  return {
    status: 'FAILED',
    error: 'States.DataLimitExceeded',
    cause: `The execution's output is larger than ${maxStateBytes} bytes.`,
  };
}

function toFailure(error: unknown): Ending | undefined {
  if (error instanceof ExecutionAbortedError) return undefined;
  if (error instanceof ExecutionTimeoutError) return { status: 'TIMED_OUT', error: 'States.Timeout' };
  const reason = error instanceof ExecutionError ? error.cause : error;
  if (!(reason instanceof Error)) return { status: 'FAILED', error: 'States.Runtime', cause: String(reason) };
  if (reason.name === 'States.Timeout') return { status: 'FAILED', error: reason.name };
  // Errors of the states language can say whether they are to be retried; any other is the interpreter's own.
  const isStateError = 'isRetryable' in reason || reason.name.startsWith('States.');
  return { status: 'FAILED', error: isStateError ? reason.name : 'States.Runtime', cause: reason.message };
}
