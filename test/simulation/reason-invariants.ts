/** No silent waiting, and a history that tells how everything came to stand as it does. */
import type { CompiledNode } from '#domain/graph.ts';
import { explainNode } from '#domain/node-reason.ts';
import { type NodeCode, statusOf } from '#domain/node-status.ts';
import { mergeDecisions, tellStories } from '#domain/node-story.ts';
import { REASONS } from '#domain/reasons.ts';
import type { Decision, RunRecord } from '#domain/run.ts';
import { explainRun } from '#domain/run-view.ts';
import { require } from './invariant-error.ts';
import type { World } from './world.ts';

const KNOWN: ReadonlySet<string> = new Set(REASONS);

/** Every node and the run have a reason and a sentence, and the decisions lead to where they stand. */
export function checkReasons(world: World, run: RunRecord): void {
  const decisions = decisionsOf(world, run);
  checkHistory(world, run, decisions);
  const engines = new Map();
  const pipeline = world.pipelineOf(run);
  const scope = { pipeline, run, now: world.now, installation: 'sim', engines };
  const stories = tellStories(run, decisions);
  const flights = new Map(run.flights.map((flight) => [flight.node, flight]));
  checkReason(world, 'the run', explainRun(scope));
  for (const node of pipeline.nodes) {
    if (statusOf(run.nodes.charCodeAt(node.index)).standing !== 'open') continue;
    const story = stories[node.index] as (typeof stories)[number];
    checkReason(world, node.id, explainNode(scope, node as CompiledNode, { story, flight: flights.get(node.index) }));
  }
}

/** All decisions of a run so far, in order. */
export function decisionsOf(world: World, run: RunRecord): readonly Decision[] {
  return mergeDecisions([...world.runs.historyOf(run.id).values()].flat(), run);
}

function checkReason(world: World, whose: string, told: { readonly reason: string; readonly message: string }): void {
  require(world, KNOWN.has(told.reason), () => `${whose} has reason ${told.reason}`);
  const isSentence = told.message.length > 0 && !/undefined|NaN|Invalid|null/.test(told.message);
  require(world, isSentence, () => `${whose} is explained by ${JSON.stringify(told.message)}`);
}

/** Played from the beginning, the decisions give the very vector and state of the run. */
function checkHistory(world: World, run: RunRecord, decisions: readonly Decision[]): void {
  const letters: NodeCode[] = [...run.nodes].map(() => 'p');
  let state = 'QUEUED';
  let rev = 1;
  for (const decision of decisions) {
    require(world, decision.rev >= rev, () => `the decisions of revision ${decision.rev} come after those of ${rev}`);
    rev = decision.rev;
    if (decision.to === 'run') state = decision.state ?? 'none';
    else if (!decision.items) for (const node of decision.nodes) letters[node] = decision.to;
  }
  require(world, letters.join('') === run.nodes, () => `the history tells ${letters.join('')}, the run ${run.nodes}`);
  require(world, state === run.state, () => `the history tells ${state}, the run is ${run.state}`);
}
