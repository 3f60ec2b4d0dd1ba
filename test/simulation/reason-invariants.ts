/** No silent waiting, and a history that tells how everything came to stand as it does. */
import { explainUnfinished, listUnfinished } from '#domain/explain.ts';
import type { CompiledNode } from '#domain/graph.ts';
import { viewItem } from '#domain/item-view.ts';
import { unpackLimit } from '#domain/limit-codec.ts';
import { viewMap } from '#domain/map-view.ts';
import type { NodeCode } from '#domain/node-status.ts';
import { mergeDecisions, type NodeStory, tellItems, tellStories } from '#domain/node-story.ts';
import { REASONS } from '#domain/reasons.ts';
import type { Decision, MapState, RunRecord } from '#domain/run.ts';
import type { LimitSeen, RunScope } from '#domain/run-scope.ts';
import { explainRun } from '#domain/run-view.ts';
import { require } from './invariant-error.ts';
import { builtInEngines } from './scenario.ts';
import type { World } from './world.ts';

const KNOWN: ReadonlySet<string> = new Set(REASONS);
const LIMIT_REASONS: ReadonlySet<string> = new Set(['NoEngine', 'EngineDraining', 'EngineFull', 'PoolFull']);

/** Items of longer maps are not looked at one by one, after every step. */
const MOST_ITEMS = 50;

/** Every node, item and the run have a reason and a sentence, and the decisions lead to where they stand. */
export function checkReasons(world: World, run: RunRecord): void {
  const decisions = decisionsOf(world, run);
  checkHistory(world, run, decisions);
  const scope = scopeOf(world, run);
  const stories = tellStories(run, decisions);
  const told = explainRun(scope);
  checkReason(world, 'the run', told);
  if (run.state === 'QUEUED') checkTurn(world, scope, told);
  for (const { node } of listUnfinished(scope)) {
    const story = stories[node.index] as NodeStory;
    const { state, reason, message, movedBy } = explainUnfinished(scope, node, { story });
    checkReason(world, node.id, { reason, message });
    checkReason(world, `what moves ${node.id}`, { reason, message: movedBy });
    checkWait(world, scope, { id: node.id, state, reason });
    if (run.maps?.some((map) => map.node === node.index && map.total <= MOST_ITEMS))
      checkItems(world, scope, node, story, decisions);
  }
}

function scopeOf(world: World, run: RunRecord): RunScope {
  const limits = new Map<string, LimitSeen>();
  for (const { limit } of run.limits ?? []) {
    const packed = world.limits.stored.get(limit);
    limits.set(limit, packed ? { record: unpackLimit(packed) } : {});
  }
  const engines = new Map(builtInEngines(world.scenario).map((name) => [name, { stateMachineArn: name }]));
  return { pipeline: world.pipelineOf(run), run, now: world.now, installation: 'sim', engines, limits };
}

/** A run that waits for its turn says so, and waits for nothing else. */
function checkTurn(world: World, { run }: RunScope, { reason }: { readonly reason: string }): void {
  const waits = run.limits?.some(({ limit, waiting }) => waiting && limit.startsWith('pipeline/'));
  const expected = waits ? ['ActiveRunsLimit', 'PipelinePaused'] : ['Starting', 'ActiveRunsLimit'];
  require(world, expected.includes(reason), () => `a run in line has reason ${reason}`);
}

/** What says that it waits for an engine or a pool has its run in line there, or its run is due: it has not come to it. */
function checkWait(
  world: World,
  { run }: RunScope,
  { id, state, reason }: { readonly id: string; readonly state: string; readonly reason: string },
): void {
  if (state !== 'QUEUED' || !LIMIT_REASONS.has(reason)) return;
  const isInLine = run.limits?.some(({ waiting }) => waiting);
  require(world, isInLine === true || run.dueAt !== undefined, () =>
    `${id} has reason ${reason}, and its run waits for no limit`);
}

function checkItems(
  world: World,
  scope: RunScope,
  node: CompiledNode,
  mapStory: NodeStory,
  decisions: readonly Decision[],
): void {
  const map = scope.run.maps?.find((one) => one.node === node.index) as MapState;
  const stories = tellItems(map, mapStory, decisions);
  const counts = new Map<string, number>();
  for (const [item, story] of stories.entries()) {
    const view = viewItem(scope, node, map, {
      item,
      story,
      mapStory,
      results: [],
      showOutput: () => ({ output: null }),
    });
    checkReason(world, `item ${item} of ${node.id}`, view);
    counts.set(view.state, (counts.get(view.state) ?? 0) + 1);
  }
  const sorted = (all: Iterable<readonly [string, number]>) => JSON.stringify([...all].sort());
  const told = sorted(Object.entries(viewMap(scope, map, mapStory).counts));
  require(world, told === sorted(counts), () => `map ${node.id} counts ${told}, its items are ${sorted(counts)}`);
}

/** All decisions of a run so far, in order. */
export function decisionsOf(world: World, run: RunRecord): readonly Decision[] {
  return mergeDecisions([...world.runs.historyOf(run).values()].flat(), run);
}

function checkReason(world: World, whose: string, told: { readonly reason: string; readonly message: string }): void {
  require(world, KNOWN.has(told.reason), () => `${whose} has reason ${told.reason}`);
  const isSentence = told.message.length > 0 && !/\b(?:undefined|NaN|Invalid|null)\b/.test(told.message);
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
