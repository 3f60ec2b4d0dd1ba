/** Gathers the facts of a pass: results that events brought, and looks at the executions that are due for one. */
import pMap from 'p-map';
import { isApproval } from '#domain/approvals.ts';
import { flightKey, isFlightOf } from '#domain/draft.ts';
import { flightDueAt } from '#domain/due.ts';
import type { AttemptKey } from '#domain/execution-name.ts';
import type { AttemptResult, Heartbeat, Observation, StartAnswer } from '#domain/facts.ts';
import { type Flight, isUnderWay } from '#domain/run.ts';
import type { CallUrgency, ExecutionSeen } from '#ports/index.ts';
import { storeAskedResults } from './asked-results.ts';
import type { Completion } from './completion.ts';
import type { PassDeps } from './deps.ts';
import { hear } from './heartbeats.ts';
import { isListable, listRunning } from './listed-running.ts';
import type { Reading } from './reading.ts';
import { machineOf, nameOf, PARALLEL_CALLS, startExecutions, stopExecution } from './start-executions.ts';
import { resultOf } from './stored-results.ts';

/** What one pass gathered. */
export interface Gathered {
  readonly results: AttemptResult[];
  readonly observations: Observation[];
  readonly answers: StartAnswer[];
  readonly heartbeats: Heartbeat[];
  /** Completions whose output or error could not be had now; their message has to come again. */
  unanswered: number;
  polled: number;
  started: number;
  stopped: number;
}

/** What brings a pass, as far as it concerns executions. */
export interface Brought {
  readonly completions?: readonly Completion[];
  /** Attempts to look at though they are not due. */
  readonly looks?: readonly AttemptKey[];
  /**
   * Whether to look at every execution that is due. A pass that only brings news leaves them to the next ring, which then
   * finds many at once: those that it can list, and each of them once, however many passes the news bring.
   */
  readonly isSweep: boolean;
  /** A stop that stands is ordered again: who ordered it first may have died before it told any execution. */
  readonly repeatsStop?: boolean;
}

/** Learns what can be learnt about a run now. Every result is stored before it is given on. */
export async function gather(deps: PassDeps, reading: Reading, brought: Brought): Promise<Gathered> {
  const gathered: Gathered = {
    results: [],
    observations: [],
    answers: [],
    heartbeats: [],
    unanswered: 0,
    polled: 0,
    started: 0,
    stopped: 0,
  };
  const isOwn = ({ nonce }: AttemptKey | Completion) => nonce === reading.run.nonce;
  const own = (brought.completions ?? []).filter(isOwn);
  const untold = await takeCompletions(deps, reading, own, gathered);
  const settled = new Set([...gathered.results, ...untold].map(flightKey));
  const looks = new Set((brought.looks ?? []).filter(isOwn).map(flightKey));
  const now = deps.clock.now();
  const hasExecution = (flight: Flight) => isUnderWay(flight) && !isApproval(reading.run, flight);
  const unsettled = reading.run.flights.filter((flight) => hasExecution(flight) && !settled.has(flightKey(flight)));
  const heard = brought.isSweep ? await hear(deps, reading, unsettled) : undefined;
  gathered.heartbeats.push(...(heard?.heartbeats ?? []));
  const open = heard?.flights ?? unsettled;
  const isAsked = (flight: Flight) =>
    looks.has(flightKey(flight)) || (brought.repeatsStop === true && flight.ending !== undefined);
  const asked = open.filter(isAsked);
  const isDue = (flight: Flight) => !isAsked(flight) && flightDueAt(reading.pipeline, flight) <= now;
  const due = brought.isSweep ? open.filter(isDue) : [];
  const rest = await sweep(
    deps,
    reading,
    due.filter((flight) => !isPutOff(flight)),
    gathered,
  );
  await startAgain(deps, reading, due.filter(isPutOff), gathered);
  await pMap(
    [...asked.map((flight) => [flight, 'prompt'] as const), ...rest.map((flight) => [flight, 'sweep'] as const)],
    ([flight, urgency]) => look(deps, reading, flight, gathered, urgency),
    { concurrency: PARALLEL_CALLS },
  );
  gathered.results.push(...(await storeAskedResults(deps, reading.run, reading.storeResult)));
  return gathered;
}

/**
 * Stores what completions tell.
 * @returns the attempts whose execution had to be asked for the rest; none of them needs another look in this pass
 */
async function takeCompletions(
  deps: PassDeps,
  reading: Reading,
  completions: readonly Completion[],
  gathered: Gathered,
): Promise<Flight[]> {
  const untold = new Set<Flight>();
  const store = async (completion: Completion) => {
    const { nonce, node, item, attempt, status, startedAt, endedAt } = completion;
    const told = resultOf(completion);
    const flight = reading.run.flights.find((one) => isFlightOf(one, completion));
    if (told) gathered.results.push(await reading.storeResult(nonce, told));
    else if (status !== 'SUCCEEDED' && (status !== 'FAILED' || !flight)) {
      gathered.results.push(await reading.storeResult(nonce, { node, item, attempt, status, startedAt, endedAt }));
    } else if (flight) untold.add(flight);
  };
  await pMap(completions, store, { concurrency: PARALLEL_CALLS });
  const ask = async (flight: Flight) => {
    gathered.polled += 1;
    if ((await describe(deps, reading, flight, gathered, 'prompt')) !== 'ended') gathered.unanswered += 1;
  };
  await pMap(untold, ask, { concurrency: PARALLEL_CALLS });
  return [...untold];
}

/** Looks at many executions by a list, where that is worth it; gives those that it cannot answer for. */
async function sweep(
  deps: PassDeps,
  reading: Reading,
  due: readonly Flight[],
  gathered: Gathered,
): Promise<readonly Flight[]> {
  const { pipeline, run, readAt } = reading;
  const looks = due
    .filter((flight) => isListable(pipeline, flight, readAt))
    .map((flight) => ({ flight, stateMachineArn: machineOf(run, flight), name: nameOf(deps, run, flight) }));
  const running = await listRunning(deps.executions, looks);
  for (const [{ node, item, attempt }, startedAt] of running) {
    gathered.observations.push({ node, item, attempt, seen: 'running', startedAt });
  }
  return due.filter((flight) => !running.has(flight));
}

/** Whether Step Functions did not take the start of an attempt, nor said that it has it. */
function isPutOff(flight: Flight): boolean {
  return flight.throttled === true && !flight.confirmed && !flight.ending;
}

/**
 * Asks again for starts that Step Functions did not take, without a look first: the name is the attempt's own, so a start that
 * was taken after all answers so, and far fewer looks than starts are allowed in a second.
 */
async function startAgain(
  deps: PassDeps,
  reading: Reading,
  flights: readonly Flight[],
  gathered: Gathered,
): Promise<void> {
  if (flights.length === 0) return;
  const answers = await startExecutions(deps, reading, flights);
  gathered.started += answers.length;
  gathered.answers.push(...answers);
}

/** Looks at one execution: asks for its stop again, or for its start where there is no sign of it yet. */
async function look(
  deps: PassDeps,
  reading: Reading,
  flight: Flight,
  gathered: Gathered,
  urgency: CallUrgency,
): Promise<void> {
  gathered.polled += 1;
  if (flight.ending) {
    gathered.stopped += 1;
    await stopExecution(deps, reading.run, flight);
  }
  const seen = await describe(deps, reading, flight, gathered, urgency);
  if (seen !== 'missing' || flight.ending || flight.confirmed) return;
  const answers = await startExecutions(deps, reading, [flight]);
  gathered.started += answers.length;
  gathered.answers.push(...answers);
}

/** Asks for an execution's status and keeps what it says. */
async function describe(
  deps: PassDeps,
  reading: Reading,
  flight: Flight,
  gathered: Gathered,
  urgency: CallUrgency,
): Promise<ExecutionSeen['kind']> {
  const { node, item, attempt } = flight;
  const { run } = reading;
  const seen = await deps.executions.describe(machineOf(run, flight), nameOf(deps, run, flight), urgency);
  if (seen.kind !== 'ended') {
    const startedAt = seen.kind === 'running' ? { startedAt: seen.startedAt } : {};
    gathered.observations.push({ node, item, attempt, seen: seen.kind, ...startedAt });
    return seen.kind;
  }
  const { kind: _kind, ...end } = seen;
  gathered.results.push(await reading.storeResult(reading.run.nonce, { node, item, attempt, ...end }));
  return seen.kind;
}
