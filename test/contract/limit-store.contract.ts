/** What every store of limits promises of the limits themselves; the runs that wait for them are in the file beside. */
import { beforeEach, describe, expect, it } from 'vitest';
import { type LimitKind, limitName, MAX_SLOTS } from '#domain/limit.ts';
import { DamagedLimitError, NewerLimitError } from '#domain/limit-codec.ts';
import type { DueIndex, LimitStore } from '#ports/index.ts';
import { dueThings } from './due-index.contract.ts';
import { fullEngine, ODD_NAMES, sampleHolder, sampleLimit } from './sample-limit.ts';
import { CREATED } from './sample-run.ts';

/** A fresh, empty store, and what only its backend can do to it. */
export interface LimitStoreHarness {
  readonly store: LimitStore;
  /** The index of what is due in it. */
  readonly due: DueIndex;
  /** Damages a stored limit. */
  damage(name: string): Promise<void>;
  /** Makes a stored limit look like one that newer code wrote. */
  makeNewer(name: string): Promise<void>;
}

/** The names of all limits of a kind, a page at a time. */
async function namesOf(store: LimitStore, kind: LimitKind, limit: number): Promise<string[]> {
  const names: string[] = [];
  let after: string | undefined;
  do {
    const page = await store.listLimits(kind, limit, after);
    expect(page.items.length).toBeLessThanOrEqual(limit);
    names.push(...page.items.map(({ name }) => name));
    after = page.last;
  } while (after !== undefined);
  return names;
}

export function describeLimits(backend: string, open: () => Promise<LimitStoreHarness>): void {
  describe(`LimitStore on ${backend}: limits`, () => {
    let harness: LimitStoreHarness;
    let store: LimitStore;

    beforeEach(async () => {
      harness = await open();
      store = harness.store;
    });

    describe('commits', () => {
      it('gives a limit back as it was committed', async () => {
        for (const limit of [fullEngine(), sampleLimit(), sampleLimit({ name: 'pipeline/etl', slots: 0 })]) {
          expect(await store.commitLimit(limit, 0)).toBe('committed');
          expect(await store.readLimit(limit.name)).toEqual(limit);
        }
        const schema = (await store.readLimit('engine/spark'))?.engine?.paramsSchema;
        expect(JSON.stringify(schema)).toBe(JSON.stringify(fullEngine().engine?.paramsSchema));
      });

      it('knows nothing of a limit that was never committed', async () => {
        await store.commitLimit(sampleLimit(), 0);
        for (const name of ['pool/d', 'pool/db2', 'engine/db', 'pipeline/db']) {
          expect(await store.readLimit(name)).toBeUndefined();
        }
      });

      it('loses what the next revision does not have', async () => {
        await store.commitLimit(fullEngine({ rev: 1 }), 0);
        const removed = { name: 'engine/spark', rev: 2, generations: 2, holders: [] };
        expect(await store.commitLimit(removed, 1)).toBe('committed');
        expect(await store.readLimit('engine/spark')).toEqual(removed);
      });

      it('does not replace what another change replaced, nor make what is there', async () => {
        const limit = sampleLimit();
        expect(await store.commitLimit({ ...limit, rev: 2 }, 1)).toBe('conflict');
        expect(await store.readLimit(limit.name)).toBeUndefined();
        await store.commitLimit(limit, 0);
        expect(await store.commitLimit({ ...limit, slots: 9 }, 0)).toBe('conflict');
        expect(await store.commitLimit({ ...limit, slots: 9, rev: 3 }, 2)).toBe('conflict');
        expect(await store.readLimit(limit.name)).toEqual(limit);
      });

      it('finds a commit again whose answer was lost', async () => {
        const [first, second] = [sampleLimit(), sampleLimit({ rev: 2, holders: [sampleHolder()] })];
        await store.commitLimit(first, 0);
        expect(await store.commitLimit(first, 0)).toBe('conflict');
        expect(await store.readLimit(first.name)).toEqual(first);
        await store.commitLimit(second, 1);
        expect(await store.commitLimit(second, 1)).toBe('conflict');
        expect(await store.readLimit(first.name)).toEqual(second);
      });

      it('lets one of many at once win', async () => {
        const firsts = [3, 5, 7].map((slots) => sampleLimit({ slots }));
        const made = await Promise.all(firsts.map((limit) => store.commitLimit(limit, 0)));
        expect(made.filter((answer) => answer === 'committed')).toHaveLength(1);
        const grants = Array.from({ length: 8 }, () => sampleLimit({ rev: 2, holders: [sampleHolder()] }));
        const granted = await Promise.all(grants.map((limit) => store.commitLimit(limit, 1)));
        expect(granted.filter((answer) => answer === 'committed')).toHaveLength(1);
        expect(await store.readLimit('pool/db')).toEqual(grants[granted.indexOf('committed')]);
      });

      it('holds the largest limit', async () => {
        const holders = Array.from({ length: MAX_SLOTS }, (_, at) =>
          sampleHolder({ nonce: `nonce${at}`, granted: at * 7919, returned: at * 7919 - 1 + (at === 0 ? 1 : 0) }),
        );
        const limit = sampleLimit({ slots: MAX_SLOTS, holders });
        expect(await store.commitLimit(limit, 0)).toBe('committed');
        expect(await store.readLimit(limit.name)).toEqual(limit);
      });
    });

    describe('lists', () => {
      it.each(['engine', 'pool', 'pipeline'] as const)('has those of the kind %s alone, by name', async (kind) => {
        for (const other of ['engine', 'pool', 'pipeline'] as const) {
          for (const name of ODD_NAMES) await store.commitLimit(sampleLimit({ name: limitName(other, name) }), 0);
        }
        const all = ODD_NAMES.map((name) => limitName(kind, name));
        expect(await namesOf(store, kind, 3)).toEqual(all);
        expect(await namesOf(store, kind, 100)).toEqual(all);
        expect(await store.readLimit(limitName(kind, '__proto__'))).toMatchObject({ name: `${kind}/__proto__` });
      });

      it('ends with the page that holds the last one', async () => {
        expect(await store.listLimits('pool', 10)).toEqual({ items: [] });
        const limits = ['a', 'b', 'c', 'd'].map((name) => sampleLimit({ name: `pool/${name}` }));
        for (const limit of limits) await store.commitLimit(limit, 0);
        expect(await store.listLimits('pool', 4)).toEqual({ items: limits });
        expect(await store.listLimits('pool', 2)).toEqual({ items: limits.slice(0, 2), last: 'b' });
        expect(await store.listLimits('pool', 2, 'b')).toEqual({ items: limits.slice(2) });
        expect(await store.listLimits('pool', 2, 'bb')).toEqual({ items: limits.slice(2) });
        expect(await store.listLimits('pool', 2, 'd')).toEqual({ items: [] });
      });
    });

    describe('records that cannot be read', () => {
      it('C98 are told, and left out of lists', async () => {
        for (const name of ['a', 'b', 'c', 'd']) await store.commitLimit(sampleLimit({ name: `pool/${name}` }), 0);
        await harness.damage('pool/b');
        await harness.makeNewer('pool/d');
        await expect(store.readLimit('pool/b')).rejects.toThrow(DamagedLimitError);
        await expect(store.readLimit('pool/d')).rejects.toThrow(NewerLimitError);
        expect(await namesOf(store, 'pool', 1)).toEqual(['pool/a', 'pool/c']);
        expect(await namesOf(store, 'pool', 2)).toEqual(['pool/a', 'pool/c']);
      });

      it('are not overwritten where newer code wrote them', async () => {
        await store.commitLimit(sampleLimit(), 0);
        await harness.makeNewer('pool/db');
        expect(await store.commitLimit(sampleLimit({ rev: 2 }), 1)).toBe('conflict');
        expect(await store.commitLimit(sampleLimit(), 0)).toBe('conflict');
        await expect(store.readLimit('pool/db')).rejects.toThrow(NewerLimitError);
      });
    });

    describe('the due index', () => {
      it('follows the due time of a limit', async () => {
        const limit = sampleLimit({ name: 'engine/a.b-c', dueAt: CREATED + 60_000 });
        const thing = { kind: 'limit', id: 'engine/a.b-c' };
        await store.commitLimit(limit, 0);
        expect(await dueThings(harness.due, CREATED + 59_999)).toEqual([]);
        expect(await dueThings(harness.due, CREATED + 60_000)).toEqual([thing]);
        await store.commitLimit({ ...limit, rev: 2, dueAt: CREATED }, 1);
        expect(await dueThings(harness.due, CREATED)).toEqual([thing]);
        const { dueAt: _, ...idle } = limit;
        expect(await store.commitLimit({ ...idle, rev: 9 }, 8)).toBe('conflict');
        expect(await dueThings(harness.due, CREATED)).toEqual([thing]);
        await store.commitLimit({ ...idle, rev: 3 }, 2);
        expect(await dueThings(harness.due, Number.MAX_SAFE_INTEGER)).toEqual([]);
      });

      it('has a damaged limit still, and every kind of limit by its name', async () => {
        const names = ODD_NAMES.flatMap((name) =>
          (['engine', 'pool', 'pipeline'] as const).map((kind) => limitName(kind, name)),
        );
        for (const name of names) await store.commitLimit(sampleLimit({ name, dueAt: CREATED }), 0);
        await harness.damage('pool/a');
        expect(await dueThings(harness.due, CREATED)).toEqual(names.sort().map((id) => ({ kind: 'limit', id })));
      });
    });
  });
}
