/**
 * A plan: everything about a random world as plain data, so that it can be drawn, shrunk, printed and played again.
 * `playPlan` plays it in a world and holds the end against the independent reference.
 */
import { strict as assert } from 'node:assert';
import type { NodeDefinition, TriggerRule } from '#domain/definition.ts';
import type { Evaluation } from '#domain/facts.ts';
import type { Json } from '#domain/json.ts';
import { type NodeState, statusOf } from '#domain/node-status.ts';
import type { EvaluationRequest, Evaluator } from '#ports/index.ts';
import { type Outcome, type ReferenceNode, type ReferenceOutcome, referenceOutcome } from '../reference/outcome.ts';
import { chooser } from './chooser.ts';
import type { Faults, OperationFault } from './faults.ts';
import { type Scenario, type Script, World } from './world.ts';

/** How an attempt goes. `HANGS`: it never ends by itself. `REFUSED`: Step Functions does not let it start. */
export interface PlannedAttempt {
  readonly kind: 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED' | 'HANGS' | 'REFUSED';
  /** Name of the error, for FAILED. */
  readonly error: string;
  readonly durationMs: number;
}

/** A node of a plan; its id is `n` and its place in the plan. */
export interface PlannedNode {
  /** Places of its direct upstreams, all smaller than its own. */
  readonly upstreams: readonly number[];
  readonly trigger: TriggerRule;
  /** What its condition gives; `odd` is neither true nor false, and an error like `error`. */
  readonly when?: 'true' | 'false' | 'error' | 'odd' | undefined;
  readonly allowFailure: boolean;
  /** Whether its parameters are expressions. */
  readonly isReader: boolean;
  readonly retry?:
    | {
        readonly maxAttempts: number;
        readonly intervalSeconds: number;
        readonly jitter: 'full' | 'none';
        readonly on?: readonly string[] | undefined;
        readonly notOn?: readonly string[] | undefined;
      }
    | undefined;
  readonly timeoutSeconds: number;
  /** The last one stands for all that follow. */
  readonly attempts: readonly PlannedAttempt[];
}

/** A random world. */
export interface Plan {
  readonly nodes: readonly PlannedNode[];
  readonly failFast: boolean;
  readonly stopAtMs?: number | undefined;
  readonly timeoutSeconds?: number | undefined;
  readonly events: 'run' | 'nodes';
  readonly engineAtMs: number;
  readonly maxDecisions: number;
  readonly maxFlights: number;
  readonly tickMs: number;
  /** By number of the operation. */
  readonly faults: readonly (readonly [number, OperationFault])[];
  /** Decides the order of everything; absent: one thing after the other, and nothing of the following. */
  readonly order?:
    | {
        readonly seed: number;
        readonly loseOneIn?: number | undefined;
        readonly copies: number;
        readonly lateMs: number;
        readonly skewMs: number;
        readonly staleMs: number;
        readonly isIndexStale: boolean;
      }
    | undefined;
  readonly drop: boolean;
  readonly outage?: { readonly fromMs: number; readonly toMs: number } | undefined;
  readonly startsPerSecond?: number | undefined;
}

/** Plays a plan to its end; fails where an invariant breaks, or the end is not what SEMANTICS says. */
export async function playPlan(plan: Plan): Promise<World> {
  const world = new World(toScenario(plan), toFaults(plan));
  await world.play(mostTicks(plan));
  checkOutcome(plan, world);
  return world;
}

const REQUESTS = { true: '{% true %}', false: '{% false %}', error: '{% $error("no") %}', odd: '{% 1 %}' } as const;

function toNode(node: PlannedNode, place: number): NodeDefinition {
  const reads = node.upstreams.map((upstream) => `$nodes.n${upstream}`).join(', ');
  return {
    id: `n${place}`,
    dependsOn: node.upstreams.map((upstream) => `n${upstream}`),
    trigger: node.trigger,
    params: { function: 'f', ...(node.isReader && { payload: `{% [${reads}] %}` }) },
    ...(node.when && { when: REQUESTS[node.when] }),
    allowFailure: node.allowFailure,
    timeoutSeconds: node.timeoutSeconds,
    ...(node.retry && {
      retry: {
        maxAttempts: node.retry.maxAttempts,
        intervalSeconds: node.retry.intervalSeconds,
        jitter: node.retry.jitter,
        ...(node.retry.on && { on: node.retry.on }),
        ...(node.retry.notOn && { notOn: node.retry.notOn }),
      },
    }),
  };
}

function toScenario(plan: Plan): Scenario {
  return {
    name: 'random',
    definition: {
      name: 'random',
      failFast: plan.failFast,
      events: plan.events,
      ...(plan.timeoutSeconds !== undefined && { timeoutSeconds: plan.timeoutSeconds }),
      nodes: plan.nodes.map(toNode),
    },
    script: (id, attempt) => toScript(plan.nodes[Number(id.slice(1))] as PlannedNode, attempt),
    ...(plan.stopAtMs !== undefined && { stopAtMs: plan.stopAtMs }),
    engineAtMs: plan.engineAtMs,
    options: { maxDecisions: plan.maxDecisions, maxFlights: plan.maxFlights },
    evaluator: EVALUATOR,
  };
}

function attemptOf(node: PlannedNode, attempt: number): PlannedAttempt {
  return node.attempts[Math.min(attempt, node.attempts.length) - 1] as PlannedAttempt;
}

const NEVER_MS = 10 ** 9;

function toScript(node: PlannedNode, attempt: number): Script {
  const { kind, error, durationMs } = attemptOf(node, attempt);
  switch (kind) {
    case 'HANGS':
      return { durationMs: NEVER_MS, end: { status: 'SUCCEEDED', output: '{}' } };
    case 'REFUSED':
      return { durationMs: 0, end: { status: 'SUCCEEDED' }, isRefused: true };
    case 'SUCCEEDED':
      return { durationMs, end: { status: kind, output: '{}' } };
    case 'FAILED':
      return { durationMs, end: { status: kind, error: { name: error, message: 'told so' } } };
    default:
      return { durationMs, end: { status: kind } };
  }
}

/** Expressions of plans: conditions by their text, and parameters that show whatever they can see. */
const EVALUATOR: Evaluator = {
  evaluate: async (requests) => requests.map(evaluate),
};

function evaluate({ template, bindings }: EvaluationRequest): Evaluation {
  if (template === REQUESTS.true) return { ok: true, value: true };
  if (template === REQUESTS.false) return { ok: true, value: false };
  if (template === REQUESTS.odd) return { ok: true, value: 1 };
  if (template === REQUESTS.error) {
    return { ok: false, error: { name: 'Millrace.ExpressionError', message: 'no' } };
  }
  return { ok: true, value: { function: 'f', payload: JSON.parse(JSON.stringify(bindings)) as Json } };
}

function toFaults(plan: Plan): Faults {
  const { order, drop, tickMs, outage, startsPerSecond } = plan;
  return {
    at: new Map(plan.faults),
    tickMs,
    drop,
    ...(outage && { outage }),
    ...(startsPerSecond !== undefined && { startsPerSecond }),
    ...(order && {
      choose: chooser(order.seed),
      copies: order.copies,
      lateMs: order.lateMs,
      skewMs: order.skewMs,
      staleMs: order.staleMs,
      isIndexStale: order.isIndexStale,
      ...(order.loseOneIn !== undefined && { loseOneIn: order.loseOneIn }),
    }),
  };
}

/** Ticks after which every plan must have come to its end, whatever went wrong. */
export function mostTicks(plan: Plan): number {
  let ms = plan.engineAtMs + (plan.engineAtMs > 0 ? 16 * 60_000 : 0) + (plan.stopAtMs ?? 0) + 300_000;
  let attempts = 0;
  for (const node of plan.nodes) {
    const most = node.retry?.maxAttempts ?? 1;
    attempts += most;
    for (let attempt = 1; attempt <= most; attempt++) {
      const { kind, durationMs } = attemptOf(node, attempt);
      ms += kind === 'HANGS' ? node.timeoutSeconds * 1000 : kind === 'REFUSED' ? 36_000 : durationMs;
      ms += (node.retry?.intervalSeconds ?? 0) * 2 ** attempt * 1000;
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
  };
}

function toOutcome({ kind, error }: PlannedAttempt): Outcome {
  if (kind === 'FAILED') return { status: 'FAILED', error };
  if (kind === 'REFUSED') return { status: 'FAILED', error: 'Millrace.EngineError' };
  return { status: kind === 'HANGS' ? 'TIMED_OUT' : kind };
}

/** Holds the end of a world against the reference. */
function checkOutcome(plan: Plan, world: World): void {
  const run = world.runs.latest(world.run?.id ?? '');
  const expected = referenceOf(plan);
  const states = new Map<string, NodeState>();
  for (const { id, index } of world.pipeline.nodes) states.set(id, statusOf(run.nodes.charCodeAt(index)).state);
  const isCutShort = run.stop !== undefined;
  const isRefusedOnce = plan.faults.some(([, fault]) => fault.kind === 'refuse');
  if (isRefusedOnce) return;
  if (!isCutShort) {
    const wanted = plan.nodes.map((_, place) => `n${place} ${expected.nodes.get(`n${place}`)?.state}`);
    const found = plan.nodes.map((_, place) => `n${place} ${states.get(`n${place}`)}`);
    assert.deepEqual([run.state, ...found], [expected.run, ...wanted], story(world));
    checkAttempts(plan, world, expected);
    return;
  }
  checkCutShort(plan, world, expected, states);
}

/** Each attempt that the reference makes has one execution, and no other has, refusals apart. */
function checkAttempts(plan: Plan, world: World, expected: ReferenceOutcome): void {
  for (const [place, node] of plan.nodes.entries()) {
    const { attempts } = expected.nodes.get(`n${place}`) as { attempts: number };
    const index = world.pipeline.indexOf.get(`n${place}`);
    const found = world.trace.starts.filter(({ name }) => name.split('-')[3] === String(index)).length;
    let wanted = 0;
    for (let attempt = 1; attempt <= attempts; attempt++) {
      if (attemptOf(node, attempt).kind !== 'REFUSED') wanted += 1;
    }
    assert.equal(found, wanted, `executions of n${place}\n${story(world)}`);
  }
}

/** A run that was stopped, failed fast or ran out of time: what it decided before is right, the rest was stopped. */
function checkCutShort(
  plan: Plan,
  world: World,
  expected: ReferenceOutcome,
  states: ReadonlyMap<string, NodeState>,
): void {
  const run = world.runs.latest(world.run?.id ?? '');
  const kind = run.stop?.kind;
  for (const [id, { state }] of expected.nodes) {
    const found = states.get(id);
    const index = world.pipeline.indexOf.get(id) as number;
    const isStopped = 'Afd'.includes(run.nodes[index] as string) || (kind === 'timeout' && found === 'TIMED_OUT');
    assert.ok(isStopped || found === state, `${id} is ${found}, not ${state}\n${story(world)}`);
  }
  if (kind === 'failFast') assert.equal(plan.failFast && expected.run, 'FAILED', story(world));
  if (kind === 'timeout') assert.equal(run.state, 'TIMED_OUT', story(world));
  else assert.equal(run.state, run.firstBad ? 'FAILED' : 'ABORTED', story(world));
}

function story(world: World): string {
  return world.trace.operations.map((operation, at) => `${at} ${operation}`).join('\n');
}
