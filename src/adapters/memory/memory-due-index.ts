import type { DueIndex, DueThing } from '#ports/index.ts';

const DUE_PAGE = 100;

/** What the memory stores keep of a thing that may be due. */
interface Stored {
  readonly dueAt?: number;
}

/** The due index over memory stores, soonest first: the twin of the table's. A kind without a store has nothing due. */
export function createMemoryDueIndex(
  stores: Readonly<Partial<Record<DueThing['kind'], ReadonlyMap<string, Stored>>>>,
): DueIndex {
  const kinds = ['run', 'limit', 'pipeline'] as const;
  return {
    async *due(now) {
      const all = kinds.flatMap((kind) => [...(stores[kind] ?? [])].map(([id, { dueAt }]) => ({ kind, id, dueAt })));
      const due = all.flatMap(({ dueAt, ...thing }) =>
        dueAt !== undefined && dueAt <= now ? { ...thing, dueAt } : [],
      );
      due.sort((a, b) => a.dueAt - b.dueAt);
      for (let at = 0; at < due.length; at += DUE_PAGE) {
        yield due.slice(at, at + DUE_PAGE).map(({ kind, id }) => ({ kind, id }));
      }
    },
  };
}
