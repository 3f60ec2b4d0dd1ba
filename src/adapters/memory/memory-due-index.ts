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

  /** The due times up to a time, soonest first. */
  dueTimes(now: number): readonly number[] {
    const later = this.times.findIndex((dueAt) => dueAt > now);
    return later === -1 ? [...this.times] : this.times.slice(0, later);
  }

  /** What has just this due time. */
  idsAt(dueAt: number): readonly string[] {
    return [...(this.byTime.get(dueAt) ?? [])];
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
  stores: Readonly<Partial<Record<DueThing['kind'], Pick<DueMap<Stored>, 'dueTimes' | 'idsAt'>>>>,
): DueIndex {
  const kinds = ['run', 'limit', 'pipeline'] as const;
  return {
    async *due(now) {
      const times = new Set(kinds.flatMap((kind) => stores[kind]?.dueTimes(now) ?? []));
      let page: DueThing[] = [];
      for (const dueAt of [...times].sort((a, b) => a - b)) {
        for (const thing of kinds.flatMap((kind) => stores[kind]?.idsAt(dueAt).map((id) => ({ kind, id })) ?? [])) {
          page.push(thing);
          if (page.length < DUE_PAGE) continue;
          yield page;
          page = [];
        }
      }
      if (page.length > 0) yield page;
    },
  };
}
