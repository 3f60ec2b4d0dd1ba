import type { CommandAnswer } from '#domain/control.ts';
import type { RunRecord } from '#domain/run.ts';
import type { PassOutcome } from '#scheduler/pass.ts';
import { ApiProblem } from './problem.ts';
import { runNotFound } from './run-reading.ts';

/** The problems of every command to a run. */
export const COMMAND_PROBLEMS = ['RUN_NOT_FOUND', 'BUSY', 'DAMAGED_RUN', 'NEWER_RUN'] as const;

/**
 * The run after a command, and what became of that.
 * @throws ApiProblem RUN_NOT_FOUND, BUSY
 * @throws DamagedRunError, NewerRunError
 */
export function commandedRun(
  outcome: PassOutcome,
  runId: string,
): { readonly run: RunRecord; readonly answer: CommandAnswer } {
  switch (outcome.kind) {
    case 'missing':
      throw runNotFound(runId);
    case 'busy':
      throw new ApiProblem('BUSY', 'Others keep changing this run; try again.', { headers: { 'retry-after': '1' } });
    case 'damaged':
    case 'newer':
      throw outcome.error;
    case 'done':
      return { run: outcome.run, answer: outcome.command ?? 'over' };
  }
}
