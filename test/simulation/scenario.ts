/** What a world plays, and what it writes down. */
import type { ExecutionEnd } from '#adapters/memory/memory-executions.ts';
import type { MemoryPayloads } from '#adapters/memory/memory-payloads.ts';
import type { PipelineDefinition } from '#domain/definition.ts';
import type { StepOptions } from '#domain/draft.ts';
import type { RunRecord } from '#domain/run.ts';
import type { BusEvent, Evaluator, Memo } from '#ports/index.ts';
import type { StageTrace } from '#testing/stage.ts';
import type { UserAct } from './users.ts';

/** When every world begins (ms since the epoch): a full minute. */
export const BEGINNING = 1_800_000_000_000;

/** How an execution of a node's attempt goes. */
export interface Script {
  readonly durationMs: number;
  readonly end: ExecutionEnd;
  /** Step Functions refuses to start it, however often it is asked. */
  readonly isRefused?: boolean;
  /** When its code reports (ms after its start). @default never */
  readonly reportsAtMs?: readonly number[] | undefined;
}

/** What a world is to play. */
export interface Scenario {
  readonly name: string;
  readonly definition: PipelineDefinition;
  /** By node id and attempt; what is absent succeeds after a second. */
  readonly script?: (
    node: string,
    attempt: number,
    item?: number,
    payload?: unknown,
    run?: RunRecord,
  ) => Script | undefined;
  /** How far the clock of Step Functions is ahead of the scheduler's (ms). @default 0 */
  readonly engineClockMs?: number;
  /** When a user stops the run (ms after its creation). */
  readonly stopAtMs?: number;
  /** When a user pauses the run, and when one goes on with it (ms after its creation). */
  readonly pauses?: readonly { readonly fromMs: number; readonly toMs: number }[];
  /** What else users do, each in an order of their own. */
  readonly users?: readonly (readonly UserAct[])[];
  /** Pipelines that nodes of the engine `pipeline` start. */
  readonly children?: readonly PipelineDefinition[];
  /** When the engine `lambda` is registered (ms after the run's creation). @default before */
  readonly engineAtMs?: number;
  /** When it is gone again for a while (ms after the run's creation). */
  readonly engineGone?: { readonly fromMs: number; readonly toMs: number };
  /** Engines beside `lambda`, and when each is registered (ms after the run's creation). */
  readonly otherEngines?: readonly (readonly [string, number])[];
  /** Slots of engines, pools and active runs, by the limit's name, from the beginning. */
  readonly slots?: readonly (readonly [string, number])[];
  /** Bounds of the installation that differ from its defaults. */
  readonly options?: Partial<StepOptions>;
  readonly evaluator?: Evaluator;
  /** What earlier runs left behind. */
  readonly memo?: Memo;
  /** @default none in it */
  readonly payloads?: MemoryPayloads;
  /** Whether calls about pipelines may go wrong, too. @default only where one is put */
  readonly watchesPipelines?: boolean;
}

/** What happened: for invariants, and to tell a failing schedule. */
export interface Trace extends StageTrace {
  readonly events: BusEvent[];
  readonly starts: { readonly name: string; readonly at: number }[];
  /** Events of another kind than those of runs. */
  readonly told: BusEvent[];
  /** When pipelines were paused. */
  readonly pauses: { readonly name: string; readonly from: number; readonly until?: number }[];
  /** When a revision became a pipeline's newest. */
  readonly heads: {
    readonly name: string;
    readonly revision: string;
    readonly at: number;
    /** Since when each entry of its schedule stands, by the entry's id. */
    readonly cursors: ReadonlyMap<string, number>;
  }[];
  /** What the calls of StartExecution for a name brought as input. */
  readonly inputs: Map<string, Set<string>>;
}

/** Engines of a scenario that are there all the time: they are built in. */
export function builtInEngines({ engineAtMs = 0, engineGone, otherEngines = [] }: Scenario): string[] {
  const others = otherEngines.flatMap(([name, atMs]) => (atMs === 0 ? [name] : []));
  return engineAtMs > 0 || engineGone ? others : ['lambda', ...others];
}

/** What one does who registers engines and takes them away. */
function enginesOf({ engineAtMs = 0, engineGone, otherEngines = [] }: Scenario): UserAct[] {
  const lambda = { kind: 'engine', name: 'lambda' } as const;
  const acts: UserAct[] = otherEngines.flatMap(([name, atMs]) => (atMs > 0 ? [{ kind: 'engine', name, atMs }] : []));
  if (engineAtMs > 0 || engineGone) acts.push({ ...lambda, atMs: engineAtMs });
  if (engineGone) {
    acts.push({ ...lambda, atMs: engineGone.fromMs, isGone: true }, { ...lambda, atMs: engineGone.toMs });
  }
  return acts.sort((a, b) => a.atMs - b.atMs);
}

/**
 * What the users of a scenario do: one stops the run, one pauses it and goes on with it, and whoever else there is.
 * @param onRevision told of every definition that one of them puts
 */
export function actsOf(
  scenario: Scenario,
  onRevision: (definition: PipelineDefinition, revision: string) => void,
): UserAct[][] {
  const { stopAtMs, pauses = [], users = [] } = scenario;
  const all: UserAct[][] = [
    enginesOf(scenario),
    stopAtMs === undefined ? [] : [{ atMs: stopAtMs, kind: 'stop' }],
    pauses.flatMap(({ fromMs, toMs }) => [
      { atMs: fromMs, kind: 'pause' as const },
      { atMs: toMs, kind: 'resume' as const },
    ]),
    ...users.map((queue) => [...queue]),
  ];
  for (const act of all.flat()) if (act.kind === 'put') onRevision(act.definition, act.revision);
  return all;
}
