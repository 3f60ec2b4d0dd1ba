/** Plays a plan in a world, and holds the end against the independent reference. */
import { parseExecutionName } from '#domain/execution-name.ts';
import { type NodeState, statusOf } from '#domain/node-status.ts';
import {
  type Outcome,
  type ReferenceNode,
  type ReferenceNodeOutcome,
  type ReferenceOutcome,
  referenceOutcome,
} from '../reference/outcome.ts';
import { require } from './invariant-error.ts';
import { attemptOf, type Plan, type PlannedAttempt, type PlannedNode, toFaults, toScenario } from './plan.ts';
import { World } from './world.ts';

/** Plays a plan to its end; fails where an invariant breaks, or the end is not what SEMANTICS says. */
export async function playPlan(plan: Plan): Promise<World> {
  const world = new World(toScenario(plan), toFaults(plan));
  await world.play(mostTicks(plan));
  checkOutcome(plan, world);
  return world;
}

/** Ticks after which every plan must have come to its end, whatever went wrong. */
function mostTicks(plan: Plan): number {
  let ms =
    plan.engineAtMs +
    (plan.engineAtMs > 0 || plan.engineGone ? 16 * 60_000 : 0) +
    (plan.engineGone?.toMs ?? 0) +
    (plan.stopAtMs ?? 0) +
    300_000;
  let attempts = 0;
  for (const node of plan.nodes) {
    const most = node.retry?.maxAttempts ?? 1;
    for (const item of node.map ? node.map.items.keys() : [undefined]) {
      attempts += most;
      for (let attempt = 1; attempt <= most; attempt++) {
        const { kind, durationMs } = attemptOf(node, attempt, item);
        ms += kind === 'HANGS' ? node.timeoutSeconds * 1000 : kind === 'REFUSED' ? 72_000 : durationMs;
        ms += (node.retry?.intervalSeconds ?? 0) * 2 ** attempt * 1000;
      }
    }
  }
  for (const [, fault] of plan.faults) ms += fault.kind === 'freeze' ? fault.forMs + 200_000 : 200_000;
  ms += plan.outage ? 2 * (plan.outage.toMs - plan.outage.fromMs) + 15 * 60_000 : 0;
  const slack = plan.order?.isIndexStale ? 12 : 6;
  return Math.ceil(ms / plan.tickMs) + slack * attempts + 20;
}

/** What the reference says of a plan, as if nobody stopped it. */
export function referenceOf(plan: Plan): ReferenceOutcome {
  return referenceOutcome(plan.nodes.map(toReferenceNode));
}

function toReferenceNode(node: PlannedNode, place: number): ReferenceNode {
  return {
    id: `n${place}`,
    dependsOn: node.upstreams.map((upstream) => `n${upstream}`),
    trigger: node.trigger,
    ...(node.when && { when: node.when === 'odd' ? 'error' : node.when }),
    allowFailure: node.allowFailure,
    maxAttempts: node.retry?.maxAttempts ?? 1,
    on: node.retry?.on ?? ['States.ALL'],
    notOn: node.retry?.notOn ?? [],
    outcomes: node.attempts.map(toOutcome),
    ...(node.branch && { branch: typeof node.branch === 'string' ? 'error' : node.branch.map((to) => `n${to}`) }),
    ...(node.map && {
      map: { items: node.map.items.map((attempts) => attempts.map(toOutcome)), tolerated: node.map.tolerated },
    }),
  };
}

function toOutcome({ kind, error }: PlannedAttempt): Outcome {
  if (kind === 'FAILED') return { status: 'FAILED', error };
  if (kind === 'REFUSED') return { status: 'FAILED', error: 'Millrace.EngineError' };
  return { status: kind === 'HANGS' ? 'TIMED_OUT' : kind };
}

/** Holds the end of a world against the reference. */
function checkOutcome(plan: Plan, world: World): void {
  if (plan.faults.some(([, fault]) => fault.kind === 'refuse')) return;
  const run = world.runs.latest(world.run?.id ?? '');
  const expected = referenceOf(plan);
  if (run.stop) {
    checkCutShort(plan, world, expected);
    return;
  }
  const wanted = plan.output === 'error' ? 'FAILED' : expected.run;
  require(world, run.state === wanted, () => `the run is ${run.state}, not ${wanted}`);
  for (const [id, outcome] of expected.nodes) {
    const found = stateIn(world, id);
    require(world, found === outcome.state, () => `${id} is ${found}, not ${outcome.state}`);
    checkAttempts(plan, world, id, outcome);
  }
}

function stateIn(world: World, id: string): NodeState {
  const run = world.runs.latest(world.run?.id ?? '');
  return statusOf(run.nodes.charCodeAt(world.pipeline.indexOf.get(id) as number)).state;
}

/** Each attempt that the reference makes has one execution, and no other has, refusals apart. */
function checkAttempts(plan: Plan, world: World, id: string, { state, attempts }: ReferenceNodeOutcome): void {
  const node = plan.nodes[Number(id.slice(1))] as PlannedNode;
  const index = world.pipeline.indexOf.get(id);
  const found = world.trace.starts.filter(({ name }) => parseExecutionName('sim', name)?.node === index).length;
  if (node.map) {
    // Which items of a failing map start at all depends on the order in which they end.
    const isWhole = state === 'SUCCEEDED' && !node.map.items.flat().some(({ kind }) => kind === 'REFUSED');
    require(world, isWhole ? found === attempts : found <= attempts, () => {
      return `the items of ${id} had ${found} executions, not ${attempts}`;
    });
    return;
  }
  let wanted = 0;
  for (let attempt = 1; attempt <= attempts; attempt++) {
    if (attemptOf(node, attempt).kind !== 'REFUSED') wanted += 1;
  }
  require(world, found === wanted, () => `${id} had ${found} executions, not ${wanted}`);
}

/** A run that was stopped, failed fast or ran out of time: what it decided before is right, the rest was stopped. */
function checkCutShort(plan: Plan, world: World, expected: ReferenceOutcome): void {
  const run = world.runs.latest(world.run?.id ?? '');
  const kind = run.stop?.kind;
  for (const [id, { state }] of expected.nodes) {
    const found = stateIn(world, id);
    const letter = run.nodes[world.pipeline.indexOf.get(id) as number] as string;
    // Attempts that the run's own time ended are bad, and may be more than a map tolerates.
    const isMap = plan.nodes[Number(id.slice(1))]?.map !== undefined;
    const isOutOfTime = kind === 'timeout' && (found === 'TIMED_OUT' || (isMap && found === 'FAILED'));
    const isStopped = 'Afd'.includes(letter) || isOutOfTime;
    require(world, isStopped || found === state, () => `${id} is ${found}, not ${state}`);
  }
  const mayFailFast = plan.failFast && expected.run === 'FAILED';
  require(world, kind !== 'failFast' || mayFailFast, () => 'it failed fast without a failure');
  const wanted = kind === 'timeout' ? 'TIMED_OUT' : hasBad(plan, world) ? 'FAILED' : 'ABORTED';
  require(world, run.state === wanted, () => `the run is ${run.state}, not ${wanted}`);
}

/** Whether a node is bad whose failure was not allowed. */
function hasBad(plan: Plan, world: World): boolean {
  return plan.nodes.some((node, place) => {
    const run = world.runs.latest(world.run?.id ?? '');
    const letter = run.nodes[world.pipeline.indexOf.get(`n${place}`) as number] as string;
    return !node.allowFailure && 'FXLEGITOU'.includes(letter);
  });
}
