import type { Json, JsonObject } from './json.ts';

/** When a node may run, judged over its direct upstreams (SEMANTICS, "Trigger rules"). */
export const TRIGGER_RULES = [
  'all_success',
  'all_done',
  'one_success',
  'one_failed',
  'all_failed',
  'none_failed',
  'none_failed_min_one_success',
  'none_skipped',
  'always',
] as const;

/** One of {@link TRIGGER_RULES}. */
export type TriggerRule = (typeof TRIGGER_RULES)[number];

/** Limits that are checked when a definition is put (SEMANTICS, "Pipeline definition"). */
export const DEFINITION_LIMITS = {
  nodes: 10_000,
  edges: 100_000,
  /** Unicode characters (code points) of a node id. */
  idLength: 200,
  /** Characters of a pipeline's or an engine's name. */
  nameLength: 128,
  /** UTF-8 bytes of a definition, as text and as JSON. */
  definitionBytes: 4 * 1024 * 1024,
  mapItems: 10_000,
  maxConcurrency: { min: 1, max: 10_000 },
  toleratedFailurePercentage: { min: 0, max: 100 },
  toleratedFailureCount: { min: 0, max: 10_000 },
  ttlSeconds: { min: 1, max: 365 * 24 * 3600 },
  queueTimeoutSeconds: { min: 1, max: 365 * 24 * 3600 },
  timeoutSeconds: { min: 1, max: 365 * 24 * 3600 },
  maxAttempts: { min: 1, max: 10_000 },
  intervalSeconds: { min: 0, max: 24 * 3600 },
  backoffRate: { min: 1, max: 100 },
  maxDelaySeconds: { min: 0, max: 24 * 3600 },
  retainDays: { min: 1, max: 365 },
  heartbeatSeconds: { min: 1, max: 24 * 3600 },
  priority: { min: -1000, max: 1000 },
  maxActiveRuns: { min: 1, max: 1000 },
  /** Entries of `schedule`. */
  scheduleEntries: 100,
  /** The time between two instants of a rate. */
  rateMinutes: { min: 1, max: 365 * 24 * 60 },
  catchUpWindowSeconds: { min: 60, max: 365 * 24 * 3600 },
  /** Entries of `retry.on` and of `retry.notOn`. */
  errorNames: 100,
  /** Levels of lists and objects inside each other. */
  nestingDepth: 100,
  /** Errors that one answer lists. */
  errors: 1000,
  /** UTF-8 bytes of the schema of a run's input, as JSON. */
  inputSchemaBytes: 64 * 1024,
  /** Schemas that are tried at one place of an input, by references and alternatives. */
  schemasAtOnePlace: 1000,
} as const;

/** How failed attempts of a node are tried again, as written in a definition. */
export interface RetryDefinition {
  /** Attempts in all, the first included. @default 1 */
  readonly maxAttempts?: number;
  /** Wait before the second attempt, in seconds. @default 1 */
  readonly intervalSeconds?: number;
  /** Factor from one wait to the next. @default 2 */
  readonly backoffRate?: number;
  /** Longest wait, in seconds. @default 86400 (24 h) */
  readonly maxDelaySeconds?: number;
  /** `full` draws each wait between 0 and its value. @default 'none' */
  readonly jitter?: 'full' | 'none';
  /** Error names that are retried. @default ['States.ALL'] */
  readonly on?: readonly string[];
  /** Error names that are never retried; wins over `on`. @default [] */
  readonly notOn?: readonly string[];
}

/** A node that runs once for each item of a list, as written in a definition. */
export interface MapDefinition {
  /** A list, or `{% … %}` that gives one. */
  readonly items: string | readonly Json[];
  /** Items under way at the same time. @default 100 */
  readonly maxConcurrency?: number;
  /** Share of the items that may fail, in percent. @default 0 */
  readonly toleratedFailurePercentage?: number;
  /** Number of items that may fail; the larger of the two counts. @default 0 */
  readonly toleratedFailureCount?: number;
}

/** How long a node's output serves later runs that ask with the same key. */
export interface CacheDefinition {
  /** Any JSON; `{% … %}` inside is JSONata. */
  readonly key: Json;
  /** @default 86400 (24 h) */
  readonly ttlSeconds?: number;
}

/** What becomes of a start while as many runs are active as may be. */
export const OVERLAP_POLICIES = ['queue', 'skip', 'cancelRunning', 'allow'] as const;

/** One of {@link OVERLAP_POLICIES}. */
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number];

/** Which instants are started later that nobody started in their time. */
export const CATCH_UPS = ['none', 'latest', 'all'] as const;

/** One of {@link CATCH_UPS}. */
export type CatchUp = (typeof CATCH_UPS)[number];

/** How many runs of a pipeline are active at once, as written in a definition. */
export interface ConcurrencyDefinition {
  /** @default no limit */
  readonly maxActiveRuns?: number;
  /** @default 'queue' */
  readonly onOverlap?: OverlapPolicy;
}

/** When runs start by themselves, as written in a definition: by `cron` or by `rate`, never both. */
export interface ScheduleEntryDefinition {
  /** Names the entry over its edits. @default its position in the list, as text */
  readonly id?: string;
  /** Five fields: minute, hour, day of month, month, day of week. */
  readonly cron?: string;
  /** `15 minutes`, `1 hour`, `2 days`: counted from the entry's creation. */
  readonly rate?: string;
  /** Name of the IANA time zone in which `cron` is read. @default 'UTC' */
  readonly timezone?: string;
  /** The input of the runs, as it stands. @default {} */
  readonly input?: Json;
  /** @default 'none' */
  readonly catchUp?: CatchUp;
  /** How old an instant may be that `catchUp: all` starts, in seconds. @default 86400 (24 h) */
  readonly catchUpWindowSeconds?: number;
}

/** A node as written in a definition. Absent fields take the defaults named here. */
export interface NodeDefinition {
  readonly id: string;
  /** Name of a registered engine. @default 'lambda' */
  readonly engine?: string;
  /** What the engine gets. Strings `{% … %}` inside are JSONata. @default {} */
  readonly params?: JsonObject;
  /** Ids of direct upstreams. @default [] */
  readonly dependsOn?: readonly string[];
  /** @default 'all_success' */
  readonly trigger?: TriggerRule;
  /** `{% … %}`; false skips the node. */
  readonly when?: string;
  readonly map?: MapDefinition;
  readonly cache?: CacheDefinition;
  /** `{% … %}` over `$output`: the id, or a list of ids, of the direct downstreams that are chosen. */
  readonly branch?: string;
  readonly retry?: RetryDefinition;
  /** Name of a limit that is shared across runs and pipelines. @default none */
  readonly pool?: string;
  /** Who goes first where a limit is full: the greater number. @default 0 */
  readonly priority?: number;
  /** Longest time between two reports of the node's own code, in seconds. @default none */
  readonly heartbeatSeconds?: number;
  /** Longest time that the node waits for an engine or a place, in seconds. @default none */
  readonly queueTimeoutSeconds?: number;
  /** Longest time of one attempt from its start, in seconds. @default 86400 (24 h) */
  readonly timeoutSeconds?: number;
  /** True: the node's failure does not fail the run. @default false */
  readonly allowFailure?: boolean;
  /** True: the node runs also when the run is stopped, once its trigger rule allows. @default false */
  readonly cleanup?: boolean;
}

/**
 * A pipeline as its author wrote it, after the checks of `parseDefinition`. This is what is stored and hashed;
 * defaults are filled in by `compilePipeline`, so that a changed default never changes a revision.
 */
export interface PipelineDefinition {
  readonly name: string;
  readonly description?: string;
  /** What the input of a run has to be: a JSON Schema (2020-12). @default anything */
  readonly input?: { readonly schema: JsonObject };
  /** When runs start by themselves. @default never */
  readonly schedule?: readonly ScheduleEntryDefinition[];
  readonly concurrency?: ConcurrencyDefinition;
  /** Longest time of a run from its creation, in seconds. @default none */
  readonly timeoutSeconds?: number;
  /** True: the first bad node stops the rest. @default false */
  readonly failFast?: boolean;
  /** How much `RunChanged` says when nobody watches. @default 'run' */
  readonly events?: 'run' | 'nodes';
  /** Days that a finished run is kept. @default 90 */
  readonly retainDays?: number;
  /** Taken by nodes that do not say otherwise. */
  readonly defaults?: { readonly retry?: RetryDefinition; readonly timeoutSeconds?: number };
  readonly nodes: readonly NodeDefinition[];
  /** The run's output; `{% … %}` inside is JSONata. @default none */
  readonly output?: Json;
}

/** One thing that is wrong with a definition (API, "Problem"). */
export interface DefinitionError {
  /** Where, as a path into the definition: `nodes[3].retry.maxAttempts`. Empty for the document itself. */
  readonly path: string;
  /** Stable code: `UNKNOWN_FIELD`, `CYCLE`, … (API, "Codes of definition errors"). */
  readonly code: string;
  readonly message: string;
  /** The offending value, cut where it is long. */
  readonly value?: Json;
  /** What would be right: `1 to 10000`, `all_success | all_done | …`. */
  readonly allowed?: string;
  /** A near miss that was probably meant. */
  readonly suggestion?: string;
  /** Place in the source text, one-based, where the text is known. */
  readonly line?: number;
  readonly column?: number;
}
