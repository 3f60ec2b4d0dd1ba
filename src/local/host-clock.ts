/** Time as the hosted services see it, so that tests can move it. */
export type HostClock = {
  /** Milliseconds since 1970. */
  now(): number;
  /**
   * Calls `run` once after `delayMs` (at least 0, at most 2^31 - 1).
   * @returns a function that calls it off; harmless afterwards
   */
  after(delayMs: number, run: () => void): () => void;
};

/** The machine's clock and timers. Its timers do not keep the process alive. */
export const systemClock: HostClock = {
  now: () => Date.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, Math.max(0, delayMs));
    timer.unref();
    return () => clearTimeout(timer);
  },
};
