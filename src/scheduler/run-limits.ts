/** A pass over a run, and the limits that it has to do with: what is read of them, and what they are told. */
import pMap from 'p-map';
import type { LimitFact, LimitTold } from '#domain/facts.ts';
import type { CompiledPipeline } from '#domain/graph.ts';
import {
  engineStatus,
  freeSlots,
  heldSlots,
  isOpen,
  type LimitRecord,
  parseLimitName,
  type WaitingRun,
  wantedSlots,
} from '#domain/limit.ts';
import type { RunLimit, RunRecord } from '#domain/run.ts';
import { limitOfRun, limitReport, owesLimit, owesRow, waitingRow } from '#domain/run-limits.ts';
import type { PassDeps } from './deps.ts';
import { LimitBusyError } from './limit-pass.ts';
import { createLimitTellings } from './limit-tellings.ts';
import { isSelfDeadlocked } from './self-deadlock.ts';

const PARALLEL_LIMITS = 5;
/** Rows that are read to see whether anybody waits: as many as one read unit has room for, as a rule. */
const ROWS_READ = 30;
/** Runs that hold slots of a limit beside which rows that ask for nothing may stand: no more than one page has room for. */
const FEW_HOLDERS = 25;
/** Within how many seconds those that found a limit busy come back. */
const BUSY_SPREAD_SECONDS = 3;

/** Limits that a pass reads before it decides: those that may have granted something, or know less than they should. */
export function limitsToRead(run: RunRecord): string[] {
  return (run.limits ?? []).filter((entry) => entry.row || owesLimit(entry)).map(({ limit }) => limit);
}

/** Takes away the rows of a run that stand beside limits. */
export async function removeRows(deps: PassDeps, run: RunRecord, limits: readonly string[]): Promise<void> {
  for (const entry of run.limits ?? []) if (limits.includes(entry.limit)) await bringRowUpToDate(deps, run, entry);
}

/** Reads limits as a step of a run sees them. */
export async function readLimitFacts(
  deps: PassDeps,
  run: RunRecord,
  names: readonly string[],
): Promise<[string, LimitFact][]> {
  const read = async (name: string): Promise<[string, LimitFact]> => {
    const [limit, rows] = await Promise.all([deps.limits.readLimit(name), readRowsInTheWay(deps, run, name)]);
    const isKeepable = rows !== undefined && limit !== undefined && isWantedByNobodyElse(limit, rows, run);
    return [name, toLimitFact(limit, name, run, deps.clock.now(), isKeepable)];
  };
  return pMap(names, read, { concurrency: PARALLEL_LIMITS });
}

/** The first rows beside a limit of which the run has slots; read only where it has. */
async function readRowsInTheWay(deps: PassDeps, run: RunRecord, name: string) {
  const entry = run.limits?.find(({ limit }) => limit === name);
  if (!entry || entry.taken === entry.returned) return undefined;
  return deps.limits.listWaiting(name, ROWS_READ);
}

/** Whether no other run waits for a slot. Rows of runs that have what they wanted may stand for a while. */
function isWantedByNobodyElse(limit: LimitRecord, rows: readonly WaitingRun[], run: RunRecord): boolean {
  return rows.length < ROWS_READ && rows.every((row) => row.run === run.id || wantedSlots(limit, row) <= 0);
}

function toLimitFact(
  limit: LimitRecord | undefined,
  name: string,
  run: RunRecord,
  now: number,
  isKeepable = false,
): LimitFact {
  if (!limit) return { status: 'missing', isUnlimited: false, free: 0, returned: Number.POSITIVE_INFINITY };
  const holder = limit.holders.find((one) => one.run === run.id && one.nonce === run.nonce);
  return {
    ...engineOf(limit, name, now),
    isUnlimited: limit.slots === undefined,
    free: freeSlots(limit, now),
    holders: limit.holders.length,
    isKeepable: isKeepable && heldSlots(limit) <= (limit.slots ?? 0),
    ...(holder && { granted: holder.granted }),
    returned: holder?.returned ?? Number.POSITIVE_INFINITY,
  };
}

function engineOf(
  { engine }: LimitRecord,
  name: string,
  now: number,
): Pick<LimitFact, 'status' | 'stateMachineArn' | 'paramsSchema'> {
  if (parseLimitName(name).kind !== 'engine') return { status: 'open' };
  if (!engine) return { status: 'missing' };
  const { stateMachineArn, paramsSchema } = engine;
  const { status } = engineStatus(engine, now);
  if (status === 'Available') return { status: 'open', stateMachineArn, ...(paramsSchema && { paramsSchema }) };
  return { status: status === 'Draining' ? 'draining' : 'unavailable', stateMachineArn };
}

/** A run that tells limits what a pass committed. */
export interface Teller {
  readonly run: RunRecord;
  /** As it was before the commit; the same where nothing was committed. */
  readonly before: RunRecord;
  /** The limits that were read for the decision. */
  readonly facts: ReadonlyMap<string, LimitFact>;
}

/** What became of telling limits. */
export interface Telling {
  readonly limits: ReadonlyMap<string, LimitFact>;
  readonly told: ReadonlyMap<string, LimitTold>;
  /** It has to be committed now: a row is known to stand or to be gone, or a slot was granted. */
  readonly matters: boolean;
  /** Runs that hold what this one wants, and that its pipeline says to stop for it. */
  readonly inTheWay: readonly string[];
  /** It waits for its turn behind runs that wait for it. */
  readonly isSelfDeadlocked: boolean;
}

/**
 * Tells the limits of a committed run what they have to know: rows first, then what was taken and given back. What a
 * crash leaves untold, the next pass tells, since the run stays due until it knows that the limit knows.
 */
export async function tellLimits(
  deps: PassDeps,
  pipeline: CompiledPipeline,
  teller: Teller,
): Promise<Telling | undefined> {
  const { run } = teller;
  const owed = (run.limits ?? []).filter((entry) => owesLimit(entry) && !mayRowStand(teller, entry, deps.clock.now()));
  if (owed.length === 0) return undefined;
  const limits = new Map<string, LimitFact>();
  const told = new Map<string, LimitTold>();
  let matters = false;
  let inTheWay: readonly string[] = [];
  let isDeadlocked = false;
  // One after the other: they are taken in one order, and few.
  for (const entry of owed) {
    const isRowOwed = owesRow(entry);
    const row = isRowOwed ? await bringRowUpToDate(deps, run, entry) : keptRow(entry);
    if (!entry.waiting && entry.returned === entry.released) {
      // Its row is gone, and of slots the limit knows all.
      told.set(entry.limit, row);
      matters = true;
      continue;
    }
    const isOwn = entry.limit === limitOfRun(pipeline);
    const outcome = await tryLimitPass(deps, run, entry, isOwn ? pipeline.maxActiveRuns : undefined);
    if (outcome === 'busy') continue;
    told.set(entry.limit, row);
    const limit = outcome?.limit;
    const fact = toLimitFact(limit, entry.limit, run, deps.clock.now());
    limits.set(entry.limit, fact);
    // Slots that come back one after the other need not be noted one by one; once none comes any more, it is noted.
    const isToBeNoted = isRowOwed && !(limit && isShortWait(teller, entry, limit, deps.clock.now()));
    matters ||= isToBeNoted || outcome?.hasChanged !== true || (fact.granted ?? 0) > entry.taken;
    if (!isOwn || !limit || !entry.waiting || (fact.granted ?? 0) > entry.taken) continue;
    isDeadlocked = await isSelfDeadlocked(deps, run, limit);
    if (pipeline.onOverlap === 'cancelRunning' && !isDeadlocked) {
      inTheWay = limit.holders.filter(({ run: id }) => id !== run.id).map(({ run: id }) => id);
    }
  }
  return { limits, told, matters, inTheWay, isSelfDeadlocked: isDeadlocked };
}

/**
 * Whether the row of a run that has taken up its slots may stand until the next commit, which takes it away first. It asks for
 * nothing that was not granted. The run stays due as long as it stands, and a pass that is due takes it away in any case.
 */
function mayRowStand({ run, before, facts }: Teller, entry: RunLimit, now: number): boolean {
  if (entry.waiting || !entry.row || entry.returned > entry.released || entry.taken === entry.returned) return false;
  if (parseLimitName(entry.limit).kind === 'pipeline') return false;
  if (run.rev === before.rev) return run.dueAt !== undefined && now < run.dueAt;
  const known = before.limits?.find(({ limit }) => limit === entry.limit);
  const wants = Math.max((known?.taken ?? 0) + (known?.waiting?.need ?? 0), known?.row?.wants ?? 0);
  const { holders = Number.POSITIVE_INFINITY } = facts.get(entry.limit) ?? {};
  return known?.waiting !== undefined && wants <= entry.taken && holders <= FEW_HOLDERS;
}

/**
 * Whether a run that gave a slot back and waits for the next may expect it soon: then the grant is committed next, and that
 * its row stands needs no commit of its own. A run owes its row until that is noted, so the next tick sees to it otherwise.
 */
function isShortWait({ run, before }: Teller, entry: RunLimit, limit: LimitRecord, now: number): boolean {
  const known = before.limits?.find((one) => one.limit === entry.limit);
  if (run.rev === before.rev || !known || known.waiting || known.taken === 0) return false;
  return parseLimitName(limit.name).kind !== 'pipeline' && limit.slots !== undefined && isOpen(limit, now);
}

/** Where too many tell the limit at once, the run tells it a little later; it stays due until it has. */
async function tryLimitPass(deps: PassDeps, run: RunRecord, entry: RunLimit, slots: number | undefined) {
  try {
    const reports = [limitReport(run, entry)];
    const tellings = deps.limitTellings ?? createLimitTellings();
    return await tellings.tell(deps, entry.limit, { reports, selves: [run.id], slots });
  } catch (error) {
    if (!(error instanceof LimitBusyError)) throw error;
    await deps.inbox.ring(run.id, 1 + (run.rev % BUSY_SPREAD_SECONDS));
    return 'busy';
  }
}

function keptRow({ row }: RunLimit): LimitTold {
  return row ? { row } : {};
}

async function bringRowUpToDate(deps: PassDeps, run: RunRecord, entry: RunLimit): Promise<LimitTold> {
  const row = waitingRow(run, entry);
  const before = entry.row;
  if (before && (!row || before.priority !== row.priority || before.since !== row.since)) {
    const { priority, since } = before;
    const { id, nonce, rev, pipeline } = run;
    await deps.limits.removeWaiting({ limit: entry.limit, pipeline, priority, since, run: id, nonce, rev });
  }
  if (!row) return {};
  await deps.limits.putWaiting(row);
  return { row: { wants: row.wants, priority: row.priority, since: row.since } };
}
