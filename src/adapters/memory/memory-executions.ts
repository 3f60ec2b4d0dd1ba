/**
 * Step Functions in memory, with the rules that starts depend on: a name is taken for ever, a repeated start of a
 * running execution with the same input is a success, and of anything else "already exists".
 * https://docs.aws.amazon.com/step-functions/latest/apireference/API_StartExecution.html
 */
import type { ExecutionStatus } from '#domain/facts.ts';
import type { ErrorInfo } from '#domain/run.ts';
import type { Clock, Executions } from '#ports/index.ts';

/** Executions on a page of a list. https://docs.aws.amazon.com/step-functions/latest/apireference/API_ListExecutions.html */
const LISTED_AT_ONCE = 1_000;

/** An execution in memory. */
export interface MemoryExecution {
  readonly stateMachineArn: string;
  readonly name: string;
  readonly input: string;
  readonly startedAt: number;
  status: 'RUNNING' | ExecutionStatus;
  endedAt?: number;
  output?: string;
  error?: ErrorInfo;
}

/** How an execution ends. */
export interface ExecutionEnd {
  readonly status: ExecutionStatus;
  readonly output?: string;
  readonly error?: ErrorInfo;
}

/** Executions in memory, and what a test may do to them. */
export interface MemoryExecutions extends Executions {
  /** All executions that were ever started, by state machine ARN and name. */
  readonly started: Map<string, MemoryExecution>;
  /** Calls of StartExecution that made an execution, by name: more than one would be a broken promise. */
  readonly starts: Map<string, number>;
  /** State machines that do not exist, by ARN; every other one does. */
  readonly missingMachines: Set<string>;
  /** State machines that this installation may not use, by ARN. */
  readonly deniedMachines: Set<string>;
  /** Ends a running execution; tells whether it was running. */
  end(name: string, end: ExecutionEnd): boolean;
}

/** Called when an execution starts or ends: the source of `aws.states` events. */
export type ExecutionListener = (execution: MemoryExecution) => void;

/** Makes a Step Functions with no execution in it; every state machine exists. */
export function createMemoryExecutions(clock: Clock, onChange: ExecutionListener = () => {}): MemoryExecutions {
  const started = new Map<string, MemoryExecution>();
  const starts = new Map<string, number>();
  const missingMachines = new Set<string>();
  const deniedMachines = new Set<string>();
  const keysByName = new Map<string, string>();
  // Whoever put one among the started ones by hand finds it as well.
  const byName = (name: string) =>
    started.get(keysByName.get(name) ?? '') ?? [...started.values()].find((execution) => execution.name === name);
  const finish = (execution: MemoryExecution, end: ExecutionEnd) => {
    if (execution.status !== 'RUNNING') return false;
    Object.assign(execution, end, { endedAt: clock.now() });
    onChange(execution);
    return true;
  };
  return {
    started,
    starts,
    missingMachines,
    deniedMachines,
    end(name, end) {
      const execution = byName(name);
      return execution !== undefined && finish(execution, end);
    },
    async start(stateMachineArn, name, input) {
      if (missingMachines.has(stateMachineArn)) {
        return { kind: 'refused', message: `State Machine Does Not Exist: '${stateMachineArn}'`, isMachineGone: true };
      }
      if (deniedMachines.has(stateMachineArn)) return { kind: 'refused', message: 'states:StartExecution is denied' };
      const key = `${stateMachineArn}/${name}`;
      const known = started.get(key);
      if (known) return { kind: known.status === 'RUNNING' && known.input === input ? 'started' : 'exists' };
      const execution: MemoryExecution = { stateMachineArn, name, input, startedAt: clock.now(), status: 'RUNNING' };
      started.set(key, execution);
      if (!keysByName.has(name)) keysByName.set(name, key);
      starts.set(name, (starts.get(name) ?? 0) + 1);
      onChange(execution);
      return { kind: 'started' };
    },
    async describe(stateMachineArn, name) {
      const execution = started.get(`${stateMachineArn}/${name}`);
      if (!execution) return { kind: 'missing' };
      if (execution.status === 'RUNNING') return { kind: 'running', startedAt: execution.startedAt };
      return {
        kind: 'ended',
        status: execution.status,
        startedAt: execution.startedAt,
        endedAt: execution.endedAt as number,
        ...(execution.output !== undefined && { output: execution.output }),
        ...(execution.error && { error: execution.error }),
      };
    },
    async listRunning(stateMachineArn, pageLimit = 1) {
      const running = [...started.values()].filter(
        (execution) => execution.stateMachineArn === stateMachineArn && execution.status === 'RUNNING',
      );
      const listed = running.toSorted((a, b) => b.startedAt - a.startedAt).slice(0, pageLimit * LISTED_AT_ONCE);
      return { kind: 'listed', startedAt: new Map(listed.map(({ name, startedAt }) => [name, startedAt])) };
    },
    async stop(stateMachineArn, name) {
      const execution = started.get(`${stateMachineArn}/${name}`);
      if (!execution) return 'missing';
      finish(execution, { status: 'ABORTED' });
      return 'accepted';
    },
    async findMachine(stateMachineArn) {
      if (deniedMachines.has(stateMachineArn)) {
        return { kind: 'denied', message: 'states:DescribeStateMachine is denied' };
      }
      return missingMachines.has(stateMachineArn) ? { kind: 'missing' } : { kind: 'there', isStandard: true };
    },
  };
}
