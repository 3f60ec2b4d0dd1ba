/** Step Functions as the world has it: the memory twin, throttled, out of reach, lagging, or refusing. */
import type { MemoryExecutions } from '#adapters/memory/memory-executions.ts';
import type { ExecutionSeen, Executions } from '#ports/index.ts';
import type { Faults } from './faults.ts';

const THROTTLED = { kind: 'later', message: 'Rate exceeded' } as const;
const REFUSED = { kind: 'refused', message: 'the role may not start this' } as const;
const UNANSWERED = { kind: 'unanswered', message: 'no answer' } as const;

/** What an operation of `Executions` answers where it fails, by its label. */
export const FAILED_ANSWERS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['executions.start', THROTTLED],
  ['executions.describe', UNANSWERED],
  ['executions.listRunning', UNANSWERED],
  ['executions.stop', 'unanswered'],
  ['executions.findMachine', UNANSWERED],
]);

/** What StartExecution answers where it refuses. */
export const REFUSED_ANSWER = REFUSED;

/** What flaky executions have to know about their world. */
export interface Surroundings {
  readonly faults: Faults;
  readonly beganAt: number;
  now(): number;
  /** Whether every start of an attempt is refused. */
  isRefused(of: ExecutionInput): boolean;
  /** Told about each call of StartExecution, whatever becomes of it. */
  onStart(name: string, input: string): void;
}

/** Puts the world's trouble before Step Functions. */
export function createFlakyExecutions(inner: MemoryExecutions, world: Surroundings): Executions {
  const { faults, beganAt } = world;
  const launches = { second: -1, count: 0 };
  const isOut = () => {
    const after = world.now() - beganAt;
    return faults.outage !== undefined && after >= faults.outage.fromMs && after < faults.outage.toMs;
  };
  return {
    async start(stateMachineArn, name, input) {
      world.onStart(name, input);
      if (isOut()) return THROTTLED;
      if (world.isRefused(readInput(input))) return REFUSED;
      const second = Math.floor(world.now() / 1000);
      if (launches.second !== second) Object.assign(launches, { second, count: 0 });
      if (faults.startsPerSecond !== undefined && launches.count >= faults.startsPerSecond) return THROTTLED;
      launches.count += 1;
      return inner.start(stateMachineArn, name, input);
    },
    async describe(stateMachineArn, name) {
      if (isOut()) return UNANSWERED;
      const seen = await inner.describe(stateMachineArn, name);
      if (faults.staleMs === undefined || !faults.choose) return seen;
      const startedAt = inner.started.get(`${stateMachineArn}/${name}`)?.startedAt;
      return asOf(seen, startedAt, world.now() - faults.choose(faults.staleMs + 1));
    },
    async listRunning(stateMachineArn, pageLimit) {
      if (isOut()) return UNANSWERED;
      if (faults.staleMs === undefined || !faults.choose) return inner.listRunning(stateMachineArn, pageLimit);
      const at = world.now() - faults.choose(faults.staleMs + 1);
      return { kind: 'listed', startedAt: runningAt(inner, stateMachineArn, at) };
    },
    async stop(stateMachineArn, name, reason) {
      return isOut() ? 'unanswered' : inner.stop(stateMachineArn, name, reason);
    },
    async findMachine(stateMachineArn) {
      return isOut() ? UNANSWERED : inner.findMachine(stateMachineArn);
    },
  };
}

/** Which attempt an execution was told that it is. */
export interface ExecutionInput {
  readonly run: string;
  readonly node: string;
  readonly item?: number;
  readonly attempt: number;
  readonly payload?: unknown;
}

/** Which attempt an execution's input is for. */
export function readInput(input: string): ExecutionInput {
  const { millrace, params } = JSON.parse(input) as { millrace: ExecutionInput; params: { payload?: unknown } };
  return { ...millrace, payload: params.payload };
}

/** What DescribeExecution would have said at an earlier time. */
function asOf(seen: ExecutionSeen, startedAt: number | undefined, at: number): ExecutionSeen {
  if (startedAt === undefined || startedAt > at) return { kind: 'missing' };
  return seen.kind === 'ended' && seen.endedAt > at ? { kind: 'running', startedAt } : seen;
}

/** What ListExecutions would have said at an earlier time. */
function runningAt(inner: MemoryExecutions, stateMachineArn: string, at: number): ReadonlyMap<string, number> {
  const running = new Map<string, number>();
  for (const execution of inner.started.values()) {
    const isOver = execution.endedAt !== undefined && execution.endedAt <= at;
    if (execution.stateMachineArn !== stateMachineArn || execution.startedAt > at || isOver) continue;
    running.set(execution.name, execution.startedAt);
  }
  return running;
}
