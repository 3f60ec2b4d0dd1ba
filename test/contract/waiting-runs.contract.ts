/** What every store of limits promises of the runs that wait for them. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { WaitingRun } from '#domain/limit.ts';
import type { LimitStore } from '#ports/index.ts';
import type { LimitStoreHarness } from './limit-store.contract.ts';
import { ODD_NAMES, sampleRow } from './sample-limit.ts';
import { CREATED } from './sample-run.ts';

/** All rows of a limit, a page at a time. */
async function walk(store: LimitStore, limit: string, count: number): Promise<WaitingRun[]> {
  const found: WaitingRun[] = [];
  for (;;) {
    const page = await store.listWaiting(limit, count, found.at(-1));
    expect(page.length).toBeLessThanOrEqual(count);
    found.push(...page);
    if (page.length < count) return found;
  }
}

export function describeWaitingRuns(backend: string, open: () => Promise<LimitStoreHarness>): void {
  describe(`LimitStore on ${backend}: runs that wait`, () => {
    let store: LimitStore;

    beforeEach(async () => {
      ({ store } = await open());
    });

    const putAll = async (rows: readonly WaitingRun[]) => {
      for (const row of rows) await store.putWaiting(row);
    };

    it('gives a row back as it was put', async () => {
      expect(await store.listWaiting('pool/db', 10)).toEqual([]);
      const rows = [sampleRow(), sampleRow({ priority: -7, since: 0, isByHand: true, taken: 0, wants: 500 })];
      await putAll(rows);
      expect(await store.listWaiting('pool/db', 10)).toEqual(rows);
      await store.putWaiting({ ...sampleRow({ limit: 'pool/other' }), isByHand: false });
      expect((await store.listWaiting('pool/other', 1))[0]).not.toHaveProperty('isByHand');
    });

    it('stands by pipeline, then by priority, then by age', async () => {
      const rows = [
        sampleRow({ pipeline: 'A', priority: -1000 }),
        sampleRow({ pipeline: 'a', priority: 1000, since: CREATED + 9 }),
        sampleRow({ pipeline: 'a', priority: 1, since: CREATED + 9 }),
        sampleRow({ pipeline: 'a', priority: 0, since: 999 }),
        sampleRow({ pipeline: 'a', priority: 0, since: CREATED, run: 'a'.repeat(26) }),
        sampleRow({ pipeline: 'a', priority: 0, since: CREATED, run: 'b'.repeat(26) }),
        sampleRow({ pipeline: 'a', priority: -1, since: 5 }),
        sampleRow({ pipeline: 'a', priority: -10, since: 4 }),
        sampleRow({ pipeline: 'a', priority: -1000, since: 3 }),
        sampleRow({ pipeline: 'a-b', priority: 1000, since: 1 }),
      ];
      await putAll([...rows].reverse());
      expect(await store.listWaiting('pool/db', 100)).toEqual(rows);
      for (const count of [1, 2, 3, rows.length]) expect(await walk(store, 'pool/db', count)).toEqual(rows);
    });

    it('keeps limits apart, and pipelines, however odd their names', async () => {
      const limits = ['engine/a', 'engine/a-b', 'pool/a', 'pipeline/a'];
      const rows = new Map(
        limits.map((limit) => [limit, ODD_NAMES.map((pipeline) => sampleRow({ limit, pipeline }))] as const),
      );
      for (const of of rows.values()) await putAll([...of].reverse());
      for (const limit of limits) expect(await walk(store, limit, 4)).toEqual(rows.get(limit));
      expect(await store.listWaiting('engine/b', 4)).toEqual([]);
    });

    it('goes on behind all rows of a pipeline', async () => {
      const rows = ODD_NAMES.flatMap((pipeline) => [sampleRow({ pipeline, priority: 5 }), sampleRow({ pipeline })]);
      await putAll(rows);
      for (const pipeline of [...ODD_NAMES, 'aa', 'zz', '!']) {
        const behind = rows.filter((row) => row.pipeline > pipeline);
        expect(await store.listWaiting('pool/db', 100, { pipeline })).toEqual(behind);
        expect(await store.listWaiting('pool/db', 1, { pipeline })).toEqual(behind.slice(0, 1));
      }
    });

    it('goes on behind a row that is no longer there', async () => {
      const [first, second, third] = [1, 2, 3].map((since) => sampleRow({ since })) as [
        WaitingRun,
        WaitingRun,
        WaitingRun,
      ];
      await putAll([first, second, third]);
      await store.removeWaiting(second);
      expect(await store.listWaiting('pool/db', 10, second)).toEqual([third]);
      expect(await store.listWaiting('pool/db', 10, first)).toEqual([third]);
    });

    it('replaces the row of an earlier revision, or of the same one, and of no later one', async () => {
      const row = sampleRow({ rev: 5 });
      const [earlier, later] = [
        { ...row, rev: 4, wants: 9 },
        { ...row, rev: 6, wants: 8 },
      ];
      await putAll([row, row, earlier]);
      expect(await store.listWaiting('pool/db', 10)).toEqual([row]);
      await putAll([later, row]);
      expect(await store.listWaiting('pool/db', 10)).toEqual([later]);
    });

    it('replaces the row of a run that was made anew, whose revisions begin again', async () => {
      const row = sampleRow({ rev: 50 });
      const anew = { ...row, nonce: 'zzzzzzzz', rev: 2 };
      await putAll([row, anew]);
      expect(await store.listWaiting('pool/db', 10)).toEqual([anew]);
      await store.removeWaiting({ ...row, rev: 60 });
      expect(await store.listWaiting('pool/db', 10)).toEqual([anew]);
    });

    it('takes a row away, unless it was put for a later revision', async () => {
      const row = sampleRow({ rev: 5 });
      const neighbours = [sampleRow({ since: row.since + 1 }), sampleRow({ limit: 'pool/other', run: row.run })];
      await putAll([row, ...neighbours]);
      await store.removeWaiting({ ...row, rev: 4 });
      expect(await store.listWaiting('pool/db', 10)).toEqual([row, neighbours[0]]);
      await store.removeWaiting({ ...row, rev: 6 });
      await store.removeWaiting({ ...row, rev: 6 });
      expect(await store.listWaiting('pool/db', 10)).toEqual([neighbours[0]]);
      expect(await store.listWaiting('pool/other', 10)).toEqual([neighbours[1]]);
    });

    it('gives every one of many rows once', async () => {
      const rows = Array.from({ length: 300 }, (_, at) =>
        sampleRow({ pipeline: `p${at % 3}`, priority: (at * 7) % 5, since: CREATED + ((at * 31) % 17) }),
      );
      await Promise.all(rows.map((row) => store.putWaiting(row)));
      const walked = await walk(store, 'pool/db', 100);
      expect(new Set(walked.map(({ run }) => run)).size).toBe(300);
      const order = walked.map(({ pipeline, priority, since }) => [pipeline, -priority, since] as const);
      expect(order).toEqual(
        [...order].sort((a, b) => (a[0] < b[0] ? -1 : Number(a[0] > b[0])) || a[1] - b[1] || a[2] - b[2]),
      );
    });
  });
}
