/**
 * `step` alone, without a world: what a run comes to depends neither on the order in which results are folded, nor on
 * how they are grouped into steps, nor on ids, nor on the order in which the author wrote the nodes.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AttemptResult, type Evaluation, evaluationKey, type Facts, type Wanted } from '#domain/facts.ts';
import { type CompiledPipeline, compilePipeline } from '#domain/graph.ts';
import { statusOf } from '#domain/node-status.ts';
import { isRunOver, type RunRecord } from '#domain/run.ts';
import { type StepResult, step } from '#domain/step.ts';
import { type Chooser, chooser } from '#testing/chooser.ts';
import { newRun } from './new-run.ts';
import type { Plan, PlannedNode } from './plan.ts';
import { evaluate, toDefinition } from './plan-definition.ts';
import { attemptOf } from './plan-scenario.ts';
import { referenceOf } from './play-plan.ts';
import { PLANS } from './random-plans.ts';

const ENGINES = new Map([['lambda', { stateMachineArn: 'arn:aws:states:us-east-1:000000000000:stateMachine:lambda' }]]);
const MOST_STEPS = 2_000;

/** One way to tell the same story. */
interface Telling {
  /** Decides order and grouping. */
  readonly seed: number;
  readonly idOf: (place: number) => string;
  /** Whether the nodes are written in another order. */
  readonly isShuffled: boolean;
}

interface Told {
  readonly run: RunRecord;
  /** By place in the plan. */
  readonly letters: string;
}

function tell(plan: Plan, telling: Telling): Told {
  const choose = chooser(telling.seed);
  const written = toDefinition(plan, telling.idOf);
  const nodes = telling.isShuffled ? shuffled(written.nodes, choose) : written.nodes;
  const pipeline = compilePipeline({ ...written, nodes }, 'rev1');
  const placeOf = new Map(plan.nodes.map((_, place) => [pipeline.indexOf.get(telling.idOf(place)), place]));
  const nodeAt = (index: number) => plan.nodes[placeOf.get(index) as number] as PlannedNode;
  let run = newRun(pipeline, 1_800_000_000_000);
  let now = run.createdAt;
  const told: AttemptResult[] = [];
  for (let steps = 0; !isRunOver(run.state); steps++) {
    if (steps > MOST_STEPS) throw new Error(`no end after ${MOST_STEPS} steps: ${run.nodes}`);
    const results = drawResults(run, nodeAt, now, choose);
    // What was told before is told again, now and then: it is about attempts that are over.
    if (told.length > 0 && choose(3) === 0) results.push(told[choose(told.length)] as AttemptResult);
    told.push(...results);
    run = stepOn(pipeline, run, { results: shuffled(results, choose), engines: ENGINES }, now, plan).run;
    now += choose(2) === 0 ? 10 : 10_000;
  }
  const letters = plan.nodes.map((_, place) => run.nodes[pipeline.indexOf.get(telling.idOf(place)) as number]);
  // Whether all failures above it were allowed is not told of a node, and only matters where the run has no other. Why
  // a node is skipped is told by what was known when its rule could decide: of several reasons, the first.
  return { run, letters: letters.join('').replaceAll('B', 'k') };
}

/** Some of the attempts under way end. */
function drawResults(
  run: RunRecord,
  nodeAt: (index: number) => PlannedNode,
  now: number,
  choose: Chooser,
): AttemptResult[] {
  const open = run.flights.filter((flight) => flight.phase !== 'retry');
  const ending = shuffled(open, choose).slice(0, choose(open.length + 1));
  return ending.map(({ node, item, attempt, startedAt }) => {
    const { kind, error } = attemptOf(nodeAt(node), attempt, item);
    const ended = { node, item, attempt, startedAt, endedAt: now };
    if (kind === 'REFUSED')
      return { ...ended, status: 'FAILED', error: { name: 'Millrace.EngineError', message: 'no' } };
    if (kind === 'FAILED') return { ...ended, status: 'FAILED', error: { name: error, message: 'told so' } };
    return { ...ended, status: kind === 'HANGS' ? 'TIMED_OUT' : kind };
  });
}

/** Steps, evaluates what is wanted, and steps again, as a pass does. */
function stepOn(pipeline: CompiledPipeline, run: RunRecord, facts: Facts, now: number, plan: Plan): StepResult {
  const { maxDecisions, maxFlights } = plan;
  const options = { tickMs: 60_000, passMs: 30_000, stopGraceMs: 600_000, maxDecisions, maxFlights };
  const evaluations = new Map<string, Evaluation>();
  for (;;) {
    const result = step(pipeline, run, { ...facts, evaluations }, { now, readAt: now }, options);
    if (result.wanted.length === 0) return result;
    for (const wanted of result.wanted) evaluations.set(wanted.key, evaluateWanted(pipeline, wanted));
  }
}

function evaluateWanted(pipeline: CompiledPipeline, { what, node, item, attempt, at, key }: Wanted): Evaluation {
  expect(key).toBe(evaluationKey(what, node, attempt, item));
  const bindings = { run: { id: 'run' }, nodes: [], attempt, now: at, seed: '' };
  if (what === 'output') return evaluate({ template: pipeline.output ?? '', bindings });
  const { when = '', map, branch = '', params } = pipeline.nodes[node] as CompiledPipeline['nodes'][number];
  const templates = { when, items: map?.items ?? '', branch, params, cache: '' };
  return evaluate({ template: templates[what], bindings });
}

function shuffled<T>(list: readonly T[], choose: Chooser): T[] {
  const left = [...list];
  return list.map(() => left.splice(choose(left.length), 1)[0] as T);
}

/** How many items of a failing map have failed when it stops depends on their order, and is in its message. */
function firstBadOf({ run }: Told) {
  return run.firstBad && { node: run.firstBad.node, name: run.firstBad.error.name };
}

const ODD_IDS = ['__proto__', 'constructor', 'a.b', 'ü', '0', 'toString', 'n', '-1', ' x', 'Ü', 'then', 'z'];

describe('step', () => {
  it('comes to the same, in whatever order and groups results are folded', () => {
    fc.assert(
      fc.property(PLANS.whole, fc.nat(), fc.nat(), (plan, one, other) => {
        const idOf = (place: number) => `n${place}`;
        const first = tell(plan, { seed: one, idOf, isShuffled: false });
        const second = tell(plan, { seed: other, idOf, isShuffled: false });
        const { state } = second.run;
        expect(first).toMatchObject({ letters: second.letters, run: { state } });
        expect(firstBadOf(first)).toEqual(firstBadOf(second));
      }),
      { numRuns: 1_500 },
    );
  });

  it('comes to what the reference says, under whatever ids and in whatever order nodes are written', () => {
    fc.assert(
      fc.property(PLANS.whole, fc.nat(), (plan, seed) => {
        const { run, letters } = tell(plan, { seed, idOf: (place) => ODD_IDS[place] as string, isShuffled: true });
        const expected = referenceOf(plan);
        const states = [...letters].map((letter) => statusOf(letter.charCodeAt(0)).state);
        expect({ run: run.state, states }).toEqual({
          run: plan.output === 'error' ? 'FAILED' : expected.run,
          states: [...expected.nodes].sort(byPlace).map(([, { state }]) => state),
        });
      }),
      { numRuns: 1_500 },
    );
  });
});

function byPlace([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return Number(a.slice(1)) - Number(b.slice(1));
}
