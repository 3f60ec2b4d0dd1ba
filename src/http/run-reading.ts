/** Reads what the views of a run are made from, and no more than they need. */
import pMap from 'p-map';
import { isRunId } from '#domain/execution-name.ts';
import type { AttemptResult } from '#domain/facts.ts';
import type { CompiledNode } from '#domain/graph.ts';
import type { Json } from '#domain/json.ts';
import { mergeDecisions, type NodeStory, tellStories } from '#domain/node-story.ts';
import { type NodeSources, type NodeView, viewNode, wantedAttempts } from '#domain/node-view.ts';
import type { Decision, RunRecord } from '#domain/run.ts';
import { DamagedRunError } from '#domain/run-codec.ts';
import { flightsByNode, type RunScope } from '#domain/run-scope.ts';
import { type RunView, viewRun } from '#domain/run-view.ts';
import { loadPipeline } from '#scheduler/pipelines.ts';
import { INPUT_KEY } from '#scheduler/start-run.ts';
import { fromNodePath, toNodePath } from './node-path.ts';
import { ApiProblem } from './problem.ts';
import type { ApiDeps } from './route.ts';

/** Nodes whose results are read at the same time. */
const PARALLEL_READS = 20;
/** Longest output that a list of nodes holds (bytes of its JSON text). */
const LISTED_OUTPUT_BYTES = 64 * 1024;

/**
 * Reads a run and its pipeline.
 * @throws ApiProblem RUN_NOT_FOUND
 * @throws DamagedRunError, NewerRunError
 */
export async function readScope(deps: ApiDeps, runId: string): Promise<RunScope> {
  const run = isRunId(runId) ? await deps.runs.readRun(runId) : undefined;
  if (!run) throw runNotFound(runId);
  return scopeOf(deps, run);
}

/** The problem of a run that is not there. */
export function runNotFound(runId: string): ApiProblem {
  return new ApiProblem('RUN_NOT_FOUND', `There is no run ${JSON.stringify(runId)}.`);
}

/** Looks at a run that was read already. */
export async function scopeOf(deps: ApiDeps, run: RunRecord): Promise<RunScope> {
  const pipeline = await loadPipeline(deps.pipelines, run.pipeline, run.revision);
  if (!pipeline) throw new DamagedRunError(run.id, `revision ${run.revision} of ${run.pipeline} cannot be found`);
  return { pipeline, run, now: deps.clock.now(), installation: deps.installation, engines: deps.engines };
}

/** The view of a run, with its input and output. */
export async function readRunView(deps: ApiDeps, scope: RunScope): Promise<RunView> {
  const { run } = scope;
  const [input, output] = await Promise.all([
    deps.runs.readValue(run, INPUT_KEY),
    run.outputKey === undefined ? undefined : deps.runs.readValue(run, run.outputKey),
  ]);
  return viewRun(scope, { input: parseStored(input) ?? {}, output: parseStored(output) });
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

/** The views of some nodes. `whole`: outputs are shown whatever their length. */
export async function readNodeViews(
  deps: ApiDeps,
  scope: RunScope,
  stories: readonly NodeStory[],
  nodes: readonly CompiledNode[],
  whole: boolean,
): Promise<NodeView[]> {
  const flights = flightsByNode(scope.run);
  return pMap(
    nodes,
    async (node) => {
      const story = stories[node.index] as NodeStory;
      const results = await readResults(deps, scope.run, node.index, wantedAttempts(story));
      const showOutput = whole ? toOutput : (text: string) => toListedOutput(scope.run.id, node.id, text);
      return viewNode(scope, node, { story, flight: flights.get(node.index), results, showOutput });
    },
    { concurrency: PARALLEL_READS },
  );
}

async function readResults(deps: ApiDeps, run: RunRecord, node: number, attempts: readonly number[]) {
  const results = await Promise.all(attempts.map((attempt) => deps.runs.readResult(run, node, attempt)));
  return results.filter((result): result is AttemptResult => result !== undefined);
}

type ShownOutput = ReturnType<NodeSources['showOutput']>;

function toOutput(text: string): ShownOutput {
  return { output: JSON.parse(text) as Json };
}

function toListedOutput(runId: string, nodeId: string, text: string): ShownOutput {
  if (Buffer.byteLength(text) <= LISTED_OUTPUT_BYTES) return toOutput(text);
  return { outputRef: `/v1/runs/${runId}/nodes/${toNodePath(nodeId)}/output` };
}
