/** What the evaluator and its worker say to each other. */
import type { EvaluationRequest } from '#ports/index.ts';
import type { TemplateAnswer } from './evaluate-template.ts';
import type { ExpressionLimits } from './expression-limits.ts';

/** What a worker is started with. */
export interface WorkerSettings {
  readonly limits: ExpressionLimits;
  /** Memory of a {@link WorkerProgress}. */
  readonly progress: SharedArrayBuffer;
}

/** To the worker: requests to evaluate, in order. */
export interface EvaluationBatch {
  /** Counts up from 1. */
  readonly batch: number;
  readonly requests: readonly EvaluationRequest[];
}

/** From the worker: that it is up, one answer, or that a batch is through (or was dropped). */
export type WorkerMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly batch: number; readonly request: number; readonly answer: TemplateAnswer }
  | { readonly kind: 'done'; readonly batch: number };

/** Where a worker is. */
export interface Position {
  /** Counts the expressions that the worker began. */
  readonly mark: number;
  readonly batch: number;
  /** Index in the batch. */
  readonly request: number;
  /** Index of the expression in its template. */
  readonly place: number;
}

const FIELDS = { mark: 0, batch: 1, request: 2, place: 3, dropped: 4 } as const;

/**
 * Where a worker is, in memory that both threads see: a message from a worker that is stuck or out of memory may never
 * arrive, and this tells which expression it is stuck in.
 */
export interface WorkerProgress {
  /** Says that the worker begins with an expression. */
  begin(batch: number, request: number, place: number): void;
  /** Says that the worker has nothing to do. */
  rest(): void;
  /** The expression that the worker is in. */
  position(): Position | undefined;
  /** Tells the worker not to begin with anything of this batch or those before. */
  drop(batch: number): void;
  isDropped(batch: number): boolean;
}

/** Bytes that a {@link WorkerProgress} needs. */
export const PROGRESS_BYTES = Object.keys(FIELDS).length * Int32Array.BYTES_PER_ELEMENT;

/** Reads and writes a worker's progress in shared memory. */
export function createWorkerProgress(memory: SharedArrayBuffer): WorkerProgress {
  const fields = new Int32Array(memory);
  const read = (field: keyof typeof FIELDS) => Atomics.load(fields, FIELDS[field]);
  const write = (field: keyof typeof FIELDS, value: number) => Atomics.store(fields, FIELDS[field], value);
  return {
    begin(batch, request, place) {
      write('request', request);
      write('place', place);
      write('batch', batch);
      write('mark', read('mark') + 1);
    },
    rest() {
      write('batch', 0);
    },
    position() {
      const batch = read('batch');
      if (batch === 0) return undefined;
      return { mark: read('mark'), batch, request: read('request'), place: read('place') };
    },
    drop(batch) {
      write('dropped', batch);
    },
    isDropped: (batch) => batch <= read('dropped'),
  };
}
