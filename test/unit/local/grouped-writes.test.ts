import { describe, expect, it } from 'vitest';
import { GroupedWrites } from '#local/grouped-writes.ts';

/** Batches that end when the test says so. */
function createWrites() {
  const batches: { operations: string[]; done: () => void; fail: (error: unknown) => void }[] = [];
  const writes = new GroupedWrites<string>(
    (operations) => new Promise((done, fail) => batches.push({ operations, done, fail })),
  );
  return { writes, batches };
}

/** Lets everything that can go on without another batch go on. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('GroupedWrites', () => {
  it('begins a write at once, and writes what comes meanwhile together, in order', async () => {
    const { writes, batches } = createWrites();
    const all = [writes.write(['a']), writes.write(['b', 'c']), writes.write(['d'])];
    expect(batches.map(({ operations }) => operations)).toEqual([['a']]);
    batches[0]?.done();
    await all[0];
    await turn();
    expect(batches.map(({ operations }) => operations)).toEqual([['a'], ['b', 'c', 'd']]);
    batches[1]?.done();
    await Promise.all(all);
    void writes.write(['e']);
    expect(batches.at(-1)?.operations).toEqual(['e']);
  });

  it('tells the writes of a batch that failed, and goes on with the next', async () => {
    const { writes, batches } = createWrites();
    const first = writes.write(['a']);
    const second = writes.write(['b']);
    batches[0]?.fail(new Error('no space'));
    await expect(first).rejects.toThrow('no space');
    batches[1]?.done();
    await second;
  });

  it('is settled when everything that was asked for is over', async () => {
    const { writes, batches } = createWrites();
    await writes.settled();
    const both = [writes.write(['a']), writes.write(['b'])];
    let isSettled = false;
    const settled = writes.settled().then(() => {
      isSettled = true;
    });
    batches[0]?.done();
    await turn();
    expect(isSettled).toBe(false);
    batches[1]?.done();
    await Promise.all([...both, settled]);
  });
});
