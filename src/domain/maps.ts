/**
 * Maps: a node that runs once for each item of a list. The list is read once, at expansion; the run alone decides
 * which item starts; an item's failure is its own, and the map's only when more have failed than are tolerated.
 */
import { createHash } from 'node:crypto';
import { DEFINITION_LIMITS } from './definition.ts';
import { cutError, type Draft, decideItem, decideNode, endFlight, flightsOf } from './draft.ts';
import { expressionText, isExpression, referencesOf } from './expression.ts';
import type { Evaluation } from './facts.ts';
import type { CompiledMap, CompiledNode } from './graph.ts';
import { canonicalJson, type Json } from './json.ts';
import { type NodeCode, statusOf } from './node-status.ts';
import { type ErrorInfo, isUnderWay, type MapState } from './run.ts';
import { stopCode } from './stop-code.ts';

/** How many items may fail: the larger of the count and the share, rounded down. */
export function toleratedFailures(map: CompiledMap, total: number): number {
  return Math.max(map.toleratedFailureCount, Math.floor((total * map.toleratedFailurePercentage) / 100));
}

/** Whether more items have failed than are tolerated, so that no further one starts. */
export function isMapFailing(draft: Draft, map: MapState): boolean {
  const node = draft.pipeline.nodes[map.node] as CompiledNode;
  return map.failed > toleratedFailures(node.map as CompiledMap, map.total);
}

/** The key under which a list is stored: by what it says, so that two passes that expand it alike store it once. */
export function listKey(list: readonly Json[]): string {
  return `items-${createHash('sha256').update(canonicalJson(list)).digest('hex').slice(0, 32)}`;
}

/**
 * Gives a map its list, or ends it: an empty list succeeds at once, a list that comes from a skipped node skips the
 * map, and whatever else is not a list fails it (C62).
 */
export function expandMap(draft: Draft, node: CompiledNode, items: Evaluation): void {
  if (!items.ok) {
    if (readsSkipped(draft, node)) decideNode(draft, node.index, 'k');
    else decideNode(draft, node.index, 'X', 0, items.error);
    return;
  }
  const problem = listProblem(node, items.value);
  if (problem !== undefined) {
    decideNode(draft, node.index, 'X', 0, { name: 'Millrace.ExpressionError', message: problem });
    return;
  }
  const list = items.value as readonly Json[];
  const map: MapState = { node: node.index, total: list.length, next: 0, succeeded: 0, failed: 0, list: listKey(list) };
  draft.maps.set(node.index, map);
  draft.lists.set(node.index, list);
  decideNode(draft, node.index, list.length === 0 ? 'S' : 'm');
}

function listProblem(node: CompiledNode, value: Json): string | undefined {
  const source = (node.map as CompiledMap).items;
  const shown = typeof source === 'string' ? source.slice(0, 200) : 'a literal';
  if (!Array.isArray(value)) {
    const kind =
      value === null
        ? 'null'
        : typeof value === 'string'
          ? 'a text'
          : `a${typeof value === 'object' ? 'n' : ''} ${typeof value}`;
    return `map.items must give a list, but ${shown} gave ${kind}; if it is the one item of a list, write [ … ] around it`;
  }
  const limit = DEFINITION_LIMITS.mapItems;
  return value.length > limit ? `map.items ${shown} gave ${value.length} items; the limit is ${limit}` : undefined;
}

/** Whether the list's expression reads a node that was skipped, and so has nothing to read. */
function readsSkipped(draft: Draft, node: CompiledNode): boolean {
  const { items } = node.map as CompiledMap;
  if (typeof items !== 'string' || !isExpression(items)) return false;
  const { nodes } = referencesOf(expressionText(items));
  if (nodes === 'all') return false;
  return [...nodes].some((id) => {
    const index = draft.pipeline.indexOf.get(id);
    return index !== undefined && statusOf(draft.nodes[index] as number).standing === 'skipped';
  });
}

/** An item is over: counts it, and ends the map where it was the last to be waited for. */
export function settleItem(
  draft: Draft,
  flight: { readonly node: number; readonly item: number },
  to: NodeCode,
  error: ErrorInfo | undefined,
): void {
  const { standing } = statusOf(to);
  const map = draft.maps.get(flight.node) as MapState;
  if (standing === 'success') draft.maps.set(flight.node, { ...map, succeeded: map.succeeded + 1 });
  if (standing === 'bad') {
    const known = map.firstBad;
    const told = cutError(error ?? { name: statusOf(to).reason, message: statusOf(to).state });
    const firstBad = known && known.item < flight.item ? known : { item: flight.item, error: told };
    draft.maps.set(flight.node, { ...map, failed: map.failed + 1, firstBad });
  }
  closeMap(draft, flight.node);
}

/** Ends a map once nothing of it is under way and nothing more of it will start, unless its end was decided by hand. */
export function closeMap(draft: Draft, node: number): void {
  if (draft.marks.has(node)) return;
  const map = draft.maps.get(node) as MapState;
  if (isMapFailing(draft, map)) giveUpRetries(draft, node);
  if (flightsOf(draft, node).length > 0) return;
  const closed = draft.maps.get(node) as MapState;
  if (isMapFailing(draft, closed)) decideNode(draft, node, 'F', 0, itemsError(draft, closed));
  else if (closed.succeeded + closed.failed === closed.total) decideNode(draft, node, 'S');
  else if (draft.stop) decideNode(draft, node, draft.stop.kind === 'timeout' ? 'T' : stopCode(draft.stop));
}

/** Items that wait for another attempt would not save the map any more. */
function giveUpRetries(draft: Draft, node: number): void {
  for (const flight of flightsOf(draft, node)) {
    if (isUnderWay(flight)) continue;
    endFlight(draft, flight);
    decideItem(draft, flight, 'F');
    const map = draft.maps.get(node) as MapState;
    draft.maps.set(node, { ...map, failed: map.failed + 1 });
  }
}

function itemsError(draft: Draft, map: MapState): ErrorInfo {
  const node = draft.pipeline.nodes[map.node] as CompiledNode;
  const tolerated = toleratedFailures(node.map as CompiledMap, map.total);
  const { item, error } = map.firstBad as NonNullable<MapState['firstBad']>;
  const counted = `${map.failed} of ${map.total} items failed, ${tolerated} may`;
  return { name: 'Millrace.ItemsFailed', message: `item ${item}: ${error.name}: ${error.message} (${counted})` };
}
