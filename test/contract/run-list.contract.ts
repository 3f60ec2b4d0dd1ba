/** What every run store promises about the list of runs. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { RunHeader, RunQuery, RunStore } from '#ports/index.ts';
import type { RunStoreHarness } from './run-store.contract.ts';
import { CREATED, nextId, ODD_TEXTS, sampleHeader } from './sample-run.ts';

/** Walks a list to its end; `between` runs after each page. */
async function walk(
  store: RunStore,
  query: RunQuery,
  between: (page: number) => Promise<void> = async () => {},
): Promise<RunHeader[]> {
  const found: RunHeader[] = [];
  let after: RunQuery['after'];
  for (let page = 1; ; page++) {
    const { items, last } = await store.listRuns({ ...query, ...(after && { after }) });
    expect(items.length).toBeLessThanOrEqual(query.limit);
    found.push(...items);
    if (!last) return found;
    after = last;
    await between(page);
  }
}

export function describeRunList(backend: string, open: () => Promise<RunStoreHarness>): void {
  describe(`RunStore on ${backend}: the list of runs`, () => {
    let store: RunStore;

    beforeEach(async () => {
      store = (await open()).store;
    });

    async function put(headers: readonly RunHeader[]): Promise<void> {
      for (let at = 0; at < headers.length; at += 50) {
        await Promise.all(headers.slice(at, at + 50).map((header) => store.putHeader(header)));
      }
    }

    it('is empty at first', async () => {
      expect(await store.listRuns({ limit: 10 })).toEqual({ items: [] });
      expect(await store.listRuns({ limit: 10, pipeline: 'etl', states: ['FAILED'] })).toEqual({ items: [] });
    });

    it('gives headers back as they were put', async () => {
      const full = sampleHeader({
        pipeline: 'Odd.name_1-2',
        state: 'ABORTED',
        rev: 17,
        endedAt: CREATED + 60_000,
        trigger: { type: 'backfill', by: ODD_TEXTS[0] as string },
        tags: ODD_TEXTS.map((text) => [text, text]),
      });
      const { startedAt: _, ...queued } = sampleHeader({ state: 'QUEUED', createdAt: CREATED - 1 });
      await put([queued, full]);
      expect(await store.listRuns({ limit: 10 })).toEqual({ items: [full, queued] });
    });

    it('takes the newer of two writes, in either order', async () => {
      const started = sampleHeader({ rev: 2 });
      const ended: RunHeader = { ...started, rev: 9, state: 'FAILED', endedAt: CREATED + 99 };
      await put([started]);
      await put([ended]);
      await put([started]);
      await put([{ ...ended, state: 'RUNNING' }]);
      expect(await store.listRuns({ limit: 10 })).toEqual({ items: [ended] });
      expect(await store.listRuns({ limit: 10, pipeline: 'etl' })).toEqual({ items: [ended] });
    });

    it('loses a line that is removed for good, from every list, and gives its id another one', async () => {
      const removed = sampleHeader({ rev: 3, pipeline: 'etl' });
      const kept = sampleHeader({ rev: 3, pipeline: 'etl', createdAt: removed.createdAt + 1 });
      await put([removed, kept]);
      await store.removeHeader(removed);
      await store.removeHeader(removed);
      await store.putHeader({ ...removed, rev: 99, state: 'ABORTED', endedAt: CREATED + 9 });
      const never = sampleHeader({ createdAt: CREATED + 77 });
      await store.removeHeader(never);
      await store.putHeader(never);
      for (const query of [{ limit: 10 }, { limit: 10, pipeline: 'etl' }, { limit: 1 }]) {
        expect(await walk(store, query)).toEqual([kept]);
      }
      const anew = { ...removed, createdAt: CREATED + 50_000, rev: 1 };
      await put([anew]);
      expect(await store.listRuns({ limit: 10 })).toEqual({ items: [anew, kept] });
    });

    it('is newest first, and by id where two were created at once', async () => {
      const [a, b, c] = ['aaaa', 'bbbb', 'cccc'].map((id) => sampleHeader({ id })) as [RunHeader, RunHeader, RunHeader];
      const newer = sampleHeader({ createdAt: CREATED + 1 });
      const older = sampleHeader({ createdAt: CREATED - 1 });
      await put([b, older, c, newer, a]);
      expect((await walk(store, { limit: 2 })).map(({ id }) => id)).toEqual([
        newer.id,
        'cccc',
        'bbbb',
        'aaaa',
        older.id,
      ]);
    });

    it('ends a walk with the page that holds the last run', async () => {
      const headers = Array.from({ length: 6 }, (_, at) => sampleHeader({ createdAt: CREATED - at }));
      await put(headers);
      const first = await store.listRuns({ limit: 3 });
      expect(first.items).toEqual(headers.slice(0, 3));
      expect(first.last).toEqual({ createdAt: CREATED - 2, id: headers[2]?.id });
      const second = await store.listRuns({ limit: 3, ...(first.last && { after: first.last }) });
      expect(second).toEqual({ items: headers.slice(3) });
      expect(await store.listRuns({ limit: 6 })).toEqual({ items: headers });
      expect(await store.listRuns({ limit: 1_000 })).toEqual({ items: headers });
    });

    it('filters by pipeline, state, tags and time, together', async () => {
      const wanted = sampleHeader({
        state: 'FAILED',
        tags: [
          ['team', 'data'],
          ['zone', '🚀'],
        ],
      });
      await put([
        wanted,
        sampleHeader({ ...wanted, id: nextId(), pipeline: 'other' }),
        sampleHeader({ ...wanted, id: nextId(), pipeline: 'etl2' }),
        sampleHeader({ ...wanted, id: nextId(), state: 'SUCCEEDED' }),
        sampleHeader({ ...wanted, id: nextId(), tags: [['team', 'data']] }),
        sampleHeader({
          ...wanted,
          id: nextId(),
          tags: [
            ['team', '🚀'],
            ['zone', 'data'],
          ],
        }),
        sampleHeader({ ...wanted, id: nextId(), createdAt: CREATED - 1 }),
        sampleHeader({ ...wanted, id: nextId(), createdAt: CREATED + 1 }),
      ]);
      const query: RunQuery = {
        limit: 10,
        pipeline: 'etl',
        states: ['FAILED', 'TIMED_OUT'],
        tags: [
          ['zone', '🚀'],
          ['team', 'data'],
        ],
        from: CREATED,
        to: CREATED + 1,
      };
      expect(await store.listRuns(query)).toEqual({ items: [wanted] });
      const { pipeline: _, ...everywhere } = query;
      expect((await walk(store, everywhere)).map((header) => header.pipeline).sort()).toEqual(['etl', 'etl2', 'other']);
      expect(await walk(store, { limit: 10, states: [] })).toEqual([]);
    });

    it('takes `from` in and leaves `to` out', async () => {
      const headers = [2, 1, 0].map((after) => sampleHeader({ createdAt: CREATED + after }));
      await put(headers);
      const at = async (bounds: Partial<RunQuery>) =>
        (await walk(store, { limit: 1, ...bounds })).map((header) => header.createdAt - CREATED);
      expect(await at({ from: CREATED + 1 })).toEqual([2, 1]);
      expect(await at({ to: CREATED + 2 })).toEqual([1, 0]);
      expect(await at({ from: CREATED + 1, to: CREATED + 2 })).toEqual([1]);
      expect(await at({ from: CREATED + 1, to: CREATED + 1 })).toEqual([]);
      expect(await at({ from: CREATED + 2, to: CREATED })).toEqual([]);
      expect(await at({ from: 0, to: 8.64e15 })).toEqual([2, 1, 0]);
      expect(await at({ from: -5 })).toEqual([2, 1, 0]);
    });

    it('goes on from a place at which no run is', async () => {
      const headers = [2, 0].map((after) => sampleHeader({ createdAt: CREATED + after }));
      await put(headers);
      expect(await store.listRuns({ limit: 5, after: { createdAt: CREATED + 1, id: 'zzz' } })).toEqual({
        items: headers.slice(1),
      });
    });

    it('meets each match once, whatever is written during the walk', async () => {
      const headers = Array.from({ length: 250 }, (_, at) =>
        sampleHeader({
          createdAt: CREATED - Math.floor(at / 3),
          state: at % 2 === 0 ? 'FAILED' : 'RUNNING',
          pipeline: at % 5 === 0 ? 'rare' : 'etl',
        }),
      );
      await put(headers);
      for (const query of [{ limit: 50 }, { limit: 7 }, { limit: 50, pipeline: 'rare' }] as const) {
        const known = headers.filter((header) => !('pipeline' in query) || header.pipeline === query.pipeline);
        const before = new Set(known.filter((header) => header.state === 'FAILED').map(({ id }) => id));
        const found = await walk(store, { ...query, states: ['FAILED'] }, async (page) => {
          if (page > 1) return;
          await put(
            Array.from({ length: 10 }, (_, at) =>
              sampleHeader({
                createdAt: CREATED + 1 + at,
                pipeline: 'rare',
                state: at % 2 === 0 ? 'FAILED' : 'QUEUED',
              }),
            ),
          );
          const running = known.filter((header) => header.state === 'RUNNING' && header.rev === 1).slice(-3);
          await put(running.map((header) => ({ ...header, rev: 5, state: 'FAILED', endedAt: CREATED + 60_000 })));
        });
        const ids = found.map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        expect(ids.filter((id) => before.has(id))).toHaveLength(before.size);
        const places = found.map(({ createdAt }) => createdAt);
        expect(places).toEqual([...places].sort((a, b) => b - a));
      }
    });
  });
}
