import { toExecutionArn } from './execution-arn.ts';
import { toExecutionName } from './execution-name.ts';
import type { EngineFact } from './facts.ts';
import type { CompiledNode, CompiledPipeline } from './graph.ts';
import type { Flight, RunRecord } from './run.ts';

/** A run as its views look at it: the record, its pipeline, and the time of the look. */
export interface RunScope {
  readonly pipeline: CompiledPipeline;
  readonly run: RunRecord;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Name of the installation, the prefix of execution names. */
  readonly installation: string;
  /** Engines by name. */
  readonly engines: ReadonlyMap<string, EngineFact>;
}

/**
 * The ARN of an attempt's execution. A run keeps the state machine of an attempt only while it is under way; after
 * that it is the only one that the run used, or the one that the node's engine has now.
 */
export function executionArnOf(
  scope: RunScope,
  node: CompiledNode,
  { attempt, item }: { readonly attempt: number; readonly item?: number | undefined },
  flight?: Flight,
): string | undefined {
  const { run } = scope;
  const pinned = flight?.attempt === attempt ? run.machines[flight.machine] : undefined;
  const machine = pinned ?? (run.machines.length === 1 ? run.machines[0] : presentMachine(scope, node));
  if (machine === undefined) return undefined;
  const key = { run: run.id, nonce: run.nonce, node: node.index, item, attempt };
  return toExecutionArn(machine, toExecutionName(scope.installation, key));
}

function presentMachine(scope: RunScope, node: CompiledNode): string | undefined {
  const arn = scope.engines.get(node.engine)?.stateMachineArn;
  return arn !== undefined && scope.run.machines.includes(arn) ? arn : undefined;
}
