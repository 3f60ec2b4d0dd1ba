import type { DueIndex, DueThing } from '#ports/index.ts';

const DUE_PAGE = 100;

/** What the memory stores keep of a thing that may be due. */
interface Stored {
  readonly dueAt?: number;
}

/**
 * What a memory store keeps, by id, with an index of what has a due time: as in the table, looking for what is due
 * costs nothing for what is not.
 */
export class DueMap<Value extends Stored> extends Map<string, Value> {
  /** Ids by due time; due times are whole ticks for the most part, so there are few. */
  private readonly byTime = new Map<number, Set<string>>();
  /** The due times, soonest first. */
  private readonly times: number[] = [];

  constructor(entries: Iterable<readonly [string, Value]> = []) {
    super();
    for (const [id, value] of entries) this.set(id, value);
  }

  override set(id: string, value: Value): this {
    const before = this.get(id)?.dueAt;
    if (before !== value.dueAt) {
      this.forget(id, before);
      this.note(id, value.dueAt);
    }
    return super.set(id, value);
  }

  override delete(id: string): boolean {
    this.forget(id, this.get(id)?.dueAt);
    return super.delete(id);
  }

  override clear(): void {
    this.byTime.clear();
    this.times.length = 0;
    super.clear();
  }

  /** What is due at a time, soonest first. */
  dueBy(now: number): { readonly id: string; readonly dueAt: number }[] {
    const due: { readonly id: string; readonly dueAt: number }[] = [];
    for (const dueAt of this.times) {
      if (dueAt > now) break;
      for (const id of this.byTime.get(dueAt) ?? []) due.push({ id, dueAt });
    }
    return due;
  }

  private note(id: string, dueAt: number | undefined): void {
    if (dueAt === undefined) return;
    const known = this.byTime.get(dueAt);
    if (known) known.add(id);
    else {
      this.byTime.set(dueAt, new Set([id]));
      this.times.splice(this.placeOf(dueAt), 0, dueAt);
    }
  }

  private forget(id: string, dueAt: number | undefined): void {
    if (dueAt === undefined) return;
    const known = this.byTime.get(dueAt);
    known?.delete(id);
    if (known?.size !== 0) return;
    this.byTime.delete(dueAt);
    this.times.splice(this.placeOf(dueAt), 1);
  }

  /** How many due times are sooner than a time. */
  private placeOf(time: number): number {
    let [low, high] = [0, this.times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.times[middle] as number) < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The due index over memory stores, soonest first: the twin of the table's. A kind without a store has nothing due. */
export function createMemoryDueIndex(
  stores: Readonly<Partial<Record<DueThing['kind'], Pick<DueMap<Stored>, 'dueBy'>>>>,
): DueIndex {
  const kinds = ['run', 'limit', 'pipeline'] as const;
  return {
    async *due(now) {
      const due = kinds.flatMap((kind) => stores[kind]?.dueBy(now).map((thing) => ({ kind, ...thing })) ?? []);
      due.sort((a, b) => a.dueAt - b.dueAt);
      for (let at = 0; at < due.length; at += DUE_PAGE) {
        yield due.slice(at, at + DUE_PAGE).map(({ kind, id }) => ({ kind, id }));
      }
    },
  };
}
