/**
 * One ListExecutions in the place of many DescribeExecutions: most of the executions that are due for a look still run,
 * and a call that lists a thousand of them costs the account as much as five looks (DESIGN, "Polling within the quotas").
 */
import pMap from 'p-map';
import { deadlineOf, silentAt } from '#domain/due.ts';
import type { CompiledPipeline } from '#domain/graph.ts';
import type { Flight } from '#domain/run.ts';
import type { Executions } from '#ports/index.ts';

/** Looks at one state machine from which on it is listed first. */
export const LOOKS_WORTH_A_LIST = 10;
/** Pages of a list at most; beyond them are older executions than most. */
const MAX_PAGES = 5;

/** A look that is due. */
export interface DueLook {
  readonly flight: Flight;
  readonly stateMachineArn: string;
  readonly name: string;
}

/**
 * Whether a list may answer for a look. It lags behind, so it is not asked where the answer decides: of an attempt whose
 * time is over or that is silent, that is being ended, or that could not be found.
 * @param readAt when the pass read the run (ms since the epoch)
 */
export function isListable(pipeline: CompiledPipeline, flight: Flight, readAt: number): boolean {
  const decidesAt = Math.min(deadlineOf(pipeline, flight), silentAt(pipeline, flight));
  return !flight.ending && flight.missingSince === undefined && readAt < decidesAt;
}

/**
 * Which of these executions a list shows to run, with the time of their start (ms since the epoch). Of the others nothing
 * is known: they have to be looked at one by one.
 */
export async function listRunning(
  executions: Executions,
  looks: readonly DueLook[],
): Promise<ReadonlyMap<Flight, number>> {
  const byMachine = Map.groupBy(looks, ({ stateMachineArn }) => stateMachineArn);
  const worth = [...byMachine].filter(([, due]) => due.length >= LOOKS_WORTH_A_LIST);
  const running = new Map<Flight, number>();
  await pMap(worth, async ([stateMachineArn, due]) => {
    const pages = Math.min(MAX_PAGES, Math.floor(due.length / LOOKS_WORTH_A_LIST));
    const listed = await executions.listRunning(stateMachineArn, pages);
    if (listed.kind !== 'listed') return;
    for (const { flight, name } of due) {
      const startedAt = listed.startedAt.get(name);
      if (startedAt !== undefined) running.set(flight, startedAt);
    }
  });
  return running;
}
