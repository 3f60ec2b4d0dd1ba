import type { RunChange } from './live-frames.ts';

/** Puts changes of a run into order by their revisions, and knows whether one is missing. */
export class LiveLedger {
  /** Up to where everything is known; below 0 before the first snapshot. */
  #rev = -1;
  #heard = -1;
  #early: RunChange[] = [];

  /** Whether there is something that was not told. */
  get isBehind(): boolean {
    return this.#early.length > 0 || this.#heard > this.#rev;
  }

  /** Whether a snapshot says more than is known. */
  isNews(rev: number): boolean {
    return rev > this.#rev;
  }

  /** Takes a change; gives those that are next now, in order. One that is known is dropped, one that is early is kept. */
  take(change: RunChange): readonly RunChange[] {
    this.#early.push(change);
    return this.#next();
  }

  /** The run is said to have come to a revision; infinity where it is not known to which. */
  hear(rev: number): void {
    this.#heard = Math.max(this.#heard, rev);
  }

  /** Everything up to a revision is known; gives the changes that are next after it. */
  know(rev: number): readonly RunChange[] {
    this.#rev = Math.max(this.#rev, rev);
    // It was not said which revision that is.
    if (this.#heard === Number.POSITIVE_INFINITY) this.#heard = this.#rev;
    return this.#next();
  }

  #next(): readonly RunChange[] {
    const next: RunChange[] = [];
    const rest: RunChange[] = [];
    for (const change of this.#early.toSorted((one, other) => one.rev - other.rev)) {
      if (change.rev <= this.#rev) continue;
      if (change.sinceRev > this.#rev + 1) rest.push(change);
      else {
        next.push(change);
        this.#rev = change.rev;
      }
    }
    this.#early = rest;
    return next;
  }
}
