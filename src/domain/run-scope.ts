import { toExecutionArn } from './execution-arn.ts';
import { toExecutionName } from './execution-name.ts';
import type { EngineFact } from './facts.ts';
import type { CompiledNode, CompiledPipeline } from './graph.ts';
import type { LimitRecord } from './limit.ts';
import type { Flight, RunRecord } from './run.ts';
import { childRunId } from './run-id.ts';

/** A limit that somebody looked at. */
export interface LimitSeen {
  /** Absent where there is no such limit. */
  readonly record?: LimitRecord;
  /** Runs of the same pipeline that are served before this one; absent where nobody counted. */
  readonly ahead?: { readonly count: number; readonly hasMore: boolean };
}

/** A run as its views look at it: the record, its pipeline, and the time of the look. */
export interface RunScope {
  readonly pipeline: CompiledPipeline;
  readonly run: RunRecord;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Name of the installation, the prefix of execution names. */
  readonly installation: string;
  /** Built-in engines by name. */
  readonly engines: ReadonlyMap<string, EngineFact>;
  /** Limits that the run waits for, by name, as far as they were looked at. */
  readonly limits?: ReadonlyMap<string, LimitSeen>;
  /** Time between two ticks (ms). @default 60000 */
  readonly tickMs?: number;
}

/** Where an attempt is carried out: an execution of Step Functions, or a run of another pipeline. */
export interface ExecutionPlace {
  readonly executionArn?: string;
  readonly childRunId?: string;
}

/**
 * Where an attempt is carried out. A run keeps the state machine of an attempt only while it is under way; after
 * that it is the only one that the run used, or the one that the node's engine has now.
 */
export function executionOf(
  scope: RunScope,
  node: CompiledNode,
  { attempt, item }: { readonly attempt: number; readonly item?: number | undefined },
  flight?: Flight,
): ExecutionPlace {
  const { run } = scope;
  const key = { run: run.id, nonce: run.nonce, node: node.index, item, attempt };
  if (node.engine === 'approval' || node.engine === 'pass') return {};
  if (node.engine === 'pipeline') return { childRunId: childRunId(key) };
  const pinned = flight?.attempt === attempt ? run.machines[flight.machine] : undefined;
  const machine = pinned ?? (run.machines.length === 1 ? run.machines[0] : presentMachine(scope, node));
  const executionArn = machine && toExecutionArn(machine, toExecutionName(scope.installation, key));
  return executionArn === undefined ? {} : { executionArn };
}

function presentMachine(scope: RunScope, node: CompiledNode): string | undefined {
  const arn = scope.engines.get(node.engine)?.stateMachineArn;
  return arn !== undefined && scope.run.machines.includes(arn) ? arn : undefined;
}
