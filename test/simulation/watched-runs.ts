/** The memory run store of a world: it reads each stored text once, and shows what was stored and put aside. */
import { createMemoryRunStore, type MemoryRunStore } from '#adapters/memory/memory-run-store.ts';
import type { AttemptResult } from '#domain/facts.ts';
import type { Decision, RunRecord } from '#domain/run.ts';
import type { PackedRun } from '#domain/run-codec.ts';
import { unpackOnce } from '#testing/unpack-once.ts';

/** A run store, and what invariants look at. */
export interface WatchedRuns extends MemoryRunStore {
  /** The stored run now; of one that was removed, the last there was. */
  latest(id: string): RunRecord;
  /** Whether a run was there and was removed. */
  isGone(id: string): boolean;
  /** All stored runs now. */
  all(): RunRecord[];
  /** All runs that there ever were, each as it was last: those that were removed come first. */
  everAll(): RunRecord[];
  /** Lets newer code have a run until it gives it back: it then has a schema that the code here does not know. */
  lendToNewerCode(id: string): void;
  /** Whether newer code has a run. */
  isLent(): boolean;
  /** Takes a run back from newer code; tells whether the code here had left it alone. */
  takeBack(id: string): boolean;
  ids(): IterableIterator<string>;
  /** The stored text now: the same object until the next commit. */
  text(id: string): PackedRun | undefined;
  /** What was stored first of each attempt, by {@link resultName}. */
  readonly results: ReadonlyMap<string, AttemptResult>;
  /** The decisions of a run that were put aside, by revision number. */
  historyOf(run: Pick<RunRecord, 'id' | 'nonce'>): ReadonlyMap<number, readonly Decision[]>;
}

/** Makes an empty store. */
export function createWatchedRuns(): WatchedRuns {
  const inner = createMemoryRunStore();
  const history = new Map<string, Map<number, readonly Decision[]>>();
  const results = new Map<string, AttemptResult>();
  const gone: RunRecord[] = [];
  const lent = new Map<string, { readonly before: PackedRun; readonly newer: PackedRun }>();
  const read = (id: string) => {
    const text = lent.get(id)?.before ?? inner.stored.get(id);
    return text && unpackOnce(text);
  };
  return {
    ...inner,
    historyOf: ({ id, nonce }) => history.get(`${id}/${nonce}`) ?? new Map(),
    results,
    ids: () => inner.stored.keys(),
    text: (id) => inner.stored.get(id),
    isGone: (id) => !inner.stored.has(id) && gone.some((run) => run.id === id),
    async removeRun(id, expectedRev) {
      const run = read(id);
      const removed = await inner.removeRun(id, expectedRev);
      if (run && removed === 'removed') gone.push(run);
      return removed;
    },
    latest(id) {
      const run = read(id) ?? gone.findLast((one) => one.id === id);
      if (!run) throw new Error('the run is gone');
      return run;
    },
    all: () => [...inner.stored.keys()].flatMap((id) => read(id) ?? []),
    everAll: () => [...gone, ...[...inner.stored.keys()].flatMap((id) => read(id) ?? [])],
    readRun: async (id) => (lent.has(id) ? inner.readRun(id) : read(id)),
    lendToNewerCode(id) {
      const before = inner.stored.get(id);
      if (!before || lent.has(id)) return;
      const newer = { ...before, schemaVersion: before.schemaVersion + 1 };
      lent.set(id, { before, newer });
      inner.stored.set(id, newer);
    },
    isLent: () => lent.size > 0,
    takeBack(id) {
      const loan = lent.get(id);
      if (!loan) return true;
      const isLeftAlone = inner.stored.get(id) === loan.newer;
      lent.delete(id);
      inner.stored.set(id, loan.before);
      return isLeftAlone;
    },
    async putResult(run, result) {
      const stored = await inner.putResult(run, result);
      const key = resultName(run.nonce, result);
      if (!results.has(key)) results.set(key, stored);
      return stored;
    },
    async copyResults(from, to, placeOf) {
      const copied = await inner.copyResults(from, to, placeOf);
      for (const result of await inner.listResults(to)) {
        const key = resultName(to.nonce, result);
        if (!results.has(key)) results.set(key, result);
      }
      return copied;
    },
    putHistory(run, rev, decisions, createdAt) {
      const key = `${run.id}/${run.nonce}`;
      const ofRun = history.get(key) ?? new Map<number, readonly Decision[]>();
      history.set(key, ofRun.set(rev, decisions));
      return inner.putHistory(run, rev, decisions, createdAt);
    },
  };
}

/** What tells the result of an attempt, or of an attempt of an item, from others. */
export function resultName(
  nonce: string,
  { node, item, attempt }: Pick<AttemptResult, 'node' | 'item' | 'attempt'>,
): string {
  return `${nonce}/${node}/${item ?? ''}/${attempt}`;
}
