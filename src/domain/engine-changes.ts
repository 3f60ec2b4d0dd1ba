/**
 * How an engine changes: by its owner, by silence, and by what is found out about its state machine. Each rule gives
 * the record to commit. A change that matters to others leaves the limit due, with the runs to ring and the pipelines
 * to tell, so that whoever commits it may die right after.
 *
 * E1 An engine of a name that is registered after a removal has another generation.
 * E2 A report (heartbeat) that changes nothing is written at most three times a period.
 */
import { canonicalJson, type Json, type JsonObject } from './json.ts';
import {
  type EngineState,
  engineStatus,
  type LimitRecord,
  limitName,
  machineLookAt,
  newLimit,
  noteStatus,
} from './limit.ts';

/** Reports of a period that are written where nothing else changes. */
const REPORTS_PER_PERIOD = 3;

/** What the owner of an engine says of it. */
export interface EngineRegistration {
  readonly stateMachineArn: string;
  /** Slots. @default as many as are asked for */
  readonly maxConcurrent?: number | undefined;
  /** By key. */
  readonly labels: readonly (readonly [string, string])[];
  readonly paramsSchema?: JsonObject | undefined;
  readonly heartbeatSeconds?: number | undefined;
}

/**
 * What a command makes of a limit. `reported`: only the time of the last report is another. `unchanged`: nothing is to
 * be committed.
 */
export interface EngineChange {
  readonly kind: 'created' | 'changed' | 'reported' | 'unchanged';
  readonly limit: LimitRecord;
}

/** Registers an engine, or changes the one that is there; it takes work from then on. */
export function registerEngine(
  before: LimitRecord | undefined,
  name: string,
  wanted: EngineRegistration,
  now: number,
): EngineChange {
  const limit = before ?? newLimit(limitName('engine', name), undefined);
  const known = limit.engine;
  if (known && isAsWanted(limit, known, wanted, now)) return reportEngine(limit, known, now);
  const { stateMachineArn, maxConcurrent, labels, paramsSchema, heartbeatSeconds } = wanted;
  const generation = known?.generation ?? (limit.generations ?? 0) + 1;
  const engine: EngineState = {
    generation,
    stateMachineArn,
    labels,
    ...(paramsSchema && { paramsSchema }),
    ...(heartbeatSeconds !== undefined && { heartbeatSeconds, lastHeartbeatAt: now }),
    updatedAt: now,
  };
  const { slots: slotsBefore, ...rest } = limit;
  const next = {
    ...rest,
    ...(maxConcurrent !== undefined && { slots: maxConcurrent }),
    engine,
    generations: generation,
  };
  const isToldToAll =
    !known || hasOtherStatus(known, engine, now) || (slotsBefore === undefined) !== (maxConcurrent === undefined);
  return { kind: known ? 'changed' : 'created', limit: isToldToAll ? toldToAll(next, now) : dueNow(next, now) };
}

function isAsWanted(limit: LimitRecord, engine: EngineState, wanted: EngineRegistration, now: number): boolean {
  return (
    engineStatus(engine, now).status === 'Available' &&
    engine.stateMachineArn === wanted.stateMachineArn &&
    limit.slots === wanted.maxConcurrent &&
    engine.heartbeatSeconds === wanted.heartbeatSeconds &&
    isSameJson(engine.labels, wanted.labels) &&
    isSameJson(engine.paramsSchema ?? null, wanted.paramsSchema ?? null)
  );
}

function isSameJson(one: Json, other: Json): boolean {
  return canonicalJson(one) === canonicalJson(other);
}

/** Takes an engine away. Its record stays: it counts on, what runs on it keeps its slots, and what waits for it waits. */
export function unregisterEngine(limit: LimitRecord, now: number): LimitRecord {
  const { engine: _gone, slots: _slots, ...rest } = limit;
  return toldToAll(rest, now);
}

/** Orders an engine to take no new work. */
export function drainEngine(limit: LimitRecord, engine: EngineState, now: number): EngineChange {
  if (engine.isDraining) return { kind: 'unchanged', limit };
  return {
    kind: 'changed',
    limit: toldToAll({ ...limit, engine: { ...engine, isDraining: true, updatedAt: now } }, now),
  };
}

/** Takes in that the owner of an engine reports. */
export function reportEngine(limit: LimitRecord, engine: EngineState, now: number): EngineChange {
  if (engine.heartbeatSeconds === undefined) return { kind: 'unchanged', limit };
  const reported: EngineState = { ...engine, lastHeartbeatAt: now };
  if (hasOtherStatus(engine, reported, now)) {
    return { kind: 'changed', limit: toldToAll({ ...limit, engine: { ...reported, updatedAt: now } }, now) };
  }
  const sinceLast = now - (engine.lastHeartbeatAt ?? Number.NEGATIVE_INFINITY);
  if (sinceLast < (engine.heartbeatSeconds * 1000) / REPORTS_PER_PERIOD) return { kind: 'unchanged', limit };
  // The due time may be early: whoever comes at the end of the period before this report finds it.
  return { kind: 'reported', limit: { ...limit, engine: reported } };
}

/** Whether it is time to look for the state machine of an engine again. */
export function isMachineDue(engine: EngineState, now: number): boolean {
  return now >= machineLookAt(engine);
}

/** Takes in that the state machine of an engine is gone; nothing where that is known, or the engine has another one. */
export function noteMissingMachine(limit: LimitRecord, stateMachineArn: string, now: number): LimitRecord | undefined {
  const { engine } = limit;
  if (!engine || engine.stateMachineArn !== stateMachineArn || engine.trouble !== undefined) return undefined;
  const trouble = `Its state machine ${stateMachineArn} does not exist.`;
  return toldToAll({ ...limit, engine: { ...engine, trouble, updatedAt: now } }, now);
}

/** Takes in what a later look for the state machine gave: that it is back, or that it is still gone. */
export function noteMachine(limit: LimitRecord, engine: EngineState, isThere: boolean, now: number): LimitRecord {
  if (!isThere) return { ...limit, engine: { ...engine, updatedAt: now } };
  const { trouble: _over, ...rest } = engine;
  return toldToAll({ ...limit, engine: { ...rest, updatedAt: now } }, now);
}

function hasOtherStatus(before: EngineState, after: EngineState, now: number): boolean {
  return engineStatus(before, now).reason !== engineStatus(after, now).reason;
}

function toldToAll(limit: LimitRecord, now: number): LimitRecord {
  return { ...noteStatus(dueNow(limit, now), now), ringsWaiting: true, tellsPipelines: true };
}

/** A limit that has to be looked at, as there may be slots to grant. */
export function dueNow(limit: LimitRecord, now: number): LimitRecord {
  return { ...limit, dueAt: Math.min(limit.dueAt ?? now, now) };
}
