/** Starts and stops the executions of attempts, within the fence (P4). */
import pMap from 'p-map';
import { isFlightOf } from '#domain/draft.ts';
import { toExecutionName } from '#domain/execution-name.ts';
import { type Evaluation, evaluationKey, type StartAnswer } from '#domain/facts.ts';
import type { CompiledNode } from '#domain/graph.ts';
import type { Flight, RunRecord } from '#domain/run.ts';
import type { PassDeps } from './deps.ts';
import { reportMissingMachine } from './engines.ts';
import { evaluateWanted } from './evaluation.ts';
import { executionInput } from './execution-input.ts';
import type { Reading } from './reading.ts';

/** Calls to Step Functions at the same time from one pass. */
export const PARALLEL_CALLS = 10;
/** Failed evaluations of a committed start after which its attempt is ended. */
const MAX_EVALUATION_TRIES = 5;

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

/** ARN of the state machine of an attempt. */
export function machineOf(run: RunRecord, flight: Flight): string {
  return run.machines[flight.machine] as string;
}

/** Name of the execution of an attempt. */
export function nameOf(deps: PassDeps, run: RunRecord, flight: Flight): string {
  return toExecutionName(deps.installation, {
    run: run.id,
    nonce: run.nonce,
    node: flight.node,
    item: flight.item,
    attempt: flight.attempt,
  });
}
