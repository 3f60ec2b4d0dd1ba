import type { AnswerCommand, DeleteCommand, MarkCommand } from '#domain/facts.ts';
import type { PassDeps } from './deps.ts';
import { type PassOutcome, runPass } from './pass.ts';

/** Decides an unfinished node of a run by hand; answers once that is committed. Idempotent. */
export function markNode(deps: PassDeps, runId: string, mark: Omit<MarkCommand, 'kind'>): Promise<PassOutcome> {
  return runPass(deps, runId, { command: { kind: 'mark', ...mark } });
}

/** Answers an attempt that waits for that; of two answers at once, the first that is committed stands. */
export function answerAttempt(
  deps: PassDeps,
  runId: string,
  answer: Omit<AnswerCommand, 'kind'>,
): Promise<PassOutcome> {
  return runPass(deps, runId, { command: { kind: 'answer', ...answer } });
}

/**
 * Deletes a run: from the commit on it is there for nobody, and the passes that follow remove what it left. One that is
 * active is only deleted if that is forced, and is then stopped first. Idempotent until the last of it is gone.
 */
export function deleteRun(deps: PassDeps, runId: string, order: Omit<DeleteCommand, 'kind'>): Promise<PassOutcome> {
  return runPass(deps, runId, { command: { kind: 'delete', ...order } });
}
