/** Orders to end a run early: who gives them, and what they do to what waits, runs, or is about to start. */
import { orderEnd } from './attempts.ts';
import { type Draft, decideItem, decideNode, decideRun, endFlight, flightKey, isSettled } from './draft.ts';
import { runDeadlineOf } from './due.ts';
import type { Command } from './facts.ts';
import type { CompiledNode } from './graph.ts';
import { closeMap } from './maps.ts';
import { isTerminal } from './node-status.ts';
import type { Reason } from './reasons.ts';
import { type EndReason, isUnderWay, type StopOrder } from './run.ts';
import { stopCode } from './stop-code.ts';

const END_REASONS: Record<StopOrder['kind'], EndReason> = {
  user: 'Stopped',
  failFast: 'FailFast',
  timeout: 'RunTimedOut',
  overlap: 'Stopped',
  fault: 'Stopped',
};

/**
 * The first order stands: a user's stop of this very step, or the run's own deadline.
 * One that finds nothing open comes too late: the run has ended by itself (C41).
 */
export function orderStop(draft: Draft): void {
  if (draft.stop || isSettled(draft)) return;
  const deadline = runDeadlineOf(draft.pipeline, draft.before);
  const { command } = draft.facts;
  const by = command?.kind === 'stop' ? command.by : draft.deleted?.by;
  if (command?.kind === 'stop' || draft.deleted) {
    draft.stop = { kind: 'user', at: draft.now, ...(by !== undefined && { by }) };
  } else if (draft.facts.fault) {
    draft.stop = { kind: 'fault', at: draft.now };
    draft.error = draft.facts.fault;
  } else if (deadline !== undefined && draft.now >= deadline) draft.stop = { kind: 'timeout', at: draft.now };
}

/** With `failFast`, the first failure that counts stops the rest. */
export function orderFailFast(draft: Draft): void {
  if (!draft.stop && draft.pipeline.failFast && draft.firstBad && !isSettled(draft))
    draft.stop = { kind: 'failFast', at: draft.now };
}

/**
 * Ends what waits at once, and orders the end of what runs. A run that has not begun has nothing to clean up, nor the turn
 * that its cleanup nodes would need: it is over at once.
 */
export function carryOutStop(draft: Draft, stop: StopOrder): void {
  const hasBegun = draft.state !== 'QUEUED';
  const reason: Reason = stop.kind === 'failFast' ? 'FailFast' : 'Stopping';
  decideRun(draft, 'STOPPING', reason, stop.by);
  takeBackStarts(draft, stop);
  for (const flight of [...draft.flights.values()]) {
    if (isCleanup(draft, flight.node) || draft.marks.has(flight.node)) continue;
    if (!isUnderWay(flight)) {
      endFlight(draft, flight);
      if (flight.item !== undefined) decideItem(draft, flight, stopCode(stop));
    } else if (!flight.ending) orderEnd(draft, flight, END_REASONS[stop.kind]);
  }
  for (const node of draft.pipeline.nodes) {
    if ((node.cleanup && hasBegun) || draft.marks.has(node.index)) continue;
    if (isTerminal(draft.nodes[node.index] as number)) continue;
    if (draft.maps.has(node.index)) closeMap(draft, node.index);
    else if (!draft.flights.has(node.index)) decideNode(draft, node.index, stopCode(stop));
  }
}

function isCleanup(draft: Draft, node: number): boolean {
  return (draft.pipeline.nodes[node] as CompiledNode).cleanup;
}

/** Starts of this very step are not committed yet: nobody can have seen them, so they simply do not happen. */
function takeBackStarts(draft: Draft, stop: StopOrder): void {
  const isKept = (command: Command) => command.kind === 'stop' || isCleanup(draft, command.node);
  const kept = draft.commands.filter(isKept);
  for (const command of draft.commands) {
    if (isKept(command)) continue;
    draft.flights.delete(flightKey(command));
    if (command.item !== undefined) decideItem(draft, command, stopCode(stop));
  }
  draft.commands.splice(0, draft.commands.length, ...kept);
}
