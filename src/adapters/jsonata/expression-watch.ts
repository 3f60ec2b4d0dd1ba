import type { HeapInfo } from 'node:v8';
import type { Position, WorkerProgress } from './evaluator-messages.ts';
import type { ThreadLimits } from './expression-limits.ts';

/** An expression that uses more than it may. */
export interface Offence {
  readonly kind: 'time' | 'memory';
  readonly position: Position;
}

/** What a watch looks at. */
export interface WatchOptions {
  readonly progress: WorkerProgress;
  readonly limits: ThreadLimits;
  /** Asks for the thread's memory; works while the thread is busy, and rejects once it is gone. */
  readonly heap: () => Promise<HeapInfo>;
  readonly onOffence: (offence: Offence) => void;
}

const LONGEST_BETWEEN_LOOKS_MS = 25;
const MEBIBYTE = 1024 * 1024;

/**
 * Looks again and again at what a thread is doing. Time is counted in looks at which the same expression runs, not by
 * the clock: a process that was frozen or starved for a while then finds its expressions as it left them.
 */
export function createExpressionWatch({ progress, limits, heap, onOffence }: WatchOptions): { end(): void } {
  const { expressionMs } = limits.expression;
  const lookMs = Math.min(LONGEST_BETWEEN_LOOKS_MS, Math.ceil(expressionMs / 4));
  let mark: number | undefined;
  let looks = 0;
  let isOver = false;

  const report = (offence: Offence) => {
    if (isOver) return;
    end();
    onOffence(offence);
  };
  const look = () => {
    const position = progress.position();
    looks = position?.mark === mark ? looks + 1 : 0;
    mark = position?.mark;
    if (!position) return;
    if (looks * lookMs >= expressionMs) report({ kind: 'time', position });
    else heap().then(weigh, () => undefined);
  };
  const weigh = ({ used_heap_size: heapBytes, external_memory: externalBytes }: HeapInfo) => {
    const position = progress.position();
    if (position && heapBytes + externalBytes > limits.memoryMebibytes * MEBIBYTE) report({ kind: 'memory', position });
  };
  const timer = setInterval(look, lookMs);
  const end = () => {
    isOver = true;
    clearInterval(timer);
  };
  return { end };
}
