import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunChange } from '../../../src/client/live-frames.ts';
import { LiveLedger } from '../../../src/client/live-ledger.ts';

/** Changes that cover the revisions up to each of `revs`, one after another. */
function changesUpTo(revs: readonly number[]): RunChange[] {
  return revs.map((rev, at) => ({ sinceRev: (revs[at - 1] ?? 0) + 1, rev }) as RunChange);
}

const revsOf = (changes: readonly RunChange[]) => changes.map(({ rev }) => rev);

describe('the order of changes', () => {
  it('is that of their revisions, once each, whatever way they come', () => {
    const revs = fc
      .uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1 })
      .map((all) => all.sort((a, b) => a - b));
    const arrivals = revs.chain((all) => {
      const changes = changesUpTo(all);
      return fc.record({
        all: fc.constant(all),
        from: fc.integer({ min: 0, max: 60 }),
        arriving: fc
          .array(fc.constantFrom(...changes))
          .chain((again) => fc.shuffledSubarray([...changes, ...again], { minLength: changes.length + again.length })),
      });
    });
    fc.assert(
      fc.property(arrivals, ({ all, from, arriving }) => {
        const ledger = new LiveLedger();
        const told = [...ledger.know(from), ...arriving.flatMap((change) => ledger.take(change))];
        expect(revsOf(told)).toEqual(all.filter((rev) => rev > from));
        expect(ledger.isBehind).toBe(false);
      }),
    );
  });

  it('waits for one that is missing, until the run is read', () => {
    const ledger = new LiveLedger();
    const [first, , third, fourth] = changesUpTo([1, 2, 3, 4]) as [RunChange, RunChange, RunChange, RunChange];
    expect(revsOf(ledger.take(first))).toEqual([]);
    expect(ledger.isBehind).toBe(true);
    expect(ledger.know(1)).toEqual([]);
    expect(ledger.isBehind).toBe(false);
    expect(ledger.take(fourth)).toEqual([]);
    expect(ledger.take(third)).toEqual([]);
    expect(ledger.isBehind).toBe(true);
    expect(revsOf(ledger.know(2))).toEqual([3, 4]);
    expect(ledger.isBehind).toBe(false);
  });

  it('is behind what was heard of, and not for ever behind what was not', () => {
    const ledger = new LiveLedger();
    ledger.know(3);
    ledger.hear(3);
    expect(ledger.isBehind).toBe(false);
    ledger.hear(4);
    expect(ledger.isBehind).toBe(true);
    ledger.hear(Number.POSITIVE_INFINITY);
    ledger.know(4);
    expect(ledger.isBehind).toBe(false);
    expect([ledger.isNews(4), ledger.isNews(5)]).toEqual([false, true]);
  });
});
