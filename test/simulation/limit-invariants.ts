/** What must hold between limits and the runs that hold or want their slots. */
import { heldSlots, type LimitRecord, parseLimitName, slotsInForce } from '#domain/limit.ts';
import { type PackedLimit, unpackLimit } from '#domain/limit-codec.ts';
import { isRunOver, isUnderWay, type RunRecord } from '#domain/run.ts';
import { limitOfRun, limitsOfNode } from '#domain/run-limits.ts';
import { machineArn } from '#testing/stage.ts';
import { require } from './invariant-error.ts';
import type { World } from './world.ts';

/** The limits of a world as they are stored. */
function limitsOf(world: World): LimitRecord[] {
  return [...world.limits.stored.values()].map(unpackLimit);
}

/** Slots that the attempts of a run hold at a limit, by what the run committed. */
function inUse(world: World, run: RunRecord, limit: string): number {
  const pipeline = world.pipelineOf(run);
  if (limitOfRun(pipeline) === limit) return run.state === 'QUEUED' || isRunOver(run.state) ? 0 : 1;
  return run.flights.filter((flight) => {
    const node = pipeline.nodes[flight.node];
    return node && isUnderWay(flight) && limitsOfNode(node).includes(limit);
  }).length;
}

/** How long a call may take, and what follows it, beside two ticks (ms). */
const IDLE_SLACK_MS = 2_000;

/** What was seen of a limit so far. */
interface SeenLimit {
  readonly packed: PackedLimit;
  readonly record: LimitRecord;
  /** Most slots that it ever had. */
  readonly most: number;
  /** Work needed a slot of it at all times. */
  readonly isStrict: boolean;
  /** The runs that were looked at since it changed, as they were stored. */
  readonly runs: Map<string, unknown>;
}

/** What was seen of the limits of a world: the limits, and the most that the rows of each run ever asked for. */
interface Seen {
  readonly limits: Map<string, SeenLimit>;
  readonly wants: Map<string, number>;
  /** Since when a run holds slots that nothing of it needs, by limit and run. */
  readonly idle: Map<string, number>;
}

const seenOf = new WeakMap<World, Seen>();

/** What one row tells is kept: it may be gone by the time that it is granted something. */
function noteWants(world: World, { wants: known }: Seen): void {
  for (const rows of world.limits.waiting.values()) {
    for (const { limit, run, wants } of rows.values()) {
      const key = `${limit} ${run}`;
      known.set(key, Math.max(wants, known.get(key) ?? 0));
    }
  }
}

/** After every operation: nothing runs without a slot, and no more slots are out than there may be. */
export function checkLimits(world: World): void {
  const seen = seenOf.get(world) ?? { limits: new Map(), wants: new Map(), idle: new Map() };
  seenOf.set(world, seen);
  noteWants(world, seen);
  if (isCalm(world)) checkIdle(world, seen);
  for (const [name, packed] of world.limits.stored) {
    let known = seen.limits.get(name);
    if (known?.packed !== packed) {
      known = look(world, seen, packed);
      seen.limits.set(name, known);
    }
    if (!known.isStrict) continue;
    for (const run of world.runs.all()) checkUse(world, known, run);
    if (parseLimitName(name).kind === 'engine') checkExecutions(world, known);
  }
}

function isCalm({ faults, runs }: World): boolean {
  const isOrdered = !faults.choose && (faults.at?.size ?? 0) === 0;
  return isOrdered && !faults.outage && faults.startsPerSecond === undefined && !runs.isLent();
}

/**
 * A slot is free two ticks after the end of its attempt was recorded, at the latest: what a run holds is in use, or it
 * waits for something, but for that long. Where things go wrong, how long that takes is up to them.
 */
function checkIdle(world: World, { idle, limits }: Seen): void {
  const mostMs = 2 * world.options.tickMs + IDLE_SLACK_MS;
  const unused = new Set<string>();
  for (const [name, { record }] of limits) {
    for (const { run: id, granted, returned } of record.holders) {
      if (granted === returned || isInNeed(world, id, name)) continue;
      const key = `${name} ${id}`;
      unused.add(key);
      if (!idle.has(key)) idle.set(key, world.now);
      const heldMs = world.now - (idle.get(key) ?? world.now);
      require(world, heldMs <= mostMs, () => `run ${id} held a slot of ${name} for nothing for ${heldMs} ms`);
    }
  }
  for (const key of idle.keys()) if (!unused.has(key)) idle.delete(key);
}

/** Whether a run is under way and uses a slot of a limit, or may come to. */
function isInNeed(world: World, id: string, limit: string): boolean {
  if (world.runs.text(id) === undefined) return false;
  const run = world.runs.latest(id);
  return inUse(world, run, limit) > 0 || run.limits?.some(({ waiting }) => waiting) === true;
}

/** Looks at a limit that changed: what is granted, is granted of slots that are in force right then. */
function look(world: World, seen: Seen, packed: PackedLimit): SeenLimit {
  const record = unpackLimit(packed);
  const { name, slots } = record;
  const before = seen.limits.get(name);
  const grantedBefore = new Map(before?.record.holders.map(({ run, granted }) => [run, granted]));
  const hasGranted = record.holders.some(({ run, granted }) => granted > (grantedBefore.get(run) ?? 0));
  for (const { run, granted } of record.holders) {
    const isKnown = world.runs.text(run) !== undefined || world.runs.isGone(run);
    require(world, isKnown, () => `${name} is held by ${run}, which never was`);
    const wants = seen.wants.get(`${name} ${run}`) ?? 0;
    require(world, granted <= wants, () => `${name} granted ${granted} slots to run ${run}, it wants ${wants}`);
  }
  const held = heldSlots(record);
  require(world, !hasGranted || held <= slotsInForce(record), () => `${name} granted up to ${held} of ${slots} slots`);
  const isFree = slots === undefined && (record.engine !== undefined || parseLimitName(name).kind !== 'engine');
  const most = Math.max(before?.most ?? 0, Number.isFinite(slotsInForce(record)) ? slotsInForce(record) : 0);
  require(world, held <= most, () => `${name} gave out ${held} slots, it never had more than ${most}`);
  return { packed, record, most, isStrict: (before?.isStrict ?? true) && !isFree, runs: new Map() };
}

function checkUse(world: World, { record, runs }: SeenLimit, run: RunRecord): void {
  const text = world.runs.text(run.id);
  if (runs.get(run.id) === text) return;
  runs.set(run.id, text);
  const used = inUse(world, run, record.name);
  const holder = record.holders.find((one) => one.run === run.id);
  const held = holder ? holder.granted - holder.returned : 0;
  require(world, used <= held, () => `run ${run.id} uses ${used} slots of ${record.name}, it holds ${held}`);
}

/** What a run has of a limit is in use, or kept for something that waits; the rest it gave back. */
export function checkKept(world: World, run: RunRecord): void {
  const waits = run.dueAt !== undefined || run.limits?.some(({ waiting }) => waiting);
  for (const { limit, taken, returned, held } of run.limits ?? []) {
    const used = inUse(world, run, limit);
    const kept = taken - returned;
    require(world, kept <= used + held, () => `run ${run.id} keeps ${kept} slots of ${limit}, it uses ${used}`);
    require(world, held === 0 || waits === true, () => `run ${run.id} keeps ${held} slots of ${limit} for nothing`);
  }
}

/** Whatever the books say, no more executions are under way than the engine ever had slots. */
function checkExecutions(world: World, { record, most }: SeenLimit): void {
  const arn = machineArn(parseLimitName(record.name).name);
  let running = 0;
  for (const { status, stateMachineArn } of world.executions.started.values()) {
    if (status === 'RUNNING' && stateMachineArn === arn) running += 1;
  }
  require(world, running <= most, () => `${running} executions run on ${record.name}, it never had more than ${most}`);
}

/** Whether a run that is not due waits for nothing but limits, each with its row in place. */
export function waitsForLimits(world: World, run: RunRecord): boolean {
  const waiting = (run.limits ?? []).filter((entry) => entry.waiting);
  if (waiting.length === 0 || run.flights.some(isUnderWay)) return false;
  return waiting.every(({ limit }) => {
    const rows = [...(world.limits.waiting.get(limit)?.values() ?? [])];
    return rows.some((row) => row.run === run.id && row.nonce === run.nonce);
  });
}

/**
 * At the end: no slot is held, and nothing waits. A row that a pass put which had slept may be left, of a run that is
 * over: the limit takes it away as it comes upon it, and none goes on looking for that. A death leaves none.
 */
export function checkLimitsFinally(world: World): void {
  for (const limit of limitsOf(world)) {
    require(world, heldSlots(limit) === 0, () => `${limit.name} has ${heldSlots(limit)} slots out at the end`);
    require(world, limit.dueAt === undefined, () => `${limit.name} is still due at the end`);
  }
  const maySleep = [...(world.faults.at?.values() ?? [])].some(({ kind }) => kind === 'freeze');
  if (world.faults.choose || maySleep) return;
  for (const [limit, rows] of world.limits.waiting) {
    require(world, rows.size === 0, () => `${rows.size} rows of runs that are over wait for ${limit}`);
  }
}
