/** What must hold once a world has come to rest: the run is over, told to everybody, with nothing left behind. */
import { isDeepStrictEqual } from 'node:util';
import type { TriggerRule } from '#domain/definition.ts';
import { isRunOver, type ParentAttempt, type RunRecord } from '#domain/run.ts';
import { require } from './invariant-error.ts';
import { attemptOf, isMadeAgain, seenIn } from './invariants.ts';
import { checkLimitsFinally } from './limit-invariants.ts';
import { checkPipelinesFinally } from './pipeline-invariants.ts';
import { decisionsOf } from './reason-invariants.ts';
import { checkToldFinally } from './told-invariants.ts';
import { resultName } from './watched-runs.ts';
import type { World } from './world.ts';

/** Rules that start a node before all of its upstreams are over: what it is given depends on when. */
export const EARLY_RULES: ReadonlySet<TriggerRule> = new Set(['always', 'one_success', 'one_failed']);

/** At the end. */
export async function checkFinally(world: World): Promise<void> {
  checkExecutions(world);
  for (const name of world.trace.inputs.keys()) checkInput(world, name);
  for (const run of world.runs.all()) await checkRun(world, run);
  for (const run of world.runs.everAll()) if (world.runs.isGone(run.id)) await checkGone(world, run);
  checkLimitsFinally(world);
  checkPipelinesFinally(world);
  await checkToldFinally(world);
  require(world, world.isQuiet(), () => `after ${world.ticks} ticks something is left to do`);
}

/** Of a run that is gone, its end was told, and nothing is left: no line in the list, no result, no value, no decision. */
async function checkGone(world: World, run: RunRecord): Promise<void> {
  const { items } = await world.runs.listRuns({ limit: 1_000 });
  require(world, !items.some(({ id }) => id === run.id), () => `run ${run.id} is gone, and still in the list`);
  if (!isMadeAgain(world, run.id)) checkPublished(world, run);
  // A pass that slept meanwhile, or got a message again, may put a result or a value still: nobody reads it, and it expires.
  if (world.faults.choose || (world.faults.at?.size ?? 0) > 0) return;
  const left = [
    (await world.runs.listResults(run)).length > 0 && 'results',
    (await world.runs.readValue(run, 'input')) !== undefined && 'an input',
    (await world.runs.listHistory(run, run.createdAt)).length > 0 && 'decisions',
  ].filter((what) => what !== false);
  require(world, left.length === 0, () => `run ${run.id} is gone, and left ${left.join(', ')}`);
}

async function checkRun(world: World, run: RunRecord): Promise<void> {
  require(world, isRunOver(run.state), () =>
    `still ${run.state} (${run.nodes}) after ${world.ticks} ticks, now ${world.now}`);
  require(world, run.dueAt === undefined, () => 'over, but still due');
  if (!isMadeAgain(world, run.id)) checkPublished(world, run);
  checkRevision(world, run);
  if (run.parent) await checkChild(world, run, run.parent);
  if (world.users.stopsAccepted.has(run.nonce)) {
    require(world, run.state === 'ABORTED' || run.state === 'FAILED', () => `stop accepted, run ${run.state}`);
  }
  for (const result of await world.runs.listResults(run)) {
    const first = world.runs.results.get(resultName(run.nonce, result));
    require(world, JSON.stringify(result) === JSON.stringify(first), () => {
      return `the result of node ${result.node}, attempt ${result.attempt}, is not what was stored first`;
    });
  }
  const stored = await world.runs.listHistory(run, run.createdAt);
  const put = [...world.runs.historyOf(run)].sort(([a], [b]) => a - b).flatMap(([, decisions]) => decisions);
  require(world, isDeepStrictEqual(JSON.parse(JSON.stringify(stored)), JSON.parse(JSON.stringify(put))), () =>
    'the stored history is not what was put');
}

/** A run has the revision that was its pipeline's newest when it was made, and keeps it. */
function checkRevision(world: World, run: RunRecord): void {
  const { skewMs = 0 } = world.faults;
  const heads = world.trace.heads.filter(({ name }) => name === run.pipeline);
  const place = heads.findIndex(({ revision }) => revision === run.revision);
  const since = heads[place]?.at ?? Number.POSITIVE_INFINITY;
  const until = heads[place + 1]?.at ?? Number.POSITIVE_INFINITY;
  // Between the look for the newest revision and the making of its run, its pass may sleep.
  const maySleep = world.faults.choose !== undefined || (world.faults.at?.size ?? 0) > 0;
  // A backfill has the one that was the newest when it was asked for.
  const mayBeEarlier = maySleep || run.trigger.type === 'backfill';
  const isNewest = run.createdAt >= since - skewMs && (mayBeEarlier || run.createdAt <= until);
  require(world, isNewest, () => `${run.revision} of ${run.pipeline} was not the newest when its run was made`);
}

/**
 * A child ends no later than its parent, unless it was made so late that it never began; what it gave is what its
 * parent has, and nobody but a user or its parent stops it.
 */
async function checkChild(world: World, run: RunRecord, parent: ParentAttempt): Promise<void> {
  const above = world.runs.latest(parent.run);
  const late = (seenIn(world, run).endedAt ?? 0) - (seenIn(world, above).endedAt ?? 0);
  const hasBegun = /[^A]/.test(run.nodes);
  // What cleans up may take longer than the run above waits for an order to stop to be followed.
  const cleansUp = run.stop !== undefined && world.pipelineOf(run).nodes.some(({ cleanup }) => cleanup);
  require(world, late <= 0 || !hasBegun || cleansUp, () => `child ${run.id} ended ${late} ms after its parent`);
  require(world, run.depth === (above.depth ?? 0) + 1, () => `child ${run.id} stands ${run.depth} deep`);
  const result = world.runs.results.get(resultName(above.nonce, parent));
  if (result?.status === 'SUCCEEDED') {
    const output = run.outputKey === undefined ? 'null' : await world.runs.readValue(run, run.outputKey);
    require(world, run.state === 'SUCCEEDED' && output === result.output, () => {
      return `the parent has ${result.output}, the child is ${run.state} with ${output}`;
    });
  }
  if (run.stop?.by !== 'its parent') return;
  const isOver = decisionsOf(world, above).some(({ nodes, items, attempt, to }) => {
    const isOfItem = !items || (parent.item !== undefined && items.includes(parent.item));
    return nodes.includes(parent.node) && isOfItem && attempt === parent.attempt && to !== 'r';
  });
  require(world, above.stop !== undefined || isOver, () => `child ${run.id} was stopped, though it was wanted`);
}

function checkExecutions(world: World): void {
  const starts = new Map(world.trace.starts.map(({ name, at }) => [name, at]));
  for (const execution of world.executions.started.values()) {
    require(world, execution.status !== 'RUNNING', () => `orphan: ${execution.name} still runs`);
    const { run: id, nonce } = attemptOf(execution.name);
    const { endedAt = 0 } = seenIn(world, { id, nonce });
    const late = (starts.get(execution.name) ?? 0) - endedAt;
    const isTakenBack = world.faults.freezeStarts && execution.status === 'ABORTED';
    require(world, late <= 0 || isTakenBack === true, () => `${execution.name} started ${late} ms after the run's end`);
  }
}

/**
 * Calls of StartExecution for an attempt bring the same input, so that a repeated one is the same call. Where a rule
 * starts a node before its upstreams are over, a later look at them sees more: such a node is not asked for that.
 */
function checkInput(world: World, name: string): void {
  const { run, node } = attemptOf(name);
  const { trigger = 'always' } = world.pipelineOf(world.runs.latest(run)).nodes[node] ?? {};
  const inputs = [...(world.trace.inputs.get(name) ?? [])];
  require(world, EARLY_RULES.has(trigger) || inputs.length <= 1, () =>
    `${name} was asked for with ${inputs.join(' and ')}`);
}

/** Every revision up to the last is covered by what was published, and the last word is the final state. */
function checkPublished(world: World, run: RunRecord): void {
  const details = world.trace.events.map(
    ({ detail }) => detail as { runId: string; sinceRev: number; rev: number; state: string },
  );
  const ranges = details.filter(({ runId }) => runId === run.id);
  let covered = 0;
  for (const range of [...ranges].sort((a, b) => a.rev - b.rev)) {
    if (range.sinceRev <= covered + 1) covered = Math.max(covered, range.rev);
  }
  require(world, covered === run.rev, () => `published up to revision ${covered} of ${run.rev}`);
  require(world, ranges.some((range) => range.rev === run.rev && range.state === run.state), () =>
    'the end was not published');
}
