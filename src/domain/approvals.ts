/**
 * Attempts of the engine `approval`: they wait for the answer of a person or a system, and have no execution. The answer
 * that a commit names first stands; what it gives is then stored and applied like the result of an execution.
 */
import { APPROVALS_ARN, MAX_PROMPT_LENGTH } from './built-in-engines.ts';
import { type Draft, flightKey, putFlight } from './draft.ts';
import { deadlineOf } from './due.ts';
import type { AnswerCommand, AttemptResult } from './facts.ts';
import { keepValue } from './given-values.ts';
import { isJsonObject, type Json } from './json.ts';
import type { ApprovalAnswer, ErrorInfo, Flight } from './run.ts';

/** Name of the error of a node that was denied. */
export const APPROVAL_DENIED = 'Millrace.ApprovalDenied';

/** Whether an attempt waits for an answer, and not for an execution. */
export function isApproval(run: { readonly machines: readonly string[] }, flight: Flight): boolean {
  return run.machines[flight.machine] === APPROVALS_ARN;
}

/** The prompt in the evaluated parameters of an attempt, or why there is none. */
export function promptOf(params: Json): { readonly prompt: string } | { readonly error: ErrorInfo } {
  const prompt = isJsonObject(params) ? params['prompt'] : undefined;
  if (typeof prompt === 'string' && prompt.trim() !== '' && prompt.length <= MAX_PROMPT_LENGTH) {
    return { prompt };
  }
  const shown = JSON.stringify(prompt ?? null).slice(0, 100);
  const message = `params.prompt must give a text of 1 to ${MAX_PROMPT_LENGTH} characters, it gave ${shown}`;
  return { error: { name: 'Millrace.ExpressionError', message } };
}

/** Takes an answer, if its attempt still waits for one: the first that is committed stands. */
export function applyApproval(draft: Draft): void {
  const { command } = draft.facts;
  if (command?.kind !== 'answer' || draft.stop) return;
  const flight = draft.flights.get(flightKey(command));
  if (draft.marks.has(command.node)) return;
  if (!flight || !awaitsAnswer(draft, flight, command) || draft.now >= deadlineOf(draft.pipeline, flight)) return;
  putFlight(draft, { ...flight, answer: toAnswer(draft, command), pollAt: draft.now });
  draft.taken = true;
}

function awaitsAnswer(draft: Draft, flight: Flight, { attempt }: AnswerCommand): boolean {
  return isApproval(draft, flight) && flight.phase === 'running' && flight.attempt === attempt && !flight.answer;
}

function toAnswer(draft: Draft, command: AnswerCommand): ApprovalAnswer {
  const { approve, output, by, comment } = command;
  return {
    at: draft.now,
    approve,
    ...(approve && output !== undefined && { output: keepValue(draft, 'answer', output) }),
    ...(by !== undefined && { by }),
    ...(comment !== undefined && { comment }),
  };
}

/**
 * What an answered attempt comes to: the same whoever makes it out of the committed answer.
 * @param output the JSON text that the answer names
 */
export function resultOfAnswer(flight: Flight, answer: ApprovalAnswer, output = 'null'): AttemptResult {
  const { node, item, attempt, startedAt } = flight;
  const times = { startedAt, endedAt: answer.at };
  if (answer.approve) return { node, item, attempt, status: 'SUCCEEDED', output, ...times };
  return { node, item, attempt, status: 'FAILED', error: deniedError(answer), ...times };
}

function deniedError({ by, comment }: ApprovalAnswer): ErrorInfo {
  const who = by === undefined ? '' : ` by ${by}`;
  return { name: APPROVAL_DENIED, message: `denied${who}${comment === undefined ? '' : `: ${comment}`}` };
}
