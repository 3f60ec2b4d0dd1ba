import type { PassDeps } from './deps.ts';

/** Ticks after which what is due is late beyond what a crash explains. */
const STUCK_TICKS = 15;
/** What has been due for less time than this is on its way: this tick or the one before rang it. */
const ON_ITS_WAY_TICKS = 2;

/**
 * The tick: rings every run, limit and pipeline that is due. It runs no pass itself, so that one bad run costs a tick
 * nothing, and it reads only what is due, so that finished runs cost nothing either.
 * @returns how many were rung
 */
export async function runTick(deps: Pick<PassDeps, 'due' | 'inbox' | 'clock'>): Promise<number> {
  let rung = 0;
  for await (const things of deps.due.due(deps.clock.now())) {
    await deps.inbox.ringAll(things);
    rung += things.length;
  }
  return rung;
}

/** How late the work is. */
export interface Lateness {
  /** For how long what is due longest has been due (ms), to the tick; 0 where all of it is on its way. */
  readonly oldestMs: number;
  /** Runs, limits and pipelines that have been due for 15 ticks. */
  readonly stuck: number;
}

/**
 * Finds out how late the work is. The index tells what is due at a time and not since when, so it is asked for times that lie
 * back: once where nothing is late, a few times more the later it is.
 */
export async function measureLateness(deps: Pick<PassDeps, 'due' | 'clock' | 'options'>): Promise<Lateness> {
  const { tickMs } = deps.options;
  const now = deps.clock.now();
  const oldest = await mostTicks((ticks) => isAnyDue(deps, now - ticks * tickMs));
  const stuck = oldest < STUCK_TICKS ? 0 : await countDue(deps, now - STUCK_TICKS * tickMs);
  return { oldestMs: oldest * tickMs, stuck };
}

/** The most ticks for which something is so late; 0 where nothing is late. */
async function mostTicks(isSoLate: (ticks: number) => Promise<boolean>): Promise<number> {
  let [late, onTime] = [0, ON_ITS_WAY_TICKS];
  while (await isSoLate(onTime)) [late, onTime] = [onTime, onTime * 2];
  while (late > 0 && onTime - late > 1) {
    const between = Math.floor((late + onTime) / 2);
    if (await isSoLate(between)) late = between;
    else onTime = between;
  }
  return late;
}

async function isAnyDue({ due }: Pick<PassDeps, 'due'>, at: number): Promise<boolean> {
  for await (const things of due.due(at)) if (things.length > 0) return true;
  return false;
}

async function countDue({ due }: Pick<PassDeps, 'due'>, at: number): Promise<number> {
  let count = 0;
  for await (const things of due.due(at)) count += things.length;
  return count;
}
