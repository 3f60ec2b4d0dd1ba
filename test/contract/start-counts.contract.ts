/** What all counts of starts promise. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StartCounts } from '#ports/index.ts';

/** Counts of nothing yet, and what ends them. */
export interface StartCountsHarness {
  readonly counts: StartCounts;
  close(): Promise<void>;
}

const MINUTE = 30_000_000;
const runId = (first: string) => first.repeat(26);

export function describeStartCounts(backend: string, open: () => Promise<StartCountsHarness>): void {
  describe(`StartCounts on ${backend}`, () => {
    let harness: StartCountsHarness;
    let counts: StartCounts;
    beforeAll(async () => {
      harness = await open();
      counts = harness.counts;
    });
    afterAll(() => harness.close());

    it('has room for so many runs of a pipeline in a minute, and for each once', async () => {
      const take = (first: string, most = 2) => counts.count('etl', MINUTE, runId(first), most);
      expect([await take('a'), await take('a'), await take('b'), await take('c')]).toEqual([true, true, true, false]);
      expect([await take('a'), await take('b'), await take('c')]).toEqual([true, true, false]);
      expect(await take('c', 3)).toBe(true);
    });

    it('counts each pipeline and each minute for itself', async () => {
      const places: [string, number][] = [
        ['one', MINUTE],
        ['one', MINUTE + 1],
        ['two', MINUTE],
        ['__proto__', MINUTE],
      ];
      for (const [pipeline, minute] of places) {
        expect(await counts.count(pipeline, minute, runId('a'), 1)).toBe(true);
        expect(await counts.count(pipeline, minute, runId('b'), 1)).toBe(false);
      }
    });

    it('never gives a place to two when many ask at once', async () => {
      const asked = Array.from({ length: 20 }, (_, at) =>
        counts.count('crowd', MINUTE, runId(String.fromCharCode(97 + at)), 7),
      );
      expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(7);
    });

    it('counts one start once, however many ask for it at once', async () => {
      const asked = Array.from({ length: 10 }, () => counts.count('same', MINUTE, runId('a'), 2));
      expect((await Promise.all(asked)).every(Boolean)).toBe(true);
      expect(await counts.count('same', MINUTE, runId('b'), 2)).toBe(true);
      expect(await counts.count('same', MINUTE, runId('c'), 2)).toBe(false);
    });
  });
}
