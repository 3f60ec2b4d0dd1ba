/** The sweep: decides nodes whose upstreams allow it, in topological order, and starts what is ready. */
import { startAttempt } from './attempt-starts.ts';
import { isUnchosen } from './branches.ts';
import { type Draft, decideNode, flightsOf, putFlight } from './draft.ts';
import { evaluated } from './evaluated.ts';
import type { Evaluation } from './facts.ts';
import type { CompiledMap, CompiledNode } from './graph.ts';
import type { Json } from './json.ts';
import { isTaken } from './map-places.ts';
import { expandMap, isMapFailing } from './maps.ts';
import { byteOf, isTerminal, type NodeCode, statusOf } from './node-status.ts';
import { findPlace, lackSlots, needsPlace, type Place } from './places.ts';
import type { ErrorInfo, Flight, MapState } from './run.ts';
import { keepSlots, type Slots } from './run-limits.ts';
import { decideTrigger, skipsEarly, type UpstreamCounts } from './trigger.ts';

const PENDING = byteOf('p');
const READY = byteOf('q');
const CONDITION_PASSED = byteOf('y');
const RETRY_WAIT = byteOf('w');
const MAP = byteOf('m');
/** Waiting for an engine or a slot. */
const PLACELESS: ReadonlySet<number> = new Set((['n', 'g', 'e', 'o'] as const).map(byteOf));
const QUEUED: ReadonlySet<number> = new Set([READY, CONDITION_PASSED, ...PLACELESS]);

/**
 * Marks every node that nothing stands above, that runs whatever stands above it, or that has an upstream which was
 * decided before: the beginning of a run.
 */
export function markBeginnings(draft: Draft): void {
  for (const node of draft.pipeline.nodes) {
    if (node.upstreams.length === 0 || node.trigger === 'always') draft.dirty[node.index] = 1;
    if (isTerminal(draft.nodes[node.index] as number)) for (const below of node.downstreams) draft.dirty[below] = 1;
  }
}

/**
 * Decides and starts what can be. Since nodes stand in topological order, a node that is decided here marks only nodes
 * that are still to come, so one pass over them settles every consequence. What needs a slot that others want too comes
 * after the others, highest priority first; where that ends a node without an execution, its consequences come after.
 * In a run that is being stopped only `cleanup` nodes are decided and started.
 */
export function sweep(draft: Draft): void {
  const work: Sweep = { left: draft.options.maxDecisions, limited: [], advanced: new Set() };
  do {
    work.limited.length = 0;
    sweepNodes(draft, work);
  } while (startLimited(draft, work));
}

interface Sweep {
  /** Starts and evaluations that this commit may still hold. */
  left: number;
  readonly limited: CompiledNode[];
  readonly advanced: Set<number>;
}

function sweepNodes(draft: Draft, work: Sweep): void {
  const isPaused = draft.state === 'PAUSED';
  for (let index = 0; index < draft.nodes.length; index++) {
    // Most nodes of a large run are not concerned: what two bytes tell need not be looked up in ten thousand objects.
    if (draft.dirty[index] === 0 && !isOnItsWay(draft.nodes[index])) continue;
    const node = draft.pipeline.nodes[index] as CompiledNode;
    if ((draft.stop && !node.cleanup) || draft.marks.has(index)) continue;
    if (draft.dirty[index] === 1 && draft.nodes[index] === PENDING) applyTrigger(draft, node);
    if (isPaused || work.advanced.has(index)) continue;
    if (!isStartable(draft, index)) continue;
    if (needsPlace(draft, node)) {
      work.limited.push(node);
      continue;
    }
    work.left -= advance(draft, node, work.left);
    if (isQueued(draft.nodes[index])) keepWaiting(draft, node);
  }
}

/** Starts what needs a place; tells whether that ended a node, so that others are to be decided. */
function startLimited(draft: Draft, work: Sweep): boolean {
  let hasEnded = false;
  for (const node of work.limited.sort((a, b) => b.priority - a.priority || a.index - b.index)) {
    work.advanced.add(node.index);
    work.left -= advance(draft, node, work.left);
    if (isQueued(draft.nodes[node.index])) keepWaiting(draft, node);
    hasEnded ||= isTerminal(draft.nodes[node.index] as number);
  }
  return hasEnded;
}

function isOnItsWay(byte: number | undefined): boolean {
  return isQueued(byte) || byte === MAP || byte === RETRY_WAIT;
}

function isStartable(draft: Draft, index: number): boolean {
  const byte = draft.nodes[index];
  if (isQueued(byte) || byte === MAP) return true;
  return byte === RETRY_WAIT && (draft.flights.get(index) as Flight).pollAt <= draft.now;
}

function isQueued(byte: number | undefined): boolean {
  return byte !== undefined && QUEUED.has(byte);
}

function applyTrigger(draft: Draft, node: CompiledNode): void {
  switch (decideTrigger(node.trigger, countUpstreams(draft, node))) {
    case 'wait':
      return;
    case 'run':
      decideNode(draft, node.index, 'q');
      return;
    case 'skip':
      decideNode(draft, node.index, isSkippedByBranch(draft, node) ? 'B' : 'k');
      return;
    case 'upstreamFailed':
      decideNode(draft, node.index, 'U');
  }
}

function countUpstreams(draft: Draft, node: CompiledNode): UpstreamCounts {
  const counts = { total: node.upstreams.length, success: 0, skipped: 0, bad: 0, stopped: 0 };
  for (const upstream of node.upstreams) {
    const { standing } = statusOf(draft.nodes[upstream] as number);
    if (standing === 'success' && isUnchosen(draft, upstream, node.index)) counts.skipped += 1;
    else if (standing !== 'open') counts[standing] += 1;
  }
  return counts;
}

/** Whether a branch that chose other ways is why a node is skipped. Of a rule that skips early, the order tells no more. */
function isSkippedByBranch(draft: Draft, node: CompiledNode): boolean {
  if (skipsEarly(node.trigger) && node.upstreams.length > 1) return false;
  return node.upstreams.some((up) => isUnchosen(draft, up, node.index));
}

/** A node that waits keeps its place until its limit is over (C37, C97). */
function keepWaiting(draft: Draft, node: CompiledNode): void {
  if (node.queueTimeoutMs === undefined) return;
  const entry = draft.queued.get(node.index);
  if (!entry) {
    draft.changed = true;
    draft.queued.set(node.index, { node: node.index, since: draft.now, until: draft.now + node.queueTimeoutMs });
  } else if (draft.now >= entry.until) {
    const seconds = node.queueTimeoutMs / 1000;
    draft.flights.delete(node.index);
    decideNode(draft, node.index, 'Q', 0, {
      name: 'Millrace.QueueTimeout',
      message: `not started within ${seconds} s`,
    });
  }
}

/**
 * Takes a ready node as far as it goes: condition, engine, list, parameters, start.
 * @param left starts and evaluations that this commit may still hold
 * @returns how many it took
 */
function advance(draft: Draft, node: CompiledNode, left: number): number {
  if (draft.nodes[node.index] === READY && node.when !== undefined) {
    if (left <= 0) return postpone(draft, node, []);
    const condition = evaluated(draft, 'when', { node: node.index, attempt: 1 });
    if (!condition || !applyCondition(draft, node, node.when, condition)) return 1;
  }
  const place = findPlace(draft, node);
  if (!place) return 0;
  if (place.closed) {
    if (draft.nodes[node.index] !== MAP) waitFor(draft, node, place.closed);
    return 0;
  }
  if (node.map) {
    if (left <= 0 && draft.nodes[node.index] !== MAP) return postpone(draft, node, []);
    return advanceMap(draft, node, node.map, place, left);
  }
  const failed = draft.flights.get(node.index);
  if (!failed && draft.flights.size >= draft.options.maxFlights) {
    if (draft.nodes[node.index] !== CONDITION_PASSED) decideNode(draft, node.index, 'y');
    return 0;
  }
  const lacking = lackSlots(node, place, 1);
  if (lacking) {
    waitFor(draft, node, lacking);
    return 0;
  }
  if (left <= 0) return postpone(draft, node, place.slots);
  const attempt = { node: node.index, attempt: failed ? failed.attempt + 1 : 1 };
  if (startAttempt(draft, node, attempt, place) === 'wanted') hasPlace(draft, node);
  return 1;
}

/** Leaves what this commit cannot hold to the next one, which finds the slots that are there for it. */
function postpone(draft: Draft, node: CompiledNode, slots: readonly Slots[]): 0 {
  draft.again = true;
  for (const one of slots) keepSlots(one, 1);
  hasPlace(draft, node);
  return 0;
}

/** A node that could start has no place to wait for, whatever else keeps it from that. */
function hasPlace(draft: Draft, node: CompiledNode): void {
  if (PLACELESS.has(draft.nodes[node.index] as number)) decideNode(draft, node.index, 'y');
}

/** A node waits for an engine or a slot; one that waited for its next attempt has its time behind it. */
function waitFor(draft: Draft, node: CompiledNode, code: NodeCode): void {
  if (draft.nodes[node.index] !== byteOf(code)) decideNode(draft, node.index, code);
  const flight = draft.flights.get(node.index);
  if (flight?.phase === 'retry') putFlight(draft, { ...flight, phase: 'queued' });
}

/** A condition must give true or false; nothing else is taken for either. */
function applyCondition(draft: Draft, node: CompiledNode, expression: string, condition: Evaluation): boolean {
  if (!condition.ok) {
    decideNode(draft, node.index, 'X', 0, condition.error);
    return false;
  }
  if (condition.value === true) return true;
  if (condition.value === false) decideNode(draft, node.index, 'K');
  else decideNode(draft, node.index, 'X', 0, notBoolean(expression, condition.value));
  return false;
}

function notBoolean(expression: string, value: Json): ErrorInfo {
  const shown = JSON.stringify(value).slice(0, 100);
  return { name: 'Millrace.ExpressionError', message: `when ${expression} must give true or false, it gave ${shown}` };
}

/** Gives a map its list, and starts items: those that are to be tried again first, then the next of the list. */
function advanceMap(draft: Draft, node: CompiledNode, map: CompiledMap, place: Place, left: number): number {
  // A map that can start nothing now takes nothing: many of them must not use up what a commit may hold.
  let used = 0;
  if (draft.nodes[node.index] !== MAP) {
    const items = evaluated(draft, 'items', { node: node.index, attempt: 1 });
    if (!items) return 1;
    expandMap(draft, node, items);
    used = 1;
  }
  const isOpen = () => draft.nodes[node.index] === MAP && !isMapFailing(draft, draft.maps.get(node.index) as MapState);
  for (const flight of isOpen() ? flightsOf(draft, node.index) : []) {
    if (!isDueAgain(flight, draft.now) || !isOpen()) continue;
    if (lackSlots(node, place, 1)) {
      if (flight.phase === 'retry') putFlight(draft, { ...flight, phase: 'queued' });
      continue;
    }
    if (used >= left) {
      postpone(draft, node, place.slots);
      continue;
    }
    startAttempt(draft, node, { node: node.index, item: flight.item, attempt: flight.attempt + 1 }, place);
    used += 1;
  }
  // What is only wanted is no flight yet, and counts all the same.
  let underWay = isOpen() ? flightsOf(draft, node.index).length : 0;
  let flights = draft.flights.size;
  for (let next = nextItem(draft, node); isOpen() && next < totalItems(draft, node); next++) {
    if (isTaken(draft.maps.get(node.index) as MapState, next)) continue;
    const room = Math.min(map.maxConcurrency - underWay, draft.options.maxFlights - flights);
    if (room <= 0) break;
    if (lackSlots(node, place, Math.min(room, totalItems(draft, node) - next))) break;
    if (used >= left) {
      postpone(draft, node, place.slots);
      break;
    }
    const became = startAttempt(draft, node, { node: node.index, item: next, attempt: 1 }, place);
    // Items start in order: one whose parameters cannot be had now holds up those behind it.
    if (became === 'wanted' && draft.facts.evaluationsClosed) break;
    used += 1;
    if (became !== 'over') {
      underWay += 1;
      flights += 1;
    }
  }
  return used;
}

function isDueAgain(flight: Flight, now: number): boolean {
  return flight.phase === 'queued' || (flight.phase === 'retry' && flight.pollAt <= now);
}

function nextItem(draft: Draft, node: CompiledNode): number {
  return draft.maps.get(node.index)?.next ?? 0;
}

function totalItems(draft: Draft, node: CompiledNode): number {
  return draft.maps.get(node.index)?.total ?? 0;
}
