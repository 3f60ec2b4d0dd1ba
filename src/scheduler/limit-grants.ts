/** Whom a limit serves next: pipelines in turn, and within one by priority, then by age. */
import { freeSlots, grantSlot, isHeldBack, type LimitRecord, type WaitingRun, wantedSlots } from '#domain/limit.ts';
import type { LimitStore } from '#ports/index.ts';

/** Rows that are read at once. As a rule these are all there are. */
export const ROWS_PAGE = 50;

/** A limit with its free slots granted, and the runs that got some. */
export interface Granted {
  readonly limit: LimitRecord;
  readonly runs: ReadonlySet<string>;
}

/**
 * Grants the free slots to those that wait. Reads no more rows than it needs, however many wait.
 * @param rows the first page of rows ({@link ROWS_PAGE})
 */
export async function grantFreeSlots(
  limits: LimitStore,
  before: LimitRecord,
  rows: readonly WaitingRun[],
  now: number,
): Promise<Granted> {
  const runs = new Set<string>();
  const free = freeSlots(before, now);
  // Without a number of slots nobody needs a grant.
  if (!Number.isFinite(free)) return { limit: before, runs };
  const turns = new Turns(limits, before, rows);
  let limit = before;
  for (let left = free; left > 0; left--) {
    const row = await turns.next(limit);
    if (!row) break;
    limit = grantSlot(limit, row);
    runs.add(row.run);
  }
  return { limit, runs };
}

interface Queue {
  rows: readonly WaitingRun[];
  /** There are no more rows of the pipeline than these. */
  isWhole: boolean;
}

/** The turns of pipelines at one limit. */
class Turns {
  private readonly limits: LimitStore;
  private readonly name: string;
  private readonly queues = new Map<string, Queue>();
  /** Pipelines of which nothing wants a slot. */
  private readonly idle = new Set<string>();
  private readonly behind = new Map<string | undefined, string | undefined>();
  private last: string | undefined;
  /** Pipelines by name, where the first page has all rows. */
  private readonly ring: readonly string[] | undefined;

  constructor(limits: LimitStore, { name, lastServed }: LimitRecord, first: readonly WaitingRun[]) {
    this.limits = limits;
    this.name = name;
    this.last = lastServed;
    if (first.length >= ROWS_PAGE) return;
    const byPipeline = Map.groupBy(first, ({ pipeline }) => pipeline);
    for (const [pipeline, rows] of byPipeline) this.queues.set(pipeline, { rows, isWhole: true });
    this.ring = [...byPipeline.keys()];
  }

  /** The next row that wants a slot; nothing where none does. */
  async next(limit: LimitRecord): Promise<WaitingRun | undefined> {
    for (const passed = new Set<string>(); ; ) {
      const pipeline = await this.nextPipeline();
      if (pipeline === undefined || passed.has(pipeline)) return undefined;
      this.last = pipeline;
      if (this.idle.has(pipeline)) {
        passed.add(pipeline);
        continue;
      }
      const row = await this.wantingRow(limit, pipeline);
      if (row) return row;
      this.idle.add(pipeline);
      passed.add(pipeline);
    }
  }

  /** The pipeline behind the last one that has rows, in a ring. */
  private async nextPipeline(): Promise<string | undefined> {
    const { last, ring } = this;
    if (ring) return ring.find((pipeline) => last === undefined || pipeline > last) ?? ring[0];
    if (!this.behind.has(last)) {
      const [row] = last === undefined ? [] : await this.limits.listWaiting(this.name, 1, { pipeline: last });
      const [first] = row ? [row] : await this.limits.listWaiting(this.name, 1);
      this.behind.set(last, first?.pipeline);
      if (first && !this.queues.has(first.pipeline)) {
        this.queues.set(first.pipeline, { rows: [first], isWhole: false });
      }
    }
    return this.behind.get(last);
  }

  private async wantingRow(limit: LimitRecord, pipeline: string): Promise<WaitingRun | undefined> {
    const queue = this.queues.get(pipeline) as Queue;
    for (;;) {
      const row = queue.rows.find((one) => wantedSlots(limit, one) > 0 && !isHeldBack(limit, one));
      if (row) return row;
      const last = queue.rows.at(-1);
      if (!last || queue.isWhole) return undefined;
      const more = await this.limits.listWaiting(this.name, ROWS_PAGE, last);
      queue.rows = more.filter((one) => one.pipeline === pipeline);
    }
  }
}
