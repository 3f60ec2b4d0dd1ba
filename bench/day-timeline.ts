/** What happens later, soonest first; what happens at the same time keeps its order. */
export class Timeline {
  private readonly entries: { readonly at: number; readonly happen: () => Promise<void> | void }[] = [];
  private done = 0;

  /** When the next of it happens; infinite, where nothing does. */
  get nextAt(): number {
    return this.entries[this.done]?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Puts something on it. */
  put(at: number, happen: () => Promise<void> | void): void {
    let [low, high] = [this.done, this.entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.entries[middle] as { at: number }).at <= at) low = middle + 1;
      else high = middle;
    }
    this.entries.splice(low, 0, { at, happen });
  }

  /** Takes the next of it. */
  take(): () => Promise<void> | void {
    const entry = this.entries[this.done];
    if (!entry) throw new Error('nothing is left to happen');
    this.done += 1;
    // What is over is thrown away in heaps: one by one, each would move all that is to come.
    if (this.done > 1_000) {
      this.entries.splice(0, this.done);
      this.done = 0;
    }
    return entry.happen;
  }
}
