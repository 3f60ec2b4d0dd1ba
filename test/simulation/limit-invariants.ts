/** What must hold between limits and the runs that hold or want their slots. */
import { heldSlots, type LimitRecord } from '#domain/limit.ts';
import { unpackLimit } from '#domain/limit-codec.ts';
import { isRunOver, isUnderWay, type RunRecord } from '#domain/run.ts';
import { limitOfRun, limitsOfNode } from '#domain/run-limits.ts';
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

/** After every operation: nothing runs without a slot, and no more slots are out than there may be. */
export function checkLimits(world: World): void {
  for (const limit of limitsOf(world)) {
    const most = world.mostSlots.get(limit.name);
    if (most === undefined) continue;
    require(world, heldSlots(limit) <= most, () => `${limit.name} gave out ${heldSlots(limit)} of ${most} slots`);
    for (const run of world.runs.all()) {
      const used = inUse(world, run, limit.name);
      const holder = limit.holders.find((one) => one.run === run.id);
      const held = holder ? holder.granted - holder.returned : 0;
      require(world, used <= held, () => `run ${run.id} uses ${used} slots of ${limit.name}, it holds ${held}`);
    }
  }
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
 * over: the limit takes it away as it comes upon it, and none goes on looking for that.
 */
export function checkLimitsFinally(world: World): void {
  for (const limit of limitsOf(world)) {
    require(world, heldSlots(limit) === 0, () => `${limit.name} has ${heldSlots(limit)} slots out at the end`);
    require(world, limit.dueAt === undefined, () => `${limit.name} is still due at the end`);
  }
  if (world.faults.choose || (world.faults.at?.size ?? 0) > 0) return;
  for (const [limit, rows] of world.limits.waiting) {
    const left = [...rows.values()].filter(({ run }) => isRunOver(world.runs.latest(run).state));
    require(world, left.length === 0, () => `${left.length} rows of runs that are over wait for ${limit}`);
  }
}
