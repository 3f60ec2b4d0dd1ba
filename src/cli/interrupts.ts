import { EXIT } from './exit-codes.ts';

/** Ctrl-C and the signals that mean the same. */
export interface Interrupts {
  /** Aborted at the first one. */
  readonly signal: AbortSignal;
  /** Whether there was one. */
  readonly happened: boolean;
  /** Stops listening. */
  release(): void;
}

/**
 * One press of Ctrl-C may come twice, since a terminal signals all processes of the group and npm passes it on as well;
 * what comes within this time (ms) is the same press.
 */
const SAME_PRESS_MS = 400;

/**
 * Listens for Ctrl-C: the first one asks for a clean end, through the signal; the second one leaves at once. The end of
 * the process that started this one by way of `bin/millrace.js` leaves at once, too.
 */
export function listenForInterrupts(): Interrupts {
  const controller = new AbortController();
  let firstAt = 0;
  const onSignal = () => {
    if (!controller.signal.aborted) {
      firstAt = performance.now();
      controller.abort();
    } else if (performance.now() - firstAt > SAME_PRESS_MS) {
      process.exit(EXIT.interrupted);
    }
  };
  const leave = () => process.exit(EXIT.interrupted);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  process.on('disconnect', leave);
  return {
    signal: controller.signal,
    get happened() {
      return controller.signal.aborted;
    },
    release() {
      for (const signal of signals) process.off(signal, onSignal);
      process.off('disconnect', leave);
    },
  };
}
