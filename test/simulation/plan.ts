/** A plan: everything about a random world as plain data, so that it can be drawn, shrunk, printed and played again. */
import type { PipelineDefinition, TriggerRule } from '#domain/definition.ts';
import type { OperationFault } from '#testing/faults.ts';
import type { PlannedAsk, PlannedBackfill, PlannedOrder, PlannedRequest } from './plan-asks.ts';

/** How an attempt goes. `HANGS`: it never ends by itself. `REFUSED`: Step Functions does not let it start. */
export interface PlannedAttempt {
  readonly kind: 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED' | 'HANGS' | 'REFUSED';
  /** Name of the error, for FAILED. */
  readonly error: string;
  readonly durationMs: number;
  /** Its code reports so often, and for so long (ms). */
  readonly reports?: { readonly everyMs: number; readonly forMs: number } | undefined;
}

/** A node of a plan; its id is `n` and its place in the plan. */
export interface PlannedNode {
  /** Places of its direct upstreams, all smaller than its own. */
  readonly upstreams: readonly number[];
  readonly trigger: TriggerRule;
  /** What its condition gives; `odd` is neither true nor false, and an error like `error`. */
  readonly when?: 'true' | 'false' | 'error' | 'odd' | undefined;
  readonly allowFailure: boolean;
  /** Whether its parameters are expressions. */
  readonly isReader: boolean;
  readonly retry?:
    | {
        readonly maxAttempts: number;
        readonly intervalSeconds: number;
        readonly jitter: 'full' | 'none';
        readonly on?: readonly string[] | undefined;
        readonly notOn?: readonly string[] | undefined;
      }
    | undefined;
  readonly timeoutSeconds: number;
  /** The last one stands for all that follow. Of a map, those of its first item. */
  readonly attempts: readonly PlannedAttempt[];
  /** Places of the direct downstreams that it chooses; `error` and `stranger` make it fail. */
  readonly branch?: readonly number[] | 'error' | 'stranger' | undefined;
  readonly map?: PlannedMap | undefined;
  /** Place, among the plan's children, of the pipeline that it starts: that pipeline decides how its attempts go. */
  readonly child?: number | undefined;
  readonly cache?: PlannedCache | undefined;
  /** The engine that takes it, where it is not `lambda`: `late` comes at some time, `never` does not. */
  readonly engine?: 'late' | 'never' | PlannedLimit['name'] | undefined;
  readonly queueTimeoutSeconds?: number | undefined;
  readonly pool?: PlannedLimit['name'] | undefined;
  readonly priority?: number | undefined;
  readonly cleanup?: boolean | undefined;
  /** It waits for an answer; who gives it decides how its attempts go. */
  readonly approval?: boolean | undefined;
  readonly heartbeatSeconds?: number | undefined;
  /** Its outputs are large, and come as they are or by reference; it takes what is large by reference. */
  readonly bulk?: 'none' | 'direct' | 'reference' | undefined;
}

/** An engine or a pool that runs share, and what is done to it: at the end it is there, with a slot or more. */
export interface PlannedLimit {
  readonly name: 'e0' | 'e1' | 'e2' | 'p0' | 'p1';
  readonly changes: readonly PlannedChange[];
}

/** A change of a limit: its number of slots, or none that counts; an engine may be drained or taken away too. */
export interface PlannedChange {
  readonly atMs: number;
  /** `beat`: its owner reports. */
  readonly to: number | 'unlimited' | 'drained' | 'gone' | 'beat';
  /** How long the owner of an engine that it registers may be silent (s). */
  readonly heartbeatSeconds?: number | undefined;
}

/** Under which key the outputs of a node are remembered; `item` tells the items of a map apart, `error` makes it fail. */
export interface PlannedCache {
  readonly key: 'a' | 'b' | 'item' | 'error';
  readonly ttlSeconds: number;
}

/** The map of a node. */
export interface PlannedMap {
  /** How the attempts of each item go. */
  readonly items: readonly (readonly PlannedAttempt[])[];
  readonly maxConcurrency: number;
  /** Items that may fail. */
  readonly tolerated: number;
}

/** A pipeline of a plan. */
export interface PlannedPipeline {
  readonly nodes: readonly PlannedNode[];
  readonly failFast: boolean;
  readonly timeoutSeconds?: number | undefined;
  /** What its output expression gives; absent where it has none. */
  readonly output?: 'value' | 'error' | undefined;
  readonly concurrency?: PipelineDefinition['concurrency'];
  readonly schedule?: PipelineDefinition['schedule'];
}

/** A random world: the pipeline that is run, and whatever else there is. */
export interface Plan extends PlannedPipeline {
  /** Pipelines that nodes start. A pipeline starts only those behind it. */
  readonly children?: readonly PlannedPipeline[] | undefined;
  /** New revisions of the pipeline, or of the child at a place, in the order in which they are put. */
  readonly revisions?: readonly PlannedRevision[] | undefined;
  /** When further runs of the pipeline are started (ms). The later one is, the later in their lists its attempts begin. */
  readonly runsAtMs?: readonly number[] | undefined;
  readonly stopAtMs?: number | undefined;
  /** Other runs that are stopped: the `run`-th of those that there are by then. */
  readonly stops?: readonly { readonly atMs: number; readonly run: number }[] | undefined;
  /** When a run is paused, and when it goes on. */
  readonly pauses?: readonly PlannedPause[] | undefined;
  readonly limits?: readonly PlannedLimit[] | undefined;
  readonly asks?: readonly PlannedAsk[] | undefined;
  readonly orders?: readonly PlannedOrder[] | undefined;
  readonly requests?: readonly PlannedRequest[] | undefined;
  readonly backfills?: readonly PlannedBackfill[] | undefined;
  /** When the engine `late` comes. */
  readonly lateEngineAtMs?: number | undefined;
  readonly events: 'run' | 'nodes';
  readonly engineAtMs: number;
  readonly engineGone?: { readonly fromMs: number; readonly toMs: number } | undefined;
  readonly maxDecisions: number;
  readonly maxFlights: number;
  readonly tickMs: number;
  /** By number of the operation. */
  readonly faults: readonly (readonly [number, OperationFault])[];
  /** Decides the order of everything; absent: one thing after the other, and nothing of the following. */
  readonly order?:
    | {
        readonly seed: number;
        readonly loseOneIn?: number | undefined;
        readonly copies: number;
        readonly lateMs: number;
        readonly skewMs: number;
        readonly staleMs: number;
        readonly isIndexStale: boolean;
        readonly strangers: boolean;
        readonly doublesOneIn?: number | undefined;
        readonly skipsOneIn?: number | undefined;
      }
    | undefined;
  readonly drop: boolean;
  readonly outage?: { readonly fromMs: number; readonly toMs: number } | undefined;
  readonly startsPerSecond?: number | undefined;
}

/** A new revision. */
export interface PlannedRevision {
  readonly atMs: number;
  readonly child?: number | undefined;
  readonly to: PlannedPipeline;
}

/** A pause of the `run`-th of the runs that there are by then. */
export interface PlannedPause {
  readonly fromMs: number;
  readonly toMs: number;
  readonly run: number;
}
