/** Gathers the facts of a pass: results that events brought, and looks at the executions that are due for one. */
import pMap from 'p-map';
import { isApproval } from '#domain/approvals.ts';
import { flightKey, isFlightOf } from '#domain/draft.ts';
import { flightDueAt } from '#domain/due.ts';
import { type AttemptKey, parseExecutionName, toExecutionName } from '#domain/execution-name.ts';
import {
  type AttemptResult,
  type Evaluation,
  type ExecutionStatus,
  evaluationKey,
  type Heartbeat,
  type Observation,
  type StartAnswer,
} from '#domain/facts.ts';
import type { CompiledNode, CompiledPipeline } from '#domain/graph.ts';
import { type Flight, isUnderWay, type RunRecord } from '#domain/run.ts';
import type { CallUrgency, ExecutionSeen } from '#ports/index.ts';
import { storeAskedResults } from './asked-results.ts';
import type { PassDeps } from './deps.ts';
import { reportMissingMachine } from './engines.ts';
import { evaluateWanted } from './evaluation.ts';
import { executionInput } from './execution-input.ts';
import { hear } from './heartbeats.ts';
import { isListable, listRunning } from './listed-running.ts';
import { resultOf, type StoreResult } from './stored-results.ts';

/** Calls to Step Functions at the same time from one pass. */
export const PARALLEL_CALLS = 10;
/** Failed evaluations of a committed start after which its attempt is ended. */
const MAX_EVALUATION_TRIES = 5;

/** The end of an execution as an event tells it. */
export interface Completion {
  readonly nonce: string;
  readonly node: number;
  readonly item?: number | undefined;
  readonly attempt: number;
  readonly status: ExecutionStatus;
  /** JSON text; absent where the event could not carry it. */
  readonly output?: string;
  readonly startedAt: number;
  readonly endedAt: number;
}

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

/** One reading of a run, and the time before it. */
export interface Reading {
  readonly pipeline: CompiledPipeline;
  readonly run: RunRecord;
  readonly readAt: number;
  readonly storeResult: StoreResult;
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

/** Reads a completion off an execution's name; nothing where it is not an attempt of this installation. */
export function completionOf(
  installation: string,
  name: string,
  end: Omit<Completion, 'nonce' | 'node' | 'item' | 'attempt'>,
): { readonly run: string; readonly completion: Completion } | undefined {
  const key = parseExecutionName(installation, name);
  if (!key) return undefined;
  const { run, ...attempt } = key;
  return { run, completion: { ...attempt, ...end } };
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
  const rest = brought.isSweep ? await sweep(deps, reading, open.filter(isDue), gathered) : [];
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

/** Stops an execution; whether that took is seen when its end is. */
export async function stopExecution(deps: PassDeps, run: RunRecord, flight: Flight): Promise<void> {
  await deps.executions.stop(machineOf(run, flight), nameOf(deps, run, flight), flight.ending ?? 'Stopped');
}

/**
 * Starts the executions of committed attempts. None is started later than P after the pass read the run: by then
 * another pass may have ended the attempt and found no execution (DESIGN, "Fence"). The wall clock is read before
 * each call, since a frozen process misses its timers.
 * @param decided the evaluations of the pass that committed the starts itself, so that nobody else can have made
 * them; absent where committed starts are asked for again
 */
export async function startExecutions(
  deps: PassDeps,
  reading: Reading,
  flights: readonly Flight[],
  decided?: ReadonlyMap<string, Evaluation>,
): Promise<StartAnswer[]> {
  const first = decided !== undefined;
  const inputs = await inputsOf(deps, reading, flights, decided);
  const gone = new Map<string, Flight>();
  const answers = await pMap(
    flights,
    async (flight): Promise<StartAnswer | undefined> => {
      const { node, item, attempt } = flight;
      const input = inputs.get(flight);
      if (typeof input !== 'string') return unevaluated(flight, input);
      if (deps.clock.now() - reading.readAt >= deps.options.passMs) return undefined;
      const said = await deps.executions.start(
        machineOf(reading.run, flight),
        nameOf(deps, reading.run, flight),
        input,
      );
      if (deps.clock.now() - reading.readAt >= deps.options.passMs) await takeBackLateStart(deps, reading.run, flight);
      if (!('message' in said)) return { node, item, attempt, answer: said.kind };
      if (said.kind === 'refused' && said.isMachineGone) gone.set(machineOf(reading.run, flight), flight);
      const error = { name: 'Millrace.EngineError', message: said.message };
      return { node, item, attempt, answer: said.kind, error, first };
    },
    { concurrency: PARALLEL_CALLS },
  );
  for (const [arn, { node }] of gone) {
    await reportMissingMachine(deps, (reading.pipeline.nodes[node] as CompiledNode).engine, arn);
  }
  return answers.filter((answer) => answer !== undefined);
}

/**
 * A call that took effect after the fence, however that came about, may have started an attempt that is over.
 * Nobody looks for it any more, so the pass that made the call stops it.
 */
async function takeBackLateStart(deps: PassDeps, read: RunRecord, flight: Flight): Promise<void> {
  const run = await deps.runs.readRun(read.id);
  const isWanted = run?.flights.some((one) => isFlightOf(one, flight) && !one.ending);
  if (!isWanted || run?.nonce !== read.nonce) await stopExecution(deps, read, flight);
}

/** An evaluation that was not reached says nothing about its expression, however often that happens. */
function unevaluated(flight: Flight, failed: Evaluation | undefined): StartAnswer {
  const { node, item, attempt } = flight;
  if (!failed || flight.polls < MAX_EVALUATION_TRIES) return { node, item, attempt, answer: 'later' };
  const message = 'its parameters could not be evaluated again to repeat the start';
  return { node, item, attempt, answer: 'refused', error: { name: 'Millrace.EngineError', message } };
}

/**
 * Evaluates the parameters of starts; they are the same as when the start was decided. Gives the input of each, or the
 * evaluation that failed; nothing for one that was not reached.
 */
async function inputsOf(
  deps: PassDeps,
  reading: Reading,
  flights: readonly Flight[],
  decided?: ReadonlyMap<string, Evaluation>,
): Promise<Map<Flight, string | Evaluation>> {
  const wanted = flights.map((flight) => ({
    key: evaluationKey('params', flight.node, flight.attempt, flight.item),
    what: 'params' as const,
    node: flight.node,
    item: flight.item,
    attempt: flight.attempt,
    at: flight.startedAt,
  }));
  const scope = { ...reading, results: [] };
  const answers = decided ?? (await evaluateWanted(deps, scope, wanted, deps.options.passMs / 3));
  const inputs = new Map<Flight, string | Evaluation>();
  for (const flight of flights) {
    const answer = answers.get(evaluationKey('params', flight.node, flight.attempt, flight.item));
    if (!answer) continue;
    const node = reading.pipeline.nodes[flight.node] as CompiledNode;
    inputs.set(flight, answer.ok ? executionInput(reading, node, flight, answer.value) : answer);
  }
  return inputs;
}

function machineOf(run: RunRecord, flight: Flight): string {
  return run.machines[flight.machine] as string;
}

function nameOf(deps: PassDeps, run: RunRecord, flight: Flight): string {
  return toExecutionName(deps.installation, {
    run: run.id,
    nonce: run.nonce,
    node: flight.node,
    item: flight.item,
    attempt: flight.attempt,
  });
}
