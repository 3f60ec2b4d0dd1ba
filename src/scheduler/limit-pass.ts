/**
 * The pass over a limit: takes note of what runs gave back, grants what is free to those next in line, and rings them.
 * Every commit is conditional on the revision that was read. A death at any await leaves the limit due, or a slot held
 * until the run that gave it back says so again; nothing is ever granted twice.
 */
import {
  applyReports,
  freeSlots,
  type LimitRecord,
  type LimitReport,
  limitDueAt,
  newLimit,
  noteStatus,
} from '#domain/limit.ts';
import type { PassDeps } from './deps.ts';
import { announceEngine } from './engines.ts';
import { grantFreeSlots, ROWS_PAGE } from './limit-grants.ts';

/** Readings of one pass before it gives up: others keep committing, and each of them serves the runs in line. */
const MAX_READINGS = 8;

/** What brings a pass over a limit. */
export interface LimitInput {
  /** What runs tell. */
  readonly reports?: readonly LimitReport[];
  /** Runs that ask: they see by themselves what they are granted, and need not be rung. */
  readonly selves?: readonly string[];
  /** Slots of a limit that nobody has made yet. */
  readonly slots?: number | undefined;
}

/** A limit after a pass. */
export interface LimitPassed {
  readonly limit: LimitRecord;
  readonly hasChanged: boolean;
  /** The pass noted that the status of the engine is another one, and has published it. */
  readonly hasAnnounced: boolean;
}

/** Others keep changing a limit. */
export class LimitBusyError extends Error {
  constructor(name: string) {
    super(`others keep changing limit ${name}`);
    this.name = 'LimitBusyError';
  }
}

/**
 * Runs a pass over a limit; gives it as it is afterwards, or nothing where there is no such limit. Whoever waits is
 * looked for once more after a commit that leaves slots free: a row that was put before is seen by that look, and who
 * puts one later sees the free slots.
 * @throws LimitBusyError, and whatever a port throws: who asked stays due
 */
export async function runLimitPass(
  deps: PassDeps,
  name: string,
  input: LimitInput = {},
): Promise<LimitPassed | undefined> {
  let hasChanged = false;
  let hasAnnounced = false;
  for (let reading = 0; reading < MAX_READINGS; reading++) {
    const now = deps.clock.now();
    // Together, so that others have little time to commit in between: many runs may tell one limit at once.
    const [known, rows] = await Promise.all([deps.limits.readLimit(name), deps.limits.listWaiting(name, ROWS_PAGE)]);
    const before = known ?? (input.slots === undefined ? undefined : newLimit(name, input.slots));
    if (!before) return undefined;
    const told = noteStatus(applyReports(before, input.reports ?? []), now);
    const { limit, runs } = await grantFreeSlots(deps.limits, told, rows, now);
    const next = withDue(limit, now, deps.options.tickMs);
    if (sameLimit(before, next)) return { limit: before, hasChanged, hasAnnounced };
    const committed = { ...next, rev: before.rev + 1 };
    if ((await deps.limits.commitLimit(committed, before.rev)) === 'conflict') continue;
    if (committed.toldStatus !== before.toldStatus) {
      await announceEngine(deps, committed);
      hasAnnounced = true;
    }
    const rung = [...runs].filter((run) => !input.selves?.includes(run));
    if (rung.length > 0) await deps.inbox.ringAll(rung.map((id) => ({ kind: 'run', id })));
    hasChanged = true;
    const free = freeSlots(committed, now);
    if (free === 0 || !Number.isFinite(free)) return { limit: committed, hasChanged, hasAnnounced };
  }
  throw new LimitBusyError(name);
}

/**
 * A limit with the due time that it has to have. One that is needed no more stands until its time has come: to move it in
 * and out of the index with every slot would cost more than one look too many.
 */
export function withDue(limit: LimitRecord, now: number, tickMs: number): LimitRecord {
  const { dueAt: before, ...rest } = limit;
  const kept = before !== undefined && before > now ? before : undefined;
  const dueAt = limitDueAt(limit, now, tickMs) ?? kept;
  return dueAt === undefined ? rest : { ...rest, dueAt };
}

function sameLimit(before: LimitRecord, next: LimitRecord): boolean {
  return before.rev > 0 && JSON.stringify(before) === JSON.stringify({ ...next, rev: before.rev });
}
