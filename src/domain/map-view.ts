/** A map as the API shows it: how many of its items stand how, and why the map stands as it does. */
import type { CompiledMap, CompiledNode } from './graph.ts';
import { toIsoTime } from './iso-time.ts';
import { itemsLeft } from './map-places.ts';
import { toleratedFailures } from './maps.ts';
import { countInWords } from './names-in-words.ts';
import { isTerminal, type NodeState, statusOf } from './node-status.ts';
import type { NodeStory } from './node-story.ts';
import type { Explanation, Reason } from './reasons.ts';
import type { Flight, MapState } from './run.ts';
import { indexRun } from './run-index.ts';
import type { RunScope } from './run-scope.ts';
import { type Hold, holdOfItems, NEXT_PASS, RESUME } from './waiting-for.ts';

/** How the items of a map stand. */
export interface MapView {
  readonly total: number;
  /** Items by state; states that no item has are left out. */
  readonly counts: { readonly [state in NodeState]?: number };
}

/** Items of a map, by what may become of them. */
export interface MapTally {
  readonly over: number;
  /** Items with an execution that has not ended. */
  readonly underWay: number;
  /** Items between two attempts. */
  readonly retrying: number;
  /** Items whose next attempt has its time, and waits for an engine or a slot. */
  readonly queued: number;
  /** Items that were not taken off the list. */
  readonly left: number;
  /** When the next of those between two attempts is tried again (ms since the epoch). */
  readonly nextAttemptAt?: number;
}

const NO_FLIGHTS: ReadonlyMap<number, Flight> = new Map();

/** Counts the items of a map. */
export function tallyMap(scope: RunScope, map: MapState): MapTally {
  const flights = indexRun(scope.run).itemFlights.get(map.node) ?? NO_FLIGHTS;
  let retrying = 0;
  let queued = 0;
  let nextAttemptAt = Number.POSITIVE_INFINITY;
  for (const { phase, pollAt } of flights.values()) {
    if (phase === 'queued') queued += 1;
    if (phase !== 'retry') continue;
    retrying += 1;
    nextAttemptAt = Math.min(nextAttemptAt, pollAt);
  }
  return {
    over: map.total - itemsLeft(map) - flights.size,
    underWay: flights.size - retrying - queued,
    retrying,
    queued,
    left: itemsLeft(map),
    ...(Number.isFinite(nextAttemptAt) && { nextAttemptAt }),
  };
}

/** The share of a map's items that are over, 0 to 1. */
export function mapProgress(scope: RunScope, map: MapState): number {
  return map.total === 0 ? 1 : tallyMap(scope, map).over / map.total;
}

/** Makes the view of a map. */
export function viewMap(scope: RunScope, map: MapState, story: NodeStory): MapView {
  const counts = new Map<NodeState, number>();
  const count = (state: NodeState, items: number) => {
    if (items > 0) counts.set(state, (counts.get(state) ?? 0) + items);
  };
  for (const [code, items] of story.itemEnds ?? []) count(statusOf(code).state, items);
  const { underWay, retrying, queued, left } = tallyMap(scope, map);
  count('RUNNING', underWay);
  count('QUEUED', queued);
  count('RETRY_WAIT', retrying);
  count(isTerminal(scope.run.nodes.charCodeAt(map.node)) ? 'ABORTED' : 'PENDING', left);
  return { total: map.total, counts: Object.fromEntries(counts) };
}

/** Whether more items have failed than are tolerated, so that no further one starts. */
export function hasFailedTooOften(node: CompiledNode, map: MapState): boolean {
  return map.failed > toleratedFailures(node.map as CompiledMap, map.total);
}

/**
 * Says what holds up items of a map that is not over.
 * @param which those that are left on its list, or those whose next attempt has its time
 */
export function holdOf(scope: RunScope, node: CompiledNode, map: MapState, which: 'left' | 'queued' = 'left'): Hold {
  const { maxConcurrency } = node.map as CompiledMap;
  const { underWay, retrying, queued } = tallyMap(scope, map);
  const ends = isEnding(scope, node, map);
  if (ends) return { reason: 'Stopping', message: `It will not start, since ${ends}.`, movedBy: NEXT_PASS };
  if (scope.run.state === 'PAUSED') {
    return { reason: 'RunPaused', message: 'It starts once the run is resumed.', movedBy: RESUME };
  }
  const hold = holdOfItems(scope, node);
  const isClosed = hold?.reason === 'NoEngine' || hold?.reason === 'EngineDraining';
  if (which === 'left' && !isClosed && underWay + retrying + queued >= maxConcurrency) {
    const places = maxConcurrency === 1 ? 'the one place' : `all ${maxConcurrency} places`;
    const message = `Waits for an item before it: ${places} of its map are taken.`;
    return { reason: 'MapLimit', message, movedBy: 'The end of an item before it.' };
  }
  if (hold) return hold;
  const message = 'Ready; it starts when the run has room for another attempt.';
  return { reason: 'RunLimit', message, movedBy: NEXT_PASS };
}

/** Why no further item of a map starts, as the end of a sentence; nothing where some may. */
function isEnding({ run }: RunScope, node: CompiledNode, map: MapState): string | undefined {
  if (run.stop && !node.cleanup) return 'its run is being stopped';
  return hasFailedTooOften(node, map) ? 'more items have failed than may' : undefined;
}

/** What holds up a map as a whole, where anything but its own limit does: what an item waits for that could start. */
export function holdOfMap(scope: RunScope, node: CompiledNode, map: MapState): Hold | undefined {
  const { left, queued } = tallyMap(scope, map);
  if (queued > 0) return holdOf(scope, node, map, 'queued');
  return left > 0 ? holdOf(scope, node, map) : undefined;
}

/** Why a map that has its list and is not over stands as it does. */
export function explainMap(scope: RunScope, node: CompiledNode, map: MapState): Explanation {
  const { underWay, retrying } = tallyMap(scope, map);
  const counted = itemsInWords(scope, map);
  if (scope.run.stop && !node.cleanup) {
    return { reason: 'Stopping', message: `${counted} Its run is being stopped.` };
  }
  if (hasFailedTooOften(node, map)) {
    return { reason: 'Stopping', message: `${counted} No further item starts, since more have failed than may.` };
  }
  const hold = holdOfMap(scope, node, map);
  const isTold = hold && !UNTOLD.has(hold.reason);
  const message = isTold ? `${counted} ${hold.message}` : counted;
  const isAsking = node.engine === 'approval';
  if (underWay > 0) return { reason: isAsking ? 'AwaitingCallback' : 'Executing', message };
  if (isTold) return { reason: hold.reason, message };
  if (retrying > 0) return { reason: 'RetryScheduled', message };
  return { reason: hold?.reason ?? 'Executing', message };
}

/** What is plain from the numbers of items. */
const UNTOLD: ReadonlySet<Reason> = new Set(['MapLimit', 'RunLimit']);

function itemsInWords(scope: RunScope, map: MapState): string {
  const { over, underWay, retrying, queued, left, nextAttemptAt } = tallyMap(scope, map);
  const failed = map.failed > 0 ? ` (${map.failed} failed)` : '';
  const parts = [
    `${over} of ${countInWords(map.total, 'item')} are over${failed}`,
    ...(underWay > 0 ? [`${underWay} under way`] : []),
    ...(nextAttemptAt === undefined
      ? []
      : [`${retrying} between two attempts, the next at ${toIsoTime(nextAttemptAt)}`]),
    ...(queued > 0 ? [`${queued} ready for another attempt`] : []),
    ...(left > 0 ? [`${left} not started`] : []),
  ];
  return `${parts.join(', ')}.`;
}
