import { fileURLToPath } from 'node:url';

/** The sandbox for expressions does not start: a fault of the installation, never of an expression. */
export class EvaluatorUnavailableError extends Error {
  readonly code = 'EVALUATOR_UNAVAILABLE';
  readonly retryable = true;

  constructor(file: URL, cause: unknown) {
    const reason = cause instanceof Error ? cause.message : 'it ended at once';
    super(`The evaluator's worker ${fileURLToPath(file)} does not start: ${reason}`, { cause });
    this.name = 'EvaluatorUnavailableError';
  }
}
