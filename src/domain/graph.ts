/**
 * A definition made ready to run: defaults filled in, nodes in topological order, edges as index lists.
 * Every later step speaks of a node by its index here, which depends on the revision alone.
 */
import { ENGINES_WITHOUT_CODE } from './built-in-engines.ts';
import type {
  MapDefinition,
  NodeDefinition,
  OverlapPolicy,
  PipelineDefinition,
  RetryDefinition,
  TriggerRule,
} from './definition.ts';
import type { Json, JsonObject } from './json.ts';
import { type RetryPolicy, toRetryPolicy } from './retry.ts';
import { compileSchedule, type ScheduleEntry } from './schedule-entry.ts';

const DEFAULT_TIMEOUT_SECONDS = 24 * 3600;
const DEFAULT_TTL_SECONDS = 24 * 3600;
const DEFAULT_MAP_CONCURRENCY = 100;

/** A cache with its defaults filled in. */
export interface CompiledCache {
  readonly key: Json;
  readonly ttlMs: number;
}

/** A map with its defaults filled in. */
export interface CompiledMap {
  readonly items: Json;
  readonly maxConcurrency: number;
  readonly toleratedFailurePercentage: number;
  readonly toleratedFailureCount: number;
}

/** A node with its defaults filled in. */
export interface CompiledNode {
  /** Place in topological order; the same for every run of a revision. */
  readonly index: number;
  readonly id: string;
  readonly engine: string;
  readonly trigger: TriggerRule;
  readonly when: string | undefined;
  readonly map: CompiledMap | undefined;
  readonly branch: string | undefined;
  readonly cache: CompiledCache | undefined;
  readonly params: JsonObject;
  readonly retry: RetryPolicy;
  /** Name of a limit that is shared across runs and pipelines. */
  readonly pool: string | undefined;
  /** The greater goes first where a limit is full. */
  readonly priority: number;
  /** True: runs also when the run is stopped. */
  readonly cleanup: boolean;
  /** Longest time between two reports of the node's own code, in milliseconds. */
  readonly heartbeatMs: number | undefined;
  /** Longest time of one attempt, in milliseconds. */
  readonly timeoutMs: number;
  /** Longest time in QUEUED, in milliseconds. */
  readonly queueTimeoutMs: number | undefined;
  readonly allowFailure: boolean;
  readonly upstreams: readonly number[];
  readonly downstreams: readonly number[];
}

/** A revision of a pipeline, ready to run. Immutable, so a process may keep it as long as it likes. */
export interface CompiledPipeline {
  readonly name: string;
  readonly revision: string;
  readonly definition: PipelineDefinition;
  /** In topological order. */
  readonly nodes: readonly CompiledNode[];
  /** Indices in the order in which the author wrote the nodes. */
  readonly definitionOrder: readonly number[];
  readonly indexOf: ReadonlyMap<string, number>;
  /** Longest time of a run from its creation, in milliseconds. */
  readonly timeoutMs: number | undefined;
  readonly failFast: boolean;
  /** Runs that are active at once; no limit where it is not given. */
  readonly maxActiveRuns: number | undefined;
  readonly onOverlap: OverlapPolicy;
  /** In the order of the definition. */
  readonly schedule: readonly ScheduleEntry[];
  readonly output: Json | undefined;
}

/**
 * Compiles a definition that `parseDefinition` accepted.
 * @throws Error when it has a cycle or an unknown upstream, which a checked definition cannot have.
 */
export function compilePipeline(definition: PipelineDefinition, revision: string): CompiledPipeline {
  const order = topologicalOrder(definition.nodes);
  const indexOf = new Map(order.map((node, index) => [node.id, index]));
  const downstreams: number[][] = order.map(() => []);
  const upstreams = order.map((node, index) =>
    (node.dependsOn ?? []).map((id) => {
      const upstream = indexOf.get(id) as number;
      (downstreams[upstream] as number[]).push(index);
      return upstream;
    }),
  );
  return {
    name: definition.name,
    revision,
    definition,
    nodes: order.map((node, index) => compileNode(definition, node, index, upstreams, downstreams)),
    definitionOrder: definition.nodes.map((node) => indexOf.get(node.id) as number),
    indexOf,
    timeoutMs: toMs(definition.timeoutSeconds),
    failFast: definition.failFast ?? false,
    maxActiveRuns: definition.concurrency?.maxActiveRuns,
    onOverlap: definition.concurrency?.onOverlap ?? 'queue',
    schedule: compileSchedule(definition.schedule ?? []),
    output: definition.output,
  };
}

function compileNode(
  definition: PipelineDefinition,
  node: NodeDefinition,
  index: number,
  upstreams: readonly (readonly number[])[],
  downstreams: readonly (readonly number[])[],
): CompiledNode {
  const retry: RetryDefinition | undefined = node.retry ?? definition.defaults?.retry;
  const timeoutSeconds = node.timeoutSeconds ?? definition.defaults?.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS;
  return {
    index,
    id: node.id,
    engine: node.engine ?? 'lambda',
    trigger: node.trigger ?? 'all_success',
    when: node.when,
    map: node.map && compileMap(node.map),
    branch: node.branch,
    cache: node.cache && { key: node.cache.key, ttlMs: (node.cache.ttlSeconds ?? DEFAULT_TTL_SECONDS) * 1000 },
    params: node.params ?? {},
    retry: toRetryPolicy(retry),
    pool: node.pool,
    priority: node.priority ?? 0,
    cleanup: node.cleanup ?? false,
    heartbeatMs: ENGINES_WITHOUT_CODE.has(node.engine ?? 'lambda') ? undefined : toMs(node.heartbeatSeconds),
    timeoutMs: timeoutSeconds * 1000,
    queueTimeoutMs: toMs(node.queueTimeoutSeconds),
    allowFailure: node.allowFailure ?? false,
    upstreams: upstreams[index] as readonly number[],
    downstreams: downstreams[index] as readonly number[],
  };
}

function toMs(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * 1000;
}

function compileMap(map: MapDefinition): CompiledMap {
  return {
    items: map.items,
    maxConcurrency: map.maxConcurrency ?? DEFAULT_MAP_CONCURRENCY,
    toleratedFailurePercentage: map.toleratedFailurePercentage ?? 0,
    toleratedFailureCount: map.toleratedFailureCount ?? 0,
  };
}

/** Kahn's algorithm; among nodes that are free at the same time, the author's order stands. */
function topologicalOrder(nodes: readonly NodeDefinition[]): NodeDefinition[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const waitingFor = new Map(nodes.map((node) => [node.id, node.dependsOn?.length ?? 0]));
  const downstreams = new Map<string, NodeDefinition[]>();
  for (const node of nodes) {
    for (const id of node.dependsOn ?? []) {
      if (!byId.has(id)) throw new Error(`node ${JSON.stringify(node.id)} depends on unknown ${JSON.stringify(id)}`);
      const list = downstreams.get(id);
      if (list) list.push(node);
      else downstreams.set(id, [node]);
    }
  }
  const order = nodes.filter((node) => waitingFor.get(node.id) === 0);
  for (let next = 0; next < order.length; next++) {
    for (const downstream of downstreams.get((order[next] as NodeDefinition).id) ?? []) {
      const left = (waitingFor.get(downstream.id) as number) - 1;
      waitingFor.set(downstream.id, left);
      if (left === 0) order.push(downstream);
    }
  }
  if (order.length !== nodes.length) throw new Error('the definition has a cycle');
  return order;
}
