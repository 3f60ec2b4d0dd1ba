/** Lets only so many environments load at the same time, over all functions. */
export class StartGate {
  #free: number;
  readonly #listeners: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#free = atOnce;
  }

  /** Whether an environment may start now; {@link give} follows when it has. */
  take(): boolean {
    if (this.#free === 0) return false;
    this.#free -= 1;
    return true;
  }

  give(): void {
    this.#free += 1;
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` whenever a start may have become possible. */
  onFree(listener: () => void): void {
    this.#listeners.push(listener);
  }
}
