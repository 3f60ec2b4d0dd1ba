/** Reads what the views of a run are made from, and no more than they need. */
import pMap from 'p-map';
import { isRunId } from '#domain/execution-name.ts';
import type { AttemptResult } from '#domain/facts.ts';
import type { CompiledNode } from '#domain/graph.ts';
import { type ItemView, viewItem } from '#domain/item-view.ts';
import type { Json } from '#domain/json.ts';
import { statusOf } from '#domain/node-status.ts';
import { type ItemStory, mergeDecisions, type NodeStory, tellStories } from '#domain/node-story.ts';
import { type NodeView, viewNode } from '#domain/node-view.ts';
import type { Decision, MapState, RunRecord } from '#domain/run.ts';
import { DamagedRunError } from '#domain/run-codec.ts';
import { indexRun } from '#domain/run-index.ts';
import type { RunScope } from '#domain/run-scope.ts';
import { type RunView, viewRun } from '#domain/run-view.ts';
import { limitsInTheWay, limitsOfRunView } from '#domain/waiting-for.ts';
import { type ShownOutput, wantedAttempts } from '#domain/work-view.ts';
import { readMapOutput } from '#scheduler/map-output.ts';
import { INPUT_KEY } from '#scheduler/new-run.ts';
import { OutputUnavailable } from '#scheduler/payloads.ts';
import { loadPipeline } from '#scheduler/pipelines.ts';
import { showOutput } from './large-output.ts';
import { fromNodePath, toNodePath } from './node-path.ts';
import { MAX_PAGE_BYTES } from './page-filling.ts';
import { ApiProblem } from './problem.ts';
import { readReport, readReports } from './report-reading.ts';
import type { ApiDeps } from './route.ts';
import { withLimits } from './waiting-reading.ts';

/** Nodes or items whose results are read at the same time. */
const PARALLEL_READS = 20;
/** Longest output that a list of nodes holds (bytes of its JSON text). */
const LISTED_OUTPUT_BYTES = 64 * 1024;
/** Longest output that a run's view holds (bytes of its JSON text). */
const RUN_OUTPUT_BYTES = 1024 * 1024;
/** Longest map whose output is put together for a list. */
const LISTED_OUTPUT_ITEMS = 100;

/** What a look at a run needs. */
export type ScopeDeps = Pick<ApiDeps, 'runs' | 'pipelines' | 'clock' | 'installation' | 'engines' | 'options'>;

/**
 * Reads a run and its pipeline.
 * @throws ApiProblem RUN_NOT_FOUND
 * @throws DamagedRunError, NewerRunError
 */
export async function readScope(deps: ScopeDeps, runId: string): Promise<RunScope> {
  const run = isRunId(runId) ? await deps.runs.readRun(runId) : undefined;
  if (!run || run.deleted) throw runNotFound(runId);
  return scopeOf(deps, run);
}

/** The problem of a run that is not there. */
export function runNotFound(runId: string): ApiProblem {
  return new ApiProblem('RUN_NOT_FOUND', `There is no run ${JSON.stringify(runId)}.`);
}

/** Looks at a run that was read already. */
export async function scopeOf(deps: Omit<ScopeDeps, 'runs'>, run: RunRecord): Promise<RunScope> {
  const pipeline = await loadPipeline(deps.pipelines, run.pipeline, run.revision);
  if (!pipeline) throw new DamagedRunError(run.id, `revision ${run.revision} of ${run.pipeline} cannot be found`);
  const { clock, installation, engines, options } = deps;
  return { pipeline, run, now: clock.now(), installation, engines, tickMs: options.tickMs };
}

/** The view of a run, with its input and output. */
export async function readRunView(deps: ApiDeps, scope: RunScope): Promise<RunView> {
  const { run } = scope;
  const [input, output, seen, reports] = await Promise.all([
    deps.runs.readValue(run, INPUT_KEY),
    run.outputKey === undefined ? undefined : deps.runs.readValue(run, run.outputKey),
    withLimits(deps, scope, limitsOfRunView(scope)),
    readReports(deps, scope),
  ]);
  const shown = output === undefined ? {} : showOutput(output, RUN_OUTPUT_BYTES, `/v1/runs/${run.id}/output`);
  return viewRun(seen, { input: parseStored(input) ?? {}, ...shown, reports });
}

function parseStored(text: string | undefined): Json | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as Json);
}

/** All decisions of a run, in order. */
export async function readDecisions(deps: ApiDeps, run: RunRecord): Promise<Decision[]> {
  return mergeDecisions(await deps.runs.listHistory(run, run.createdAt), run);
}

/** The stories of all nodes of a run. */
export async function readStories(deps: ApiDeps, run: RunRecord): Promise<readonly NodeStory[]> {
  return tellStories(run, await readDecisions(deps, run));
}

/**
 * The node that a path names.
 * @throws ApiProblem NODE_NOT_FOUND
 */
export function nodeAt(scope: RunScope, segment: string): CompiledNode {
  const id = fromNodePath(segment);
  const index = id === undefined ? undefined : scope.pipeline.indexOf.get(id);
  const node = index === undefined ? undefined : scope.pipeline.nodes[index];
  if (!node)
    throw new ApiProblem('NODE_NOT_FOUND', `Run ${scope.run.id} has no node ${JSON.stringify(id ?? segment)}.`);
  return node;
}

/**
 * The map that a node is.
 * @returns nothing where it has not got its list
 * @throws ApiProblem ITEM_NOT_FOUND where it is no map at all
 */
export function mapAt({ run }: RunScope, node: CompiledNode): MapState | undefined {
  if (!node.map) throw new ApiProblem('ITEM_NOT_FOUND', `Node ${JSON.stringify(node.id)} is no map and has no items.`);
  return indexRun(run).maps.get(node.index);
}

/**
 * The map that a node is, where it has the item.
 * @throws ApiProblem ITEM_NOT_FOUND
 */
export function mapWithItem(scope: RunScope, node: CompiledNode, item: number): MapState {
  const map = mapAt(scope, node);
  if (map && item < map.total) return map;
  const why = map ? `its list has ${map.total}` : 'it has no list';
  throw new ApiProblem('ITEM_NOT_FOUND', `Map ${JSON.stringify(node.id)} has no item ${item}: ${why}.`);
}

/** The views of some nodes. `whole`: outputs are shown whatever their length, as far as an answer can hold them. */
export async function readNodeViews(
  deps: ApiDeps,
  looked: RunScope,
  stories: readonly NodeStory[],
  nodes: readonly CompiledNode[],
  whole: boolean,
): Promise<NodeView[]> {
  const scope = await withLimits(deps, looked, limitsInTheWay(looked, nodes));
  return pMap(
    nodes,
    async (node) => {
      const story = stories[node.index] as NodeStory;
      const results = await readResults(deps, scope.run, { node: node.index }, story);
      const showOutput = outputShower(scope, node, whole ? MAX_PAGE_BYTES : LISTED_OUTPUT_BYTES);
      const mapOutput = await showMapOutput(deps, scope, node, whole, showOutput);
      const report = await readReport(deps, scope, indexRun(scope.run).flights.get(node.index));
      return viewNode(scope, node, { story, results, showOutput, mapOutput, report });
    },
    { concurrency: PARALLEL_READS },
  );
}

/** The views of some items of a map. */
export async function readItemViews(
  deps: ApiDeps,
  looked: RunScope,
  map: MapState,
  items: readonly { readonly item: number; readonly story: ItemStory; readonly mapStory: NodeStory }[],
): Promise<ItemView[]> {
  const node = looked.pipeline.nodes[map.node] as CompiledNode;
  const scope = await withLimits(deps, looked, limitsInTheWay(looked, [node]));
  return pMap(
    items,
    async (entry) => {
      const results = await readResults(deps, scope.run, { node: map.node, item: entry.item }, entry.story);
      const showOutput = outputShower(scope, node, LISTED_OUTPUT_BYTES, entry.item);
      const report = await readReport(deps, scope, indexRun(scope.run).itemFlights.get(map.node)?.get(entry.item));
      return viewItem(scope, node, map, { ...entry, results, showOutput, report });
    },
    { concurrency: PARALLEL_READS },
  );
}

async function readResults(
  deps: ApiDeps,
  run: RunRecord,
  { node, item }: { readonly node: number; readonly item?: number },
  story: NodeStory,
): Promise<AttemptResult[]> {
  const wanted = wantedAttempts(story);
  const results = await Promise.all(wanted.map((attempt) => deps.runs.readResult(run, node, attempt, item)));
  return results.filter((result) => result !== undefined);
}

/** Shows outputs up to a length (bytes), and the address of longer ones. */
function outputShower({ run }: RunScope, node: CompiledNode, maxBytes: number, item?: number) {
  const query = item === undefined ? '' : `?item=${item}`;
  const outputRef = `/v1/runs/${run.id}/nodes/${toNodePath(node.id)}/output${query}`;
  return (text: string | undefined): ShownOutput => showOutput(text, maxBytes, outputRef);
}

function noneIfTooLong(error: unknown): undefined {
  if (!(error instanceof OutputUnavailable)) throw error;
}

async function showMapOutput(
  deps: ApiDeps,
  scope: RunScope,
  node: CompiledNode,
  whole: boolean,
  show: (text: string | undefined) => ShownOutput,
): Promise<ShownOutput | undefined> {
  const map = indexRun(scope.run).maps.get(node.index);
  const { state, reason } = statusOf(scope.run.nodes.charCodeAt(node.index));
  if (!map || state !== 'SUCCEEDED' || reason === 'MarkedByUser') return undefined;
  if (!whole && map.total > LISTED_OUTPUT_ITEMS) return show(undefined);
  const reading = map.total === 0 ? '[]' : readMapOutput(deps.runs, scope.run, map);
  return show(await Promise.resolve(reading).catch(noneIfTooLong));
}
