/**
 * The run's side of limits: which slots it has, what it may start with them, what it gives back and what it asks for
 * (DESIGN, "Where two aggregates meet"). Slots are acquired and given back per attempt: what an ended attempt held
 * goes back to the limit, which serves whoever is next, unless no other run waits for it and this one can use it again.
 */
import type { Draft } from './draft.ts';
import type { LimitFact } from './facts.ts';
import type { CompiledNode, CompiledPipeline } from './graph.ts';
import { type LimitReport, limitName, type WaitingRun } from './limit.ts';
import { isRunOver, isUnderWay, type RunLimit, type RunRecord } from './run.ts';

/** Most slots that a run asks for at once. */
const MOST_WANTED = 1000;

/** The slots of one limit, as a step goes through what wants them. */
export interface Slots {
  readonly limit: string;
  taken: number;
  returned: number;
  /** Attempts that hold a slot. */
  inUse: number;
  /** Slots that nothing holds yet. */
  spare: number;
  /** Slots kept for what waits for a further limit. */
  held: number;
  /** Slots that are wanted beyond those. */
  need: number;
  /** The highest priority of what wants them. */
  priority: number;
}

/** The limits that an attempt of a node needs, in the order in which they are taken: its engine's, then its pool's. */
export function limitsOfNode(node: CompiledNode): string[] {
  if (BUILT_IN_WITHOUT_SLOTS.has(node.engine)) return [];
  const engine = limitName('engine', node.engine);
  return node.pool === undefined ? [engine] : [engine, limitName('pool', node.pool)];
}

/** Their attempts wait for something else than work, so they would only keep slots from others (C107). */
const BUILT_IN_WITHOUT_SLOTS: ReadonlySet<string> = new Set(['pipeline', 'approval', 'pass']);

/** The limit of the active runs of a pipeline, where it has one that its runs mind. */
export function limitOfRun(pipeline: CompiledPipeline): string | undefined {
  if (pipeline.maxActiveRuns === undefined || pipeline.onOverlap === 'allow') return undefined;
  return limitName('pipeline', pipeline.name);
}

/** What is known of a limit; nothing where it has still to be read, which the step then asks for. */
export function limitFact(draft: Draft, limit: string): LimitFact | undefined {
  const fact = draft.facts.limits?.get(limit);
  if (!fact) draft.unread.add(limit);
  return fact;
}

/** The slots of a limit. What ended attempts held is given back before anything new is granted. */
export function slotsOf(draft: Draft, limit: string): Slots {
  const known = draft.slots.get(limit);
  if (known) return known;
  const entry = draft.before.limits?.find((one) => one.limit === limit);
  const inUse = countInUse(draft, limit);
  const before = entry?.taken ?? 0;
  const fact = draft.facts.limits?.get(limit);
  const kept = fact?.isKeepable ? before : (entry?.held ?? 0);
  const returned = Math.max(entry?.returned ?? 0, before - inUse - kept);
  const taken = Math.max(before, fact?.granted ?? 0);
  const spare = Math.max(0, taken - returned - inUse);
  const slots: Slots = { limit, taken, returned, inUse, spare, held: 0, need: 0, priority: Number.NEGATIVE_INFINITY };
  draft.slots.set(limit, slots);
  return slots;
}

function countInUse(draft: Draft, limit: string): number {
  if (limit === limitOfRun(draft.pipeline)) return draft.state === 'QUEUED' || isRunOver(draft.state) ? 0 : 1;
  let count = 0;
  for (const flight of draft.flights.values()) {
    if (!isUnderWay(flight)) continue;
    if (limitsOfNode(draft.pipeline.nodes[flight.node] as CompiledNode).includes(limit)) count += 1;
  }
  return count;
}

/** Takes a slot for an attempt that starts. */
export function useSlot(slots: Slots): void {
  slots.spare -= 1;
  slots.inUse += 1;
}

/** Keeps a slot for something that waits for a further limit. */
export function keepSlots(slots: Slots, count: number): void {
  const kept = Math.min(count, slots.spare);
  slots.spare -= kept;
  slots.held += kept;
}

/** Asks for slots. */
export function wantSlots(slots: Slots, count: number, priority: number): void {
  slots.need = Math.min(MOST_WANTED, slots.need + count);
  slots.priority = Math.max(slots.priority, priority);
}

/** The limits of the run after a step: what is spare goes back, what is wanted is asked for. */
export function settleLimits(draft: Draft): readonly RunLimit[] {
  for (const { limit } of draft.before.limits ?? []) slotsOf(draft, limit);
  for (const [limit, { granted }] of draft.facts.limits ?? []) if (granted !== undefined) slotsOf(draft, limit);
  const known = new Map(draft.before.limits?.map((entry) => [entry.limit, entry]));
  const settled = [...draft.slots.values()].map((slots) => settleLimit(draft, slots, known.get(slots.limit)));
  const kept = settled.filter((entry) => entry.taken > 0 || entry.waiting || entry.row);
  for (const entry of kept) noteChange(draft, entry, known.get(entry.limit));
  if (kept.length < known.size) draft.hasAcknowledged = true;
  return kept.sort((a, b) => (a.limit < b.limit ? -1 : 1));
}

function settleLimit(draft: Draft, slots: Slots, before: RunLimit | undefined): RunLimit {
  const { limit, taken } = slots;
  // Counted anew: a start of this step may have been taken back, or its attempt may have ended without an execution.
  const inUse = countInUse(draft, limit);
  const told = draft.facts.told?.get(limit);
  const fact = draft.facts.limits?.get(limit);
  const waits = slots.need > 0 && !isRunOver(draft.state) && draft.state !== 'PAUSED';
  const row = told ? told.row : rowToMind(before, waits, draft.facts.rowsGone?.has(limit) === true);
  return {
    limit,
    taken,
    returned: Math.max(slots.returned, taken - inUse - slots.held),
    released: Math.max(before?.released ?? 0, told || isUsedUp(fact) ? Math.min(taken, fact?.returned ?? 0) : 0),
    held: slots.held,
    ...(waits && {
      waiting: {
        need: slots.need,
        priority: slots.priority,
        since: before?.waiting?.since ?? waitsSince(draft, limit),
      },
    }),
    ...(row && { row }),
  };
}

/**
 * Whether the limit has nothing to give to anybody. That it knows what the run gave back is else not enough: only one that was
 * told, or had no slot left since, has looked for whoever waits.
 */
function isUsedUp(fact: LimitFact | undefined): boolean {
  return fact?.granted !== undefined && fact.status === 'open' && fact.free === 0;
}

/** For its turn among the runs of its pipeline a run waits from its creation on, whichever pass comes to it first. */
function waitsSince(draft: Draft, limit: string): number {
  return limit === limitOfRun(draft.pipeline) ? draft.before.createdAt : draft.now;
}

/**
 * The row that may stand beside the limit. One that a pass was to move or to take away may be gone any moment, so a run
 * that waits after all does not rely on it: it puts its row again, by a later revision than that pass goes by.
 */
function rowToMind(before: RunLimit | undefined, waits: boolean, isGone: boolean): RunLimit['row'] {
  if (isGone) return undefined;
  const row = before?.row ?? possibleRow(before);
  return row && waits && before && owesRow(before) ? { ...row, wants: 0 } : row;
}

/** A pass that committed that the run waits may have put its row, and died before it told. */
function possibleRow(before: RunLimit | undefined): RunLimit['row'] {
  const { waiting } = before ?? {};
  return waiting && { wants: 0, priority: waiting.priority, since: waiting.since };
}

/**
 * That a row stands, or that a limit took note, may be lost to another commit and found again. What was taken, given back
 * or asked for may not: it takes a revision number.
 */
function noteChange(draft: Draft, now: RunLimit, before: RunLimit | undefined): void {
  const counters = ({ taken, returned, held, waiting }: RunLimit) => JSON.stringify([taken, returned, held, waiting]);
  if (!before || counters(now) !== counters(before)) draft.changed = true;
  else if (JSON.stringify(now) !== JSON.stringify(before)) draft.hasAcknowledged = true;
}

/** Whether the limit has still to be told something, or the run's row is not what it should be. */
export function owesLimit(entry: RunLimit): boolean {
  return entry.returned > entry.released || owesRow(entry);
}

/** Whether the row beside the limit is not what it should be. More than is wanted may stand there: it is given back. */
export function owesRow({ taken, waiting, row }: RunLimit): boolean {
  if (!waiting || !row) return (waiting === undefined) !== (row === undefined);
  return row.wants < taken + waiting.need || row.priority !== waiting.priority || row.since !== waiting.since;
}

/** Whether anything of a run's limits is left to do. */
export function owesLimits(limits: readonly RunLimit[] | undefined): boolean {
  return limits?.some(owesLimit) ?? false;
}

/** Limits beside which rows stand that ask for nothing any more, where there is something to commit. */
export function leftRows({ before, facts, changed }: Draft): string[] {
  if (!changed) return [];
  const left = (before.limits ?? []).filter(
    ({ row, waiting, limit }) => row && !waiting && !facts.rowsGone?.has(limit),
  );
  return left.map(({ limit }) => limit);
}

/** The row of a run that waits. */
export function waitingRow(run: RunRecord, entry: RunLimit): WaitingRun | undefined {
  if (!entry.waiting) return undefined;
  const { need, priority, since } = entry.waiting;
  return {
    limit: entry.limit,
    pipeline: run.pipeline,
    priority,
    since,
    run: run.id,
    nonce: run.nonce,
    rev: run.rev,
    taken: entry.taken,
    wants: entry.taken + need,
    ...(isByHand(run) && { isByHand: true }),
  };
}

function isByHand({ trigger }: RunRecord): boolean {
  return trigger.type === 'api' || trigger.type === 'rerun' || trigger.type === 'pipeline';
}

/** What a run tells a limit. */
export function limitReport(run: RunRecord, { taken, returned, waiting }: RunLimit): LimitReport {
  const { id, nonce, pipeline } = run;
  return { run: id, nonce, pipeline, taken, returned, isWaiting: waiting !== undefined };
}
