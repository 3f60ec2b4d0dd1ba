/** What a world plays, and what it writes down. */
import type { ExecutionEnd } from '#adapters/memory/memory-executions.ts';
import type { PipelineDefinition } from '#domain/definition.ts';
import type { StepOptions } from '#domain/draft.ts';
import type { BusEvent, Evaluator, Memo, Payloads } from '#ports/index.ts';

/** How an execution of a node's attempt goes. */
export interface Script {
  readonly durationMs: number;
  readonly end: ExecutionEnd;
  /** Step Functions refuses to start it, however often it is asked. */
  readonly isRefused?: boolean;
}

/** What a world is to play. */
export interface Scenario {
  readonly name: string;
  readonly definition: PipelineDefinition;
  /** By node id and attempt; what is absent succeeds after a second. */
  readonly script?: (node: string, attempt: number, item?: number, payload?: unknown) => Script | undefined;
  /** How far the clock of Step Functions is ahead of the scheduler's (ms). @default 0 */
  readonly engineClockMs?: number;
  /** When a user stops the run (ms after its creation). */
  readonly stopAtMs?: number;
  /** When a user pauses the run, and when one goes on with it (ms after its creation). */
  readonly pauses?: readonly { readonly fromMs: number; readonly toMs: number }[];
  /** Pipelines that nodes of the engine `pipeline` start. */
  readonly children?: readonly PipelineDefinition[];
  /** When the engine `lambda` is registered (ms after the run's creation). @default before */
  readonly engineAtMs?: number;
  /** When it is gone again for a while (ms after the run's creation). */
  readonly engineGone?: { readonly fromMs: number; readonly toMs: number };
  /** Bounds of the installation that differ from its defaults. */
  readonly options?: Partial<StepOptions>;
  readonly evaluator?: Evaluator;
  /** What earlier runs left behind. */
  readonly memo?: Memo;
  /** @default none in it */
  readonly payloads?: Payloads;
}

/** What happened: for invariants, and to tell a failing schedule. */
export interface Trace {
  readonly operations: string[];
  readonly events: BusEvent[];
  readonly starts: { readonly name: string; readonly at: number }[];
  /** Of executions of runs that the run started. */
  readonly childStarts: { readonly name: string; readonly at: number }[];
  /** What the calls of StartExecution for a name brought as input. */
  readonly inputs: Map<string, Set<string>>;
  /** Messages handed over, and invocations in all. */
  deliveries: number;
  invocations: number;
}
