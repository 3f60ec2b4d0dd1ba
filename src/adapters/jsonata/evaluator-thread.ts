import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { expressionsIn } from '#domain/expression.ts';
import type { ErrorInfo } from '#domain/run.ts';
import type { EvaluationRequest } from '#ports/index.ts';
import type { TemplateAnswer } from './evaluate-template.ts';
import {
  createWorkerProgress,
  type EvaluationBatch,
  type Position,
  PROGRESS_BYTES,
  type WorkerMessage,
  type WorkerSettings,
} from './evaluator-messages.ts';
import { EvaluatorUnavailableError } from './evaluator-unavailable-error.ts';
import { expressionError, memoryError, timeError } from './expression-failure.ts';
import type { ThreadLimits } from './expression-limits.ts';
import { createExpressionWatch, type Offence } from './expression-watch.ts';

/** Beside this file, and of its kind: source, built, or bundled. */
const WORKER_FILE = new URL(`./evaluator-worker${extname(import.meta.url)}`, import.meta.url);

/**
 * The memory at which V8 gives up, as a multiple of the limit that the watch holds expressions to. V8 ends the whole
 * process, not the thread, where one allocation goes far beyond its limit; so the watch has to come first.
 */
const HARD_MEMORY_TIMES = 4;

/** How the evaluation of a batch ended. */
export type BatchEnd =
  | { readonly kind: 'done' }
  /** The time for the batch was over. */
  | { readonly kind: 'overtime' }
  /** The thread was ended by its owner. */
  | { readonly kind: 'ended' }
  /** The thread is gone, and nobody is known to be at fault. */
  | { readonly kind: 'cut' }
  /** The thread is gone through the fault of one request. */
  | { readonly kind: 'fault'; readonly request: number; readonly error: ErrorInfo }
  | { readonly kind: 'unavailable'; readonly error: EvaluatorUnavailableError };

/** One worker thread from its start to its end. It works on one batch at a time. */
export interface EvaluatorThread {
  readonly hasEnded: boolean;
  /** Evaluates requests in order, for `budgetMs` at most. Never rejects. */
  run(
    requests: readonly EvaluationRequest[],
    budgetMs: number,
    onAnswer: (request: number, answer: TemplateAnswer) => void,
  ): Promise<BatchEnd>;
  end(): Promise<void>;
}

interface RunningBatch {
  readonly batch: number;
  readonly requests: readonly EvaluationRequest[];
  readonly answered: Set<number>;
  readonly onAnswer: (request: number, answer: TemplateAnswer) => void;
  readonly finish: (end: BatchEnd) => void;
}

/** Starts a worker thread. Idle, it keeps no process alive. */
export function startEvaluatorThread(limits: ThreadLimits): EvaluatorThread {
  const memory = new SharedArrayBuffer(PROGRESS_BYTES);
  const progress = createWorkerProgress(memory);
  const worker = startWorker({ limits: limits.expression, progress: memory }, limits);
  let isReady = false;
  let hasEnded = false;
  let batches = 0;
  let running: RunningBatch | undefined;
  let lastError: unknown;
  let why: Offence | 'overtime' | 'ended' | undefined;

  const terminate = (reason: NonNullable<typeof why>) => {
    why ??= reason;
    hasEnded = true;
    return worker.terminate();
  };
  worker.on('message', (message: WorkerMessage) => {
    if (message.kind === 'ready') isReady = true;
    else if (message.batch !== running?.batch) return;
    else if (message.kind === 'done') running.finish({ kind: 'done' });
    else {
      running.answered.add(message.request);
      running.onAnswer(message.request, message.answer);
    }
  });
  worker.on('error', (error) => {
    lastError = error;
  });
  worker.on('exit', () => {
    hasEnded = true;
    if (!running) return;
    if (why === 'overtime' || why === 'ended') running.finish({ kind: why });
    else if (!isReady)
      running.finish({ kind: 'unavailable', error: new EvaluatorUnavailableError(WORKER_FILE, lastError) });
    else running.finish(blame(running, progress.position(), why, lastError, limits));
  });
  // After the listeners, which hold the process again.
  worker.unref();

  return {
    get hasEnded() {
      return hasEnded;
    },
    run(requests, budgetMs, onAnswer) {
      const batch = ++batches;
      const watch = createExpressionWatch({
        progress,
        limits,
        heap: () => worker.getHeapStatistics(),
        onOffence: (offence) => terminate(offence),
      });
      const budget = setTimeout(() => {
        // A thread that is still starting will be of use to the next batch.
        if (isReady) void terminate('overtime');
        else {
          progress.drop(batch);
          running?.finish({ kind: 'overtime' });
        }
      }, budgetMs);
      return new Promise<BatchEnd>((resolve) => {
        const finish = (end: BatchEnd) => {
          clearTimeout(budget);
          watch.end();
          running = undefined;
          resolve(end);
        };
        running = { batch, requests, answered: new Set(), onAnswer, finish };
        worker.postMessage({ batch, requests } satisfies EvaluationBatch);
      });
    },
    async end() {
      await terminate('ended');
    },
  };
}

function startWorker(settings: WorkerSettings, { memoryMebibytes }: ThreadLimits): Worker {
  return new Worker(WORKER_FILE, {
    name: 'evaluator',
    workerData: settings,
    // Expressions come from people: their thread gets nothing of this process's settings or secrets.
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: memoryMebibytes * HARD_MEMORY_TIMES },
  });
}

/** Finds out whose fault the end of a thread was. */
function blame(
  { batch, requests, answered }: RunningBatch,
  position: Position | undefined,
  offence: Offence | undefined,
  cause: unknown,
  limits: ThreadLimits,
): BatchEnd {
  // Between the offence and the end of its thread an expression can still have come to its own end.
  if (offence && offence.position.mark !== position?.mark) return { kind: 'cut' };
  const request = position?.batch === batch ? position.request : requests.findIndex((_, at) => !answered.has(at));
  const asked = requests[request];
  if (!asked || answered.has(request)) return { kind: 'cut' };
  const text = expressionsIn(asked.template)[position?.place ?? 0]?.text ?? '';
  if (offence?.kind === 'time') {
    return { kind: 'fault', request, error: timeError(text, limits.expression.expressionMs) };
  }
  // What others before it left in memory may have been too much: it is asked again in a new thread, as the first.
  if (batch > 1 || request > 0) return { kind: 'cut' };
  const isMemory = offence?.kind === 'memory' || (cause as NodeJS.ErrnoException)?.code === 'ERR_WORKER_OUT_OF_MEMORY';
  const error = isMemory
    ? memoryError(text, limits.memoryMebibytes)
    : expressionError(text, `ended its sandbox: ${cause instanceof Error ? cause.message : 'unknown reason'}`);
  return { kind: 'fault', request, error };
}
