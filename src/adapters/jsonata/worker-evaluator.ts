/**
 * The evaluator for production: JSONata in a worker thread that is started at the first expression and kept warm.
 * One expression's trouble stays its own: where it runs for too long, eats memory or brings its thread down, it alone
 * fails, and those after it go on in a new thread.
 */
import type { Evaluation } from '#domain/facts.ts';
import type { EvaluationRequest, Evaluator } from '#ports/index.ts';
import { toEvaluation } from './evaluate-template.ts';
import { type EvaluatorThread, startEvaluatorThread } from './evaluator-thread.ts';
import { EXPRESSION_SANDBOX_LIMITS, type ExpressionLimits } from './expression-limits.ts';

/** Settings of the evaluator. */
export interface WorkerEvaluatorOptions {
  /** @default EXPRESSION_SANDBOX_LIMITS */
  readonly limits?: Partial<ExpressionLimits>;
  /** Memory of the worker thread (MiB), the values that expressions read included. @default 256 */
  readonly memoryMebibytes?: number;
}

/** An evaluator that owns a thread. */
export interface WorkerEvaluator extends Evaluator {
  /** Ends the thread, and with it what is being evaluated; a later evaluation starts another. */
  close(): Promise<void>;
}

/** Characters of requests that a thread is given at a time, so that many large ones do not fill its memory. */
const BATCH_LENGTH = 4 * 1024 * 1024;

/**
 * Makes an evaluator with a worker thread of its own. Calls are served one after the other.
 * `evaluate` rejects with {@link EvaluatorUnavailableError} where the thread cannot be started.
 */
export function createWorkerEvaluator(options: WorkerEvaluatorOptions = {}): WorkerEvaluator {
  const limits = {
    expression: { ...EXPRESSION_SANDBOX_LIMITS, ...options.limits },
    memoryMebibytes: options.memoryMebibytes ?? 256,
  };
  let thread: EvaluatorThread | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const evaluateAll = async (requests: readonly EvaluationRequest[], deadline: number) => {
    const answers: (Evaluation | undefined)[] = requests.map(() => undefined);
    let open = [...requests.keys()];
    while (open.length > 0 && performance.now() < deadline) {
      if (!thread || thread.hasEnded) thread = startEvaluatorThread(limits);
      const batch = takeBatch(requests, open);
      const asked = batch.map((index) => requests[index] as EvaluationRequest);
      const end = await thread.run(asked, deadline - performance.now(), (request, answer) => {
        answers[batch[request] as number] = toEvaluation(answer);
      });
      if (end.kind === 'unavailable') throw end.error;
      if (end.kind === 'ended') break;
      if (end.kind === 'fault') answers[batch[end.request] as number] = { ok: false, error: end.error };
      open = open.filter((index) => answers[index] === undefined);
    }
    return answers;
  };

  return {
    evaluate(requests, budgetMs) {
      const deadline = performance.now() + budgetMs;
      const answers = last.then(() => evaluateAll(requests, deadline));
      last = answers.catch(() => undefined);
      return answers;
    },
    async close() {
      await thread?.end();
    },
  };
}

function takeBatch(requests: readonly EvaluationRequest[], open: readonly number[]): number[] {
  let left = BATCH_LENGTH;
  const end = open.findIndex((index, at) => {
    left -= lengthOf(requests[index] as EvaluationRequest);
    return left < 0 && at > 0;
  });
  return end < 0 ? [...open] : open.slice(0, end);
}

function lengthOf({ bindings }: EvaluationRequest): number {
  return bindings.nodes.reduce((sum, { output }) => sum + (output?.length ?? 0), bindings.run.input?.length ?? 0);
}
