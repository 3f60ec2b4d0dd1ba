type Write<Operation> = {
  readonly operations: readonly Operation[];
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
};

/**
 * Writes to a LevelDB, one batch at a time: what is asked for while one is under way goes into the next, together. A
 * batch costs a visit to another thread whatever is in it, so many small ones would cost more than what they write.
 * Writes take effect in the order in which they were asked for.
 */
export class GroupedWrites<Operation> {
  readonly #batch: (operations: Operation[]) => Promise<void>;
  #waiting: Write<Operation>[] = [];
  #underWay: Promise<void> | undefined;

  /** @param batch writes all of its operations or none */
  constructor(batch: (operations: Operation[]) => Promise<void>) {
    this.#batch = batch;
  }

  /** Writes all of these operations or none. Rejects with the error of the batch that they were in. */
  write(operations: readonly Operation[]): Promise<void> {
    return new Promise((done, failed) => {
      this.#waiting.push({ operations, done, failed });
      this.#underWay ??= this.#writeAll();
    });
  }

  /** Resolves when everything that was asked for is over. */
  async settled(): Promise<void> {
    await this.#underWay;
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const writes = this.#waiting;
      this.#waiting = [];
      try {
        await this.#batch(writes.flatMap(({ operations }) => operations));
        for (const { done } of writes) done();
      } catch (error) {
        for (const { failed } of writes) failed(error);
      }
    }
    this.#underWay = undefined;
  }
}
