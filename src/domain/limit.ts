/**
 * A limit: a number of slots that runs share (DESIGN, "Where two aggregates meet"). An engine's, a pool's, or the
 * active runs of a pipeline; an engine without a number of slots is one that grants whatever is asked for.
 *
 * L1 Counters only go up: a limit counts `granted` and `returned` for a run, a run counts `taken` and `returned`.
 * L2 A run uses at most `taken - returned`, and takes no more than was granted; so a crash anywhere leaves a slot held
 *    too long, never one used twice.
 * L3 Nothing is granted beyond the slots in force at that moment. Fewer slots stop nobody.
 */
import type { Json } from './json.ts';

/** Number of the layout of a stored limit. */
export const LIMIT_SCHEMA_VERSION = 1;

/** Most slots of a limit. */
export const MAX_SLOTS = 1000;

/** How often a state machine that is gone is looked for (ms). */
export const MACHINE_CHECK_MS = 15 * 60_000;

/** What a limit limits. */
export const LIMIT_KINDS = ['engine', 'pool', 'pipeline'] as const;

/** One of {@link LIMIT_KINDS}. */
export type LimitKind = (typeof LIMIT_KINDS)[number];

/** The name of a limit among all: `engine/NAME`, `pool/NAME`, or `pipeline/NAME` for a pipeline's active runs. */
export function limitName(kind: LimitKind, name: string): string {
  return `${kind}/${name}`;
}

/** What kind of limit has a name, and whose it is. */
export function parseLimitName(limit: string): { readonly kind: LimitKind; readonly name: string } {
  const slash = limit.indexOf('/');
  return { kind: limit.slice(0, slash) as LimitKind, name: limit.slice(slash + 1) };
}

/** A run that holds slots, or was granted some and has not told yet that it gave them back. */
export interface LimitHolder {
  readonly run: string;
  readonly nonce: string;
  readonly pipeline: string;
  readonly granted: number;
  readonly returned: number;
  /** The run was not heard to have taken up its last grant, and has to be rung until it is. */
  readonly unheard?: boolean;
}

/** Whether new work may go to an engine. */
export type EngineStatus = 'Available' | 'Draining' | 'Unavailable';

/** A registered engine. */
export interface EngineState {
  /** Counts how often an engine of this name was registered: a new one is not the old one. */
  readonly generation: number;
  readonly stateMachineArn: string;
  readonly labels: readonly (readonly [string, string])[];
  /** JSON Schema of the parameters of its nodes. */
  readonly paramsSchema?: { readonly [keyword: string]: Json };
  /** How often its owner has to report (s). @default never */
  readonly heartbeatSeconds?: number;
  /** When its owner reported last (ms since the epoch). */
  readonly lastHeartbeatAt?: number;
  /** Takes no new work, by order of a user. */
  readonly isDraining?: boolean;
  /** Why it cannot take work, where a check found that: its state machine is gone. */
  readonly trouble?: string;
  /** When it was last changed (ms since the epoch). */
  readonly updatedAt: number;
}

/** A limit as it is stored. Immutable. */
export interface LimitRecord {
  readonly name: string;
  /** One up with every commit. */
  readonly rev: number;
  /** Slots that it was given. Absent: as {@link slotsInForce} says. */
  readonly slots?: number;
  /** Nothing is granted to runs that were waiting at that time, or begin by themselves, until it is gone (ms). */
  readonly pausedAt?: number;
  /** For an engine that is registered. Of an engine, absent: it is not, and takes nothing. */
  readonly engine?: EngineState;
  /** How many engines of this name there were. */
  readonly generations?: number;
  /** By run id. */
  readonly holders: readonly LimitHolder[];
  /** The pipeline that was granted a slot last. */
  readonly lastServed?: string;
  /** Runs that wait have still to be rung, as the engine has changed. */
  readonly ringsWaiting?: boolean;
  /** Pipelines that name the engine have still to be told, as it has changed. */
  readonly tellsPipelines?: boolean;
  /** The status of its engine that was told to runs and pipelines last; absent where it was not there. */
  readonly toldStatus?: EngineStatus;
  /** When the limit has to be looked at (ms since the epoch): may be early, never late. */
  readonly dueAt?: number;
}

/** A run that waits for slots of a limit: a row beside the limit. */
export interface WaitingRun {
  readonly limit: string;
  readonly pipeline: string;
  /** The highest priority of what waits in it. */
  readonly priority: number;
  /** Since when it waits (ms since the epoch). */
  readonly since: number;
  readonly run: string;
  readonly nonce: string;
  /** Revision number of the run whose commit this row follows. */
  readonly rev: number;
  /** What the run had taken when it wrote the row, and what it wants to have taken in the end. */
  readonly taken: number;
  readonly wants: number;
  /** A person or a program started the run; it does not begin by itself. */
  readonly isByHand?: boolean;
}

/** What a run tells a limit: how much it took and gave back so far. */
export interface LimitReport {
  readonly run: string;
  readonly nonce: string;
  readonly pipeline: string;
  readonly taken: number;
  readonly returned: number;
  /** It waits for more, so its counters are still needed. */
  readonly isWaiting: boolean;
}

/** A limit that is new: nobody holds anything of it. */
export function newLimit(name: string, slots: number | undefined): LimitRecord {
  return { name, rev: 0, ...(slots !== undefined && { slots }), holders: [] };
}

/**
 * Notes that its engine has come, gone, or changed its status by itself: whoever waits for it, and the pipelines that
 * name it, are to be told.
 */
export function noteStatus(limit: LimitRecord, now: number): LimitRecord {
  const status = limit.engine && engineStatus(limit.engine, now).status;
  if (status === limit.toldStatus) return limit;
  const { toldStatus: _before, ...rest } = limit;
  return { ...rest, ...(status && { toldStatus: status }), ringsWaiting: true, tellsPipelines: true };
}

/** When a limit has to be looked at next, by what it says; a time that was set before and is not over stands. */
export function limitDueAt(limit: LimitRecord, now: number, tickMs: number): number | undefined {
  const hasWork = limit.ringsWaiting || limit.tellsPipelines || unheardHolders(limit).length > 0;
  const silent =
    limit.engine && owesSilence(limit, limit.engine, now) ? silentAt(limit.engine) : Number.POSITIVE_INFINITY;
  const machine = limit.engine ? machineLookAt(limit.engine) : Number.POSITIVE_INFINITY;
  const exact = Math.min(hasWork ? now + tickMs : Number.POSITIVE_INFINITY, silent, machine);
  if (!Number.isFinite(exact)) return undefined;
  const wanted = Math.floor(exact / tickMs) * tickMs;
  return limit.dueAt !== undefined && limit.dueAt > now && limit.dueAt < wanted ? limit.dueAt : wanted;
}

/** Whether an engine may still fall silent, or has done so and nobody was told: whoever commits just then may be late. */
function owesSilence({ toldStatus }: LimitRecord, engine: EngineState, now: number): boolean {
  return toldStatus !== 'Unavailable' || engineStatus(engine, now).status !== 'Unavailable';
}

/** Whether a waiting run has to wait on, as its pipeline is paused: all but those that somebody started since. */
export function isHeldBack(limit: LimitRecord, row: WaitingRun): boolean {
  return limit.pausedAt !== undefined && !(row.isByHand && row.since >= limit.pausedAt);
}

/** Slots that are held. */
export function heldSlots(limit: LimitRecord): number {
  return limit.holders.reduce((held, holder) => held + holder.granted - holder.returned, 0);
}

/** Slots that may be granted now; none where nothing may be started on it. */
export function freeSlots(limit: LimitRecord, now: number): number {
  return isOpen(limit, now) ? Math.max(0, slotsInForce(limit) - heldSlots(limit)) : 0;
}

/**
 * How many slots may be out at once; as many as are asked for of an engine without a number. Of a pipeline without one, runs
 * of earlier revisions may still wait for their turn: each is granted one, so that it is known who has it.
 */
export function slotsInForce({ name, slots }: LimitRecord): number {
  return slots ?? (parseLimitName(name).kind === 'pipeline' ? MAX_SLOTS : Number.POSITIVE_INFINITY);
}

/** Whether a limit lets anything start: an engine has to be there and to be available. */
export function isOpen(limit: LimitRecord, now: number): boolean {
  if (parseLimitName(limit.name).kind !== 'engine') return true;
  return limit.engine !== undefined && engineStatus(limit.engine, now).status === 'Available';
}

/** The status of an engine, and why. */
export function engineStatus(
  engine: EngineState,
  now: number,
): { readonly status: EngineStatus; readonly reason: EngineReason; readonly message: string } {
  if (engine.trouble !== undefined)
    return { status: 'Unavailable', reason: 'StateMachineGone', message: engine.trouble };
  if (now >= silentAt(engine)) {
    const message = `Its owner has not reported for ${engine.heartbeatSeconds} s.`;
    return { status: 'Unavailable', reason: 'HeartbeatMissed', message };
  }
  if (engine.isDraining) {
    return { status: 'Draining', reason: 'Drained', message: 'It takes no new work; what runs on it finishes.' };
  }
  return { status: 'Available', reason: 'Ready', message: 'It takes work.' };
}

/** Why an engine has its status. */
export type EngineReason = 'Ready' | 'Drained' | 'HeartbeatMissed' | 'StateMachineGone';

/** When an engine counts as silent unless its owner reports (ms since the epoch); never without `heartbeatSeconds`. */
export function silentAt({ heartbeatSeconds, lastHeartbeatAt, updatedAt }: EngineState): number {
  if (heartbeatSeconds === undefined) return Number.POSITIVE_INFINITY;
  return (lastHeartbeatAt ?? updatedAt) + heartbeatSeconds * 1000;
}

/** When the state machine of an engine, which was gone, is looked for again (ms since the epoch); else never. */
export function machineLookAt({ trouble, updatedAt }: EngineState): number {
  return trouble === undefined ? Number.POSITIVE_INFINITY : updatedAt + MACHINE_CHECK_MS;
}

/**
 * Takes in what runs have told. What a run returned is known as soon as it says so; one that holds nothing and waits for
 * nothing is forgotten.
 */
export function applyReports(limit: LimitRecord, reports: readonly LimitReport[]): LimitRecord {
  const holders = new Map(limit.holders.map((holder) => [keyOf(holder), holder]));
  let hasChanged = false;
  for (const { run, nonce, pipeline, taken, returned, isWaiting } of reports) {
    const known = holders.get(keyOf({ run, nonce }));
    if (!known) continue;
    const next = {
      run,
      nonce,
      pipeline,
      granted: Math.max(known.granted, taken),
      returned: Math.max(known.returned, returned),
    };
    const isHeard = taken >= known.granted;
    if (isHeard && !isWaiting && next.granted === next.returned) holders.delete(keyOf(next));
    else holders.set(keyOf(next), { ...next, ...(known.unheard && !isHeard && { unheard: true }) });
    hasChanged ||=
      next.granted !== known.granted || next.returned !== known.returned || (known.unheard === true && isHeard);
    hasChanged ||= !holders.has(keyOf(next));
  }
  return hasChanged ? { ...limit, holders: sorted(holders) } : limit;
}

/** How many slots a waiting run still wants to be granted. */
export function wantedSlots(limit: LimitRecord, row: WaitingRun): number {
  const holder = limit.holders.find((one) => keyOf(one) === keyOf(row));
  return row.wants - (holder?.granted ?? row.taken);
}

/** Grants one slot to a waiting run. */
export function grantSlot(limit: LimitRecord, row: WaitingRun): LimitRecord {
  const holders = new Map(limit.holders.map((holder) => [keyOf(holder), holder]));
  const { run, nonce, pipeline } = row;
  const known = holders.get(keyOf(row)) ?? { run, nonce, pipeline, granted: row.taken, returned: row.taken };
  holders.set(keyOf(row), { ...known, granted: known.granted + 1, unheard: true });
  return { ...limit, holders: sorted(holders), lastServed: pipeline };
}

/** Forgets a run that is gone for good: nothing of it can start any more. */
export function dropHolder(limit: LimitRecord, run: { readonly run: string; readonly nonce: string }): LimitRecord {
  return { ...limit, holders: limit.holders.filter((holder) => keyOf(holder) !== keyOf(run)) };
}

/** Holders that were not heard to have taken up what they were granted. */
export function unheardHolders(limit: LimitRecord): readonly LimitHolder[] {
  return limit.holders.filter(({ unheard }) => unheard);
}

function keyOf({ run, nonce }: { readonly run: string; readonly nonce: string }): string {
  return `${run}#${nonce}`;
}

function sorted(holders: ReadonlyMap<string, LimitHolder>): LimitHolder[] {
  return [...holders.values()].sort((a, b) => (a.run < b.run ? -1 : 1));
}
