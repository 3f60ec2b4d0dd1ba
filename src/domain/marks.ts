/**
 * Nodes that a user decides by hand. The mark is committed first; what runs of the node is ended, and once that is over the
 * mark is what becomes of the node, whatever its executions said meanwhile. An output that it gives is stored as the
 * result of {@link MARKED_ATTEMPT} from the committed mark, so that of two marks at once one alone is ever stored.
 */
import { isApproval } from './approvals.ts';
import { applyChoice } from './branches.ts';
import { type Draft, decideItem, decideNode, endFlight, flightsOf } from './draft.ts';
import { evaluated } from './evaluated.ts';
import type { AttemptResult, MarkCommand } from './facts.ts';
import { keepValue } from './given-values.ts';
import type { CompiledNode } from './graph.ts';
import type { NodeCode } from './node-status.ts';
import { type ErrorInfo, type Flight, isUnderWay, MARKED_ATTEMPT, type MarkState, type NodeMark } from './run.ts';

/** The status that a mark gives a node. */
export const MARK_CODES = { SUCCEEDED: 'M', FAILED: 'x', SKIPPED: 'z' } as const satisfies Record<MarkState, NodeCode>;

/** What a command makes of a node. */
export function toMark(draft: Draft, node: CompiledNode, command: MarkCommand): NodeMark {
  const { state, output = null, by, note } = command;
  return {
    node: node.index,
    state,
    at: draft.now,
    ...(state === 'SUCCEEDED' && { output: keepValue(draft, 'marked', output) }),
    ...(by !== undefined && { by }),
    ...(note !== undefined && { note }),
  };
}

/** The result that gives a marked node its output: the same whoever makes it out of the committed mark. */
export function resultOfMark({ node, at }: NodeMark, output: string): AttemptResult {
  return { node, attempt: MARKED_ATTEMPT, status: 'SUCCEEDED', output, startedAt: at, endedAt: at };
}

/** Decides the marked nodes of which nothing is under way any more. */
export function settleMarks(draft: Draft): void {
  for (const { node } of [...draft.marks.values()]) settleMark(draft, node);
}

/**
 * Decides a marked node, unless something of it is under way.
 * @param ended the attempt that was ended for the mark, 0 where there was none, and what has to be said of it
 * @returns whether the node is decided
 */
export function settleMark(
  draft: Draft,
  index: number,
  ended: { readonly attempt: number; readonly told?: ErrorInfo | undefined } = { attempt: 0 },
): boolean {
  const mark = draft.marks.get(index);
  const left = flightsOf(draft, index);
  if (!mark || left.some((flight) => hasToEnd(draft, flight))) return false;
  const outcome = outcomeOf(draft, mark);
  if (!outcome) return false;
  for (const flight of left) {
    endFlight(draft, flight);
    if (flight.item !== undefined) decideItem(draft, flight, 'A');
  }
  const asking = left.find((flight) => flight.item === undefined && isUnderWay(flight));
  draft.marks.delete(index);
  decideNode(draft, index, outcome.to, asking?.attempt ?? ended.attempt, outcome.error ?? ended.told, mark);
  return true;
}

/** Whether an execution stands behind an attempt, which has to end before its node can be decided. */
export function hasToEnd(draft: Draft, flight: Flight): boolean {
  return isUnderWay(flight) && !isApproval(draft, flight);
}

/**
 * What a mark makes of its node; nothing as long as its output has to be stored, or its choice evaluated: a branch node
 * that is marked SUCCEEDED chooses by the output that it was given.
 */
export function outcomeOf(
  draft: Draft,
  mark: NodeMark,
): { readonly to: NodeCode; readonly error?: ErrorInfo } | undefined {
  if (mark.state === 'FAILED') return { to: MARK_CODES.FAILED, error: markedError(mark) };
  if (mark.state === 'SKIPPED') return { to: MARK_CODES.SKIPPED };
  if (!isStored(draft, mark)) {
    draft.again = true;
    return undefined;
  }
  const node = draft.pipeline.nodes[mark.node] as CompiledNode;
  if (node.branch === undefined) return { to: MARK_CODES.SUCCEEDED };
  const choice = evaluated(draft, 'branch', { node: mark.node, attempt: MARKED_ATTEMPT }, mark.at);
  if (!choice) return undefined;
  const error = applyChoice(draft, node, choice);
  return error ? { to: 'X', error } : { to: MARK_CODES.SUCCEEDED };
}

function isStored({ facts }: Draft, { node }: NodeMark): boolean {
  return facts.results?.some((result) => result.node === node && result.attempt === MARKED_ATTEMPT) ?? false;
}

/** The error of a node that was marked FAILED. */
function markedError({ by, note }: NodeMark): ErrorInfo {
  const who = by === undefined ? '' : ` by ${by}`;
  return { name: 'Millrace.MarkedByUser', message: `marked FAILED${who}${note === undefined ? '' : `: ${note}`}` };
}
