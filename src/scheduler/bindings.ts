/** What the expressions of a pass may see: read from the store only where an expression names it, and once a pass. */
import { type AttemptResult, evaluationKey, type LimitFact, type Wanted } from '#domain/facts.ts';
import type { CompiledNode, CompiledPipeline } from '#domain/graph.ts';
import type { Json } from '#domain/json.ts';
import { byteOf, isTerminal, statusOf } from '#domain/node-status.ts';
import { PAYLOAD_LIMITS } from '#domain/payload-ref.ts';
import type { ErrorInfo, MapState, RunRecord } from '#domain/run.ts';
import type { Bindings } from '#ports/index.ts';
import type { PassDeps } from './deps.ts';
import { createLastResults, type LastResults } from './last-results.ts';
import { readItem } from './map-lists.ts';
import { readMapOutput } from './map-output.ts';
import { createLargeOutputs, OutputUnavailable, readTooMuch } from './payloads.ts';
import { readInput } from './run-input.ts';

const MARKED = byteOf('M');
/** Results read at the same time. */
const PARALLEL_READS = 20;
/** Characters of outputs that a pass holds; once it has them, what needs others is left to the next one. */
const HELD_OUTPUTS = 4 * PAYLOAD_LIMITS.read;

/** A run as expressions see it: the state that the step reached, and what this pass has at hand. */
export interface EvaluationScope {
  readonly pipeline: CompiledPipeline;
  readonly run: RunRecord;
  /** Results that events or polls just brought, which need not be read again. */
  readonly results: readonly AttemptResult[];
  /** Lists of maps that were decided in this pass and are not stored yet, by their keys. */
  readonly lists?: ReadonlyMap<string, readonly Json[]>;
  /** Limits that were read for the decision, by name. */
  readonly limits?: ReadonlyMap<string, LimitFact>;
}

/** What a template may read. */
export interface Needs {
  readonly input: boolean;
  readonly nodes: ReadonlySet<string> | 'all';
}

type BoundNode = Bindings['nodes'][number];

/** Reads what expressions see, each thing at most once. */
export interface Binder {
  /**
   * What an expression sees.
   * @throws OutputUnavailable
   */
  bind(wanted: Wanted, needs: Needs): Promise<Bindings>;
  input(): Promise<string | undefined>;
  /** A node as it is stored: its output may hold envelopes. */
  node(index: number): Promise<BoundNode>;
  /**
   * Nodes as they are stored: all that one expression reads.
   * @throws OutputUnavailable
   */
  nodes(indices: readonly number[]): Promise<BoundNode[]>;
  /**
   * Nodes with the values in place of their envelopes.
   * @throws OutputUnavailable
   */
  open(nodes: readonly BoundNode[]): Promise<BoundNode[]>;
  item(wanted: Wanted): Promise<Json | undefined>;
}

/** Makes a binder for one pass over a run. */
export function createBinder(deps: PassDeps, scope: EvaluationScope): Binder {
  const nodes = new Map<number, Promise<BoundNode>>();
  let input: Promise<string | undefined> | undefined;
  let held = 0;
  const large = createLargeOutputs(deps.payloads);
  const results = createLastResults(deps, scope);
  const binder: Binder = {
    open: (some) => large.open(some),
    input() {
      input ??= readInput(deps.runs, scope.run);
      return input;
    },
    node(index) {
      let node = nodes.get(index);
      if (!node) {
        node = bindNode(deps, scope, results, index).then((bound) => {
          held += bound.output?.length ?? 0;
          return bound;
        });
        nodes.set(index, node);
      }
      return node;
    },
    async nodes(indices) {
      if (held > HELD_OUTPUTS && indices.some((index) => !nodes.has(index))) throw new OutputUnavailable();
      await results.expect(indices.filter((index) => isDecidedByAttempt(scope, index)));
      const bound: BoundNode[] = [];
      let length = 0;
      for (let at = 0; at < indices.length; at += PARALLEL_READS) {
        const some = await Promise.all(indices.slice(at, at + PARALLEL_READS).map((index) => binder.node(index)));
        length += some.reduce((sum, { output = '' }) => sum + output.length, 0);
        if (length > PAYLOAD_LIMITS.read) throw new OutputUnavailable(readTooMuch('what is read of outputs'));
        bound.push(...some);
      }
      return bound;
    },
    async item({ node, item }) {
      if (item === undefined) return undefined;
      const { list } = mapOf(scope.run, node) as MapState;
      const known = scope.lists?.get(list);
      return known ? known[item] : readItem(deps, scope.run, list, item);
    },
    async bind(wanted, needs) {
      const ids = needs.nodes === 'all' ? visibleIds(scope.pipeline, wanted.node) : needs.nodes;
      const indices = [...ids].flatMap((id) => scope.pipeline.indexOf.get(id) ?? []);
      const input = needs.input ? await binder.input() : undefined;
      const item = await binder.item(wanted);
      const stored = await binder.nodes(indices);
      const [own, ...nodes] = await large.open([await ownOutput(deps, scope, wanted), ...stored]);
      const { output } = own as { output?: string };
      return {
        run: boundRun(scope.run, input),
        nodes: nodes as BoundNode[],
        attempt: wanted.attempt,
        ...(item !== undefined && { item: JSON.stringify(item), index: wanted.item as number }),
        ...(output !== undefined && { output }),
        now: wanted.at,
        seed: `${scope.run.nonce}/${evaluationKey(wanted.what, wanted.node, wanted.attempt, wanted.item)}`,
      };
    },
  };
  return binder;
}

function boundRun({ id, trigger }: RunRecord, input: string | undefined): Bindings['run'] {
  const { instant, previousInstant } = trigger;
  return {
    id,
    ...(input !== undefined && { input }),
    ...(instant !== undefined && { instant }),
    ...(previousInstant !== undefined && { previousInstant }),
  };
}

/** How far a map of the run has come. */
export function mapOf(run: RunRecord, node: number): MapState | undefined {
  return run.maps?.find((map) => map.node === node);
}

/** What `$output` is in a `branch`: of the attempt that just ended, or of the earlier success that stands for it. */
async function ownOutput(
  deps: PassDeps,
  scope: EvaluationScope,
  { what, node, attempt }: Wanted,
): Promise<{ id: string; output?: string }> {
  if (what !== 'branch') return { id: '' };
  const { id } = scope.pipeline.nodes[node] as CompiledNode;
  const atHand = scope.results.find((result) => result.node === node && result.attempt === attempt);
  const output = (atHand ?? (await deps.runs.readResult(scope.run, node, attempt)))?.output;
  return { id, ...(output !== undefined && { output }) };
}

/** Whether the value of a node lies in the result of one attempt. */
function isDecidedByAttempt(scope: EvaluationScope, index: number): boolean {
  return isTerminal(scope.run.nodes.charCodeAt(index)) && !listOf(scope, index);
}

/** The map whose items give a node its output: not one that got its output by hand. */
function listOf({ run }: EvaluationScope, index: number): MapState | undefined {
  return run.nodes.charCodeAt(index) === MARKED ? undefined : mapOf(run, index);
}

async function bindNode(
  deps: PassDeps,
  scope: EvaluationScope,
  results: LastResults,
  index: number,
): Promise<BoundNode> {
  const { id } = scope.pipeline.nodes[index] as CompiledNode;
  const { state, standing } = statusOf(scope.run.nodes.charCodeAt(index));
  if (standing === 'success') {
    const output = await outputOf(deps, scope, results, index);
    return { id, state, ...(output !== undefined && { output }) };
  }
  if (standing === 'bad') {
    const error = await errorOf(deps, scope, results, index);
    return { id, state, ...(error && { error }) };
  }
  return { id, state };
}

async function outputOf(
  deps: PassDeps,
  scope: EvaluationScope,
  results: LastResults,
  index: number,
): Promise<string | undefined> {
  const map = listOf(scope, index);
  if (map) return readMapOutput(deps.runs, scope.run, map, scope.results);
  return (await results.of(index))?.output;
}

/** The error of a bad node: what its decision says, where that says anything, else what its last attempt told. */
async function errorOf(
  deps: PassDeps,
  scope: EvaluationScope,
  results: LastResults,
  index: number,
): Promise<ErrorInfo | undefined> {
  const isItsEnd = (decision: RunRecord['decisions'][number]) => decision.nodes.includes(index) && !decision.items;
  const held = scope.run.decisions.findLast(isItsEnd);
  const end = held ?? (await deps.runs.listHistory(scope.run, scope.run.createdAt)).findLast(isItsEnd);
  return end?.error ?? (await results.of(index))?.error;
}

/** Every node above one, or all nodes for the run's own output: what a dynamic `$nodes` may read. */
function visibleIds(pipeline: CompiledPipeline, node: number): string[] {
  if (node < 0) return pipeline.nodes.map(({ id }) => id);
  const seen = new Set<number>();
  const open = [...(pipeline.nodes[node] as CompiledNode).upstreams];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    open.push(...(pipeline.nodes[next] as CompiledNode).upstreams);
  }
  return [...seen].map((index) => (pipeline.nodes[index] as CompiledNode).id);
}
