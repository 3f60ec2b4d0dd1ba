/** Plays a plan in a world, and holds the end of each of its runs against the independent reference. */
import { parseExecutionName } from '#domain/execution-name.ts';
import { type NodeState, statusOf } from '#domain/node-status.ts';
import {
  type Outcome,
  type ReferenceNode,
  type ReferenceNodeOutcome,
  type ReferenceOutcome,
  referenceOutcome,
} from '../reference/outcome.ts';
import { checkAsks } from './ask-checks.ts';
import { checkBackfills } from './backfill-checks.ts';
import {
  approvalOutcomes,
  attemptsBegun,
  cachedItems,
  checkFates,
  childOutcomes,
  decidedState,
  fateOf,
  isTakenOver,
  type PlayedRun,
  playedRun,
  rootsIn,
} from './chance.ts';
import { require } from './invariant-error.ts';
import { mostTicks } from './most-ticks.ts';
import { checkPayloads } from './payload-checks.ts';
import type { Plan, PlannedAttempt, PlannedNode } from './plan.ts';
import { attemptOf, playedBy, toFaults, toScenario } from './plan-scenario.ts';
import { checkStartsByThemselves } from './schedule-checks.ts';
import { checkSilences } from './silence-checks.ts';
import { World } from './world.ts';

/** Plays a plan to its end; fails where an invariant breaks, or the end of a run is not what SEMANTICS says. */
export async function playPlan(plan: Plan): Promise<World> {
  const world = new World(toScenario(plan), toFaults(plan));
  await world.play(mostTicks(plan));
  checkRuns(plan, world);
  return world;
}

/** What the reference says of the pipeline of a plan, as if it ran alone and nobody stopped it. */
export function referenceOf(plan: Plan): ReferenceOutcome {
  return referenceOutcome(plan.nodes.map((node, place) => toReferenceNode(node, place, 0)));
}

function referenceOfRun(played: PlayedRun): ReferenceOutcome {
  const { nodes, plan, run } = played;
  const { shift } = playedBy(plan, run);
  return referenceOutcome(
    nodes.map((node, place) => {
      const known = toReferenceNode(node, place, shift);
      const fate = fateOf(played, place);
      const decided = decidedState(played, place);
      const before = (fate ?? decided) && { attemptsBefore: attemptsBegun(played, place) };
      const told = { ...known, ...(fate && { fate }), ...(decided && { decided }), ...before };
      if (node.approval && !node.map) return { ...told, outcomes: orSuccess(approvalOutcomes(played, place)) };
      if (node.map && known.map)
        return { ...told, map: { ...known.map, ...toldItems(played, node, place, known.map.items) } };
      return node.child === undefined ? told : { ...told, outcomes: orSuccess(childOutcomes(played, place)) };
    }),
  );
}

function toldItems(
  played: PlayedRun,
  { child, approval }: PlannedNode,
  place: number,
  items: readonly (readonly Outcome[])[],
) {
  const cached = cachedItems(played, place);
  if (child === undefined && !approval) return { cached };
  const outcomesOf = approval ? approvalOutcomes : childOutcomes;
  return { cached, items: items.map((_, item) => orSuccess(outcomesOf(played, place, item))) };
}

/** An attempt that was never made comes to nothing that counts: how many there were, is counted. */
function orSuccess(outcomes: readonly Outcome[]): readonly Outcome[] {
  return outcomes.length > 0 ? outcomes : [{ status: 'SUCCEEDED' }];
}

function toReferenceNode(node: PlannedNode, place: number, shift: number): ReferenceNode {
  const toOutcomes = (attempts: readonly PlannedAttempt[]) =>
    attempts.slice(Math.min(shift, attempts.length - 1)).map((one) => toOutcome(one, node.heartbeatSeconds));
  return {
    id: `n${place}`,
    dependsOn: node.upstreams.map((upstream) => `n${upstream}`),
    trigger: node.trigger,
    ...(node.when && { when: node.when === 'odd' ? 'error' : node.when }),
    allowFailure: node.allowFailure,
    maxAttempts: node.retry?.maxAttempts ?? 1,
    on: node.retry?.on ?? ['States.ALL'],
    notOn: node.retry?.notOn ?? [],
    outcomes: toOutcomes(node.attempts),
    ...(node.branch && { branch: typeof node.branch === 'string' ? 'error' : node.branch.map((to) => `n${to}`) }),
    ...(node.map && { map: { items: node.map.items.map(toOutcomes), tolerated: node.map.tolerated } }),
    ...(node.cache?.key === 'error' && { hasBadKey: true }),
  };
}

function toOutcome({ kind, error }: PlannedAttempt, heartbeatSeconds: number | undefined): Outcome {
  if (kind === 'HANGS' && heartbeatSeconds !== undefined)
    return { status: 'FAILED', error: 'Millrace.HeartbeatTimeout' };
  if (kind === 'FAILED') return { status: 'FAILED', error };
  if (kind === 'REFUSED') return { status: 'FAILED', error: 'Millrace.EngineError' };
  return { status: kind === 'HANGS' ? 'TIMED_OUT' : kind };
}

/** Holds the end of every run of a world against the reference. */
function checkRuns(plan: Plan, world: World): void {
  const roots = new Set(rootsIn(world).map(({ id }) => id)).size;
  const isMaybe = plan.orders?.some(({ kind }) => kind === 'deletePipeline') === true;
  const wanted = 1 + (plan.runsAtMs?.length ?? 0);
  require(world, roots === wanted || (isMaybe && roots < wanted), () => `${roots} runs were made`);
  checkAsks(plan, world);
  checkStartsByThemselves(plan, world);
  checkBackfills(plan, world);
  checkPayloads(plan, world);
  checkSilences(plan, world);
  if (plan.faults.some(([, fault]) => fault.kind === 'refuse')) return;
  for (const run of world.runs.everAll()) checkOutcome(playedRun(world, plan, run));
}

function checkOutcome(played: PlayedRun): void {
  const { world, plan, run } = played;
  checkFates(played);
  const expected = referenceOfRun(played);
  if (run.stop) {
    checkCutShort(played, expected);
    return;
  }
  const wanted = playedBy(plan, run).output === 'error' ? 'FAILED' : expected.run;
  require(world, run.state === wanted, () => `run ${run.id} of ${run.pipeline} is ${run.state}, not ${wanted}`);
  for (const [place, outcome] of outcomesOf(expected)) {
    const found = stateIn(played, place);
    require(world, found === outcome.state, () => `n${place} of ${run.pipeline} is ${found}, not ${outcome.state}`);
    checkAttempts(played, place, outcome);
  }
}

function outcomesOf({ nodes }: ReferenceOutcome): [number, ReferenceNodeOutcome][] {
  return [...nodes].map(([id, outcome]) => [Number(id.slice(1)), outcome]);
}

function letterOf({ run, indexOf }: PlayedRun, place: number): string {
  return run.nodes[indexOf(place)] as string;
}

function stateIn(played: PlayedRun, place: number): NodeState {
  return statusOf(letterOf(played, place).charCodeAt(0)).state;
}

/** Each attempt that the reference makes has one execution, or one run, and no other has, refusals apart. */
function checkAttempts(played: PlayedRun, place: number, { state, attempts }: ReferenceNodeOutcome): void {
  const { world, plan, run, nodes } = played;
  const node = nodes[place] as PlannedNode;
  const found = executionsOf(played, place);
  if (node.approval) return;
  if (decidedState(played, place)) {
    const isRight = !isTakenOver(played, place) || found === 0;
    require(world, isRight, () => `n${place} of ${run.pipeline} was taken over, and had ${found} executions`);
    return;
  }
  if (node.map) {
    // Which items of a failing map start at all depends on the order in which they end.
    const isWhole = state === 'SUCCEEDED' && (node.child !== undefined || !node.map.items.flat().some(isRefused));
    require(world, isWhole ? found === attempts : found <= attempts, () => {
      return `the items of n${place} of ${run.pipeline} had ${found} executions, not ${attempts}`;
    });
    return;
  }
  const { shift } = playedBy(plan, run);
  let wanted = 0;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    if (node.child !== undefined || !isRefused(attemptOf(node, attempt + shift))) wanted += 1;
  }
  require(world, found === wanted, () => `n${place} of ${run.pipeline} had ${found} executions, not ${wanted}`);
}

function isRefused({ kind }: PlannedAttempt): boolean {
  return kind === 'REFUSED';
}

/** How many executions a node had, or runs, where it starts them. */
function executionsOf({ world, run, nodes, indexOf }: PlayedRun, place: number): number {
  const index = indexOf(place);
  if (nodes[place]?.child !== undefined) {
    return world.runs.everAll().filter(({ parent }) => parent?.run === run.id && parent.node === index).length;
  }
  const keys = world.trace.starts.map(({ name }) => parseExecutionName('sim', name));
  // A run that was deleted may be made again under its id, by a client that asks again.
  return keys.filter((key) => key?.run === run.id && key.nonce === run.nonce && key.node === index).length;
}

/** A run that was stopped, failed fast or ran out of time: what it decided before is right, the rest was stopped. */
function checkCutShort(played: PlayedRun, expected: ReferenceOutcome): void {
  const { world, plan, run, nodes } = played;
  const kind = run.stop?.kind;
  for (const [place, { state }] of outcomesOf(expected)) {
    const found = stateIn(played, place);
    // It is decided by what the stop made of those above it.
    if (nodes[place]?.cleanup) continue;
    // Attempts that the run's own time ended are bad, and may be more than a map tolerates.
    const isMap = nodes[place]?.map !== undefined;
    const isOutOfTime = kind === 'timeout' && (found === 'TIMED_OUT' || (isMap && found === 'FAILED'));
    const isStopped = 'Afd'.includes(letterOf(played, place)) || isOutOfTime;
    require(world, isStopped || found === state, () => `n${place} of ${run.pipeline} is ${found}, not ${state}`);
  }
  const mayFailFast = playedBy(plan, run).failFast && expected.run === 'FAILED';
  require(world, kind !== 'failFast' || mayFailFast, () => 'it failed fast without a failure');
  const wanted = kind === 'timeout' ? 'TIMED_OUT' : hasBad(played) ? 'FAILED' : 'ABORTED';
  require(world, run.state === wanted, () => `run ${run.id} of ${run.pipeline} is ${run.state}, not ${wanted}`);
}

/** Whether a node is bad whose failure was not allowed; what follows a failure adds nothing to it. */
function hasBad(played: PlayedRun): boolean {
  return played.nodes.some((node, place) => !node.allowFailure && 'FXLEGITOQHx'.includes(letterOf(played, place)));
}
