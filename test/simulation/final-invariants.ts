/** What must hold once a world has come to rest: the run is over, told to everybody, with nothing left behind. */
import { isDeepStrictEqual } from 'node:util';
import { isRunOver, type RunRecord } from '#domain/run.ts';
import { require } from './invariant-error.ts';
import { attemptOf, seenIn } from './invariants.ts';
import { resultName } from './watched-runs.ts';
import type { World } from './world.ts';

/** At the end. */
export async function checkFinally(world: World): Promise<void> {
  const run = world.runs.latest(world.run?.id ?? '');
  require(world, isRunOver(run.state), () =>
    `still ${run.state} (${run.nodes}) after ${world.ticks} ticks, now ${world.now}`);
  require(world, run.dueAt === undefined, () => 'over, but still due');
  checkExecutions(world);
  checkPublished(world, run);
  for (const name of world.trace.inputs.keys()) checkInput(world, name);
  if (world.stopAccepted !== undefined) {
    require(world, run.state === 'ABORTED' || run.state === 'FAILED', () => `stop accepted, run ${run.state}`);
  }
  for (const result of await world.runs.listResults(run)) {
    const first = world.runs.results.get(resultName(run.nonce, result));
    require(world, JSON.stringify(result) === JSON.stringify(first), () => {
      return `the result of node ${result.node}, attempt ${result.attempt}, is not what was stored first`;
    });
  }
  const stored = await world.runs.listHistory(run, run.createdAt);
  const put = [...world.runs.history].sort(([a], [b]) => a - b).flatMap(([, decisions]) => decisions);
  require(world, isDeepStrictEqual(JSON.parse(JSON.stringify(stored)), JSON.parse(JSON.stringify(put))), () =>
    'the stored history is not what was put');
}

function checkExecutions(world: World): void {
  const { endedAt } = seenIn(world);
  const starts = new Map(world.trace.starts.map(({ name, at }) => [name, at]));
  for (const execution of world.executions.started.values()) {
    require(world, execution.status !== 'RUNNING', () => `orphan: ${execution.name} still runs`);
    const late = (starts.get(execution.name) ?? 0) - (endedAt ?? 0);
    const isTakenBack = world.faults.freezeStarts && execution.status === 'ABORTED';
    require(world, late <= 0 || isTakenBack === true, () => `${execution.name} started ${late} ms after the run's end`);
  }
}

/**
 * Calls of StartExecution for an attempt bring the same input, so that a repeated one is the same call. Where a rule
 * starts a node before its upstreams are over, a later look at them sees more: such a node is not asked for that.
 */
function checkInput(world: World, name: string): void {
  const { trigger = 'always' } = world.pipeline.nodes[attemptOf(name).node] ?? {};
  const inputs = [...(world.trace.inputs.get(name) ?? [])];
  const isEarly = trigger === 'always' || trigger === 'one_success' || trigger === 'one_failed';
  require(world, isEarly || inputs.length <= 1, () => `${name} was asked for with ${inputs.join(' and ')}`);
}

/** Every revision up to the last is covered by what was published, and the last word is the final state. */
function checkPublished(world: World, run: RunRecord): void {
  const ranges = world.trace.events.map((event) => event.detail as { sinceRev: number; rev: number; state: string });
  let covered = 0;
  for (const range of [...ranges].sort((a, b) => a.rev - b.rev)) {
    if (range.sinceRev <= covered + 1) covered = Math.max(covered, range.rev);
  }
  require(world, covered === run.rev, () => `published up to revision ${covered} of ${run.rev}`);
  require(world, ranges.some((range) => range.rev === run.rev && range.state === run.state), () =>
    'the end was not published');
}
