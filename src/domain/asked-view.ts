/** What users decided about nodes, and what they are asked, in words and as the API shows it. */
import { isApproval } from './approvals.ts';
import { attemptToken } from './attempt-token.ts';
import { deadlineOf } from './due.ts';
import type { CompiledNode } from './graph.ts';
import { toIsoTime } from './iso-time.ts';
import { inQuotes } from './names-in-words.ts';
import type { NodeState } from './node-status.ts';
import type { NodeStory } from './node-story.ts';
import type { Explanation } from './reasons.ts';
import type { Flight } from './run.ts';
import type { RunScope } from './run-scope.ts';

/** What an attempt that waits for an answer asks. */
export interface ApprovalView {
  readonly prompt: string;
  /** Proves that an answer is for this very attempt. */
  readonly token: string;
  readonly expiresAt: string;
}

/** What an attempt asks; nothing where it waits for something else, or was answered. */
export function viewApproval(scope: RunScope, flight: Flight | undefined): ApprovalView | undefined {
  if (!flight || !isApproval(scope.run, flight) || flight.phase !== 'running' || flight.answer) return undefined;
  return {
    prompt: flight.prompt ?? '',
    token: attemptToken(scope.run, flight),
    expiresAt: toIsoTime(deadlineOf(scope.pipeline, flight)),
  };
}

/** Why an attempt stands as it does that waits, or waited, for an answer; nothing where it is no such attempt. */
export function explainApproval(scope: RunScope, flight: Flight): Explanation | undefined {
  if (!isApproval(scope.run, flight) || flight.phase !== 'running') return undefined;
  const { answer, prompt = '' } = flight;
  if (answer) {
    const message = `It was ${answer.approve ? 'approved' : 'denied'}${byInWords(answer)}; the next pass goes on from there.`;
    return { reason: 'Executing', message };
  }
  const until = toIsoTime(deadlineOf(scope.pipeline, flight));
  return { reason: 'AwaitingCallback', message: `Waits until ${until} for an answer to: ${prompt}` };
}

/** What moves an attempt that waits for an answer. */
export function approvalMover(
  scope: RunScope,
  flight: Flight,
): { readonly movedBy: string; readonly deadline?: string } | undefined {
  if (!isApproval(scope.run, flight)) return undefined;
  if (flight.answer) return { movedBy: 'The next pass takes it on; that is at most one tick away.' };
  const deadline = toIsoTime(deadlineOf(scope.pipeline, flight));
  return { movedBy: `An answer (\`millrace answer\`), or its expiry at ${deadline}.`, deadline };
}

/** Why a node is not over that was marked already. */
export function explainMark({ run }: RunScope, node: CompiledNode): Explanation | undefined {
  const mark = run.marks?.find((one) => one.node === node.index);
  if (!mark) return undefined;
  const message = `Marked ${mark.state}${byInWords(mark)}; what is under way of it has to end first.`;
  return { reason: 'Stopping', message };
}

/** How a node came to stand as it does that was marked by hand. */
export function markedMessage(state: NodeState, story: NodeStory): string {
  const note = story.note === undefined ? '' : `: ${story.note}`;
  return `Marked ${state} by hand${byInWords(story)}${note}${note === '' ? '.' : ''}`;
}

/** How an item came to stand as it does whose map was marked by hand while it was under way. */
export function endedWithMap(node: CompiledNode): string {
  return `Stopped, since its map ${inQuotes(node.id)} was marked by hand.`;
}

function byInWords({ by }: { readonly by?: string }): string {
  return by === undefined ? '' : `, by ${by}`;
}
