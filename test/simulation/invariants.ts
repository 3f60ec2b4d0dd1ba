/** What must hold after every operation, and at the end, whatever went wrong in between. */
import { statusOf } from '#domain/node-status.ts';
import { isRunOver, type RunRecord } from '#domain/run.ts';
import { unpackRun } from '#domain/run-codec.ts';
import type { World } from './world.ts';

const PASS_MS = 30_000;
const seenBefore = new WeakMap<World, RunRecord>();

/** A broken promise, with the schedule that broke it. */
export class InvariantError extends Error {
  constructor(world: World, what: string) {
    const kills = [...(world.faults.kills ?? [])].map(([at, when]) => `${when} ${at}`).join(', ');
    super(
      `${world.scenario.name}: ${what}\nkills: ${kills}\n${world.trace.operations.map((o, i) => `${i} ${o}`).join('\n')}`,
    );
    this.name = 'InvariantError';
  }
}

function require(world: World, holds: boolean, what: () => string): void {
  if (!holds) throw new InvariantError(world, what());
}

function current(world: World): RunRecord {
  const stored = world.runs.stored.get(world.run?.id ?? '');
  require(world, stored !== undefined, () => 'the run is gone');
  return unpackRun(stored as NonNullable<typeof stored>);
}

/** After every operation. */
export async function checkNow(world: World): Promise<void> {
  const run = current(world);
  const before = seenBefore.get(world);
  seenBefore.set(world, run);
  for (const [name, count] of world.executions.starts) {
    require(world, count <= 1, () => `${name} was started ${count} times`);
  }
  checkStates(world, run);
  if (before) checkChange(world, before, run);
  checkStarts(world, run);
}

function checkStates(world: World, run: RunRecord): void {
  const flying = new Set(run.flights.map((flight) => flight.node));
  [...run.nodes].forEach((letter, node) => {
    const { state } = statusOf(letter.charCodeAt(0));
    // A map in progress has the flights of its items, or none while its next ones wait.
    if (letter === 'm') return;
    const hasFlight = state === 'RUNNING' || state === 'RETRY_WAIT';
    require(world, flying.has(node) === hasFlight, () => `node ${node} is ${state}, its flight says otherwise`);
    if (isRunOver(run.state)) {
      require(world, statusOf(letter.charCodeAt(0)).standing !== 'open', () => `run over, node ${node} ${state}`);
    }
  });
  const isFinal = isRunOver(run.state) && run.announced.state === run.state;
  require(world, isFinal || run.dueAt !== undefined, () => `unfinished, and not due (${run.state})`);
}

function checkChange(world: World, before: RunRecord, run: RunRecord): void {
  require(world, run.rev >= before.rev, () => `revision ${before.rev} became ${run.rev}`);
  if (isRunOver(before.state)) require(world, run.state === before.state, () => `${before.state} became ${run.state}`);
  [...before.nodes].forEach((letter, node) => {
    const isFinal = statusOf(letter.charCodeAt(0)).standing !== 'open';
    require(world, !isFinal || run.nodes[node] === letter, () => `node ${node}: ${letter} became ${run.nodes[node]}`);
  });
  if (before.stop) {
    for (const flight of run.flights) {
      const known = before.flights.find((other) => other.node === flight.node && other.item === flight.item);
      require(world, known?.attempt === flight.attempt, () => `attempt of node ${flight.node} decided after a stop`);
    }
  }
}

function checkStarts(world: World, run: RunRecord): void {
  for (const { name, at } of world.trace.starts) {
    const [, node, attempt] = /-(\d+)(?:_\d+)?-(\d+)$/.exec(name) ?? [];
    const index = Number(node);
    const { state } = statusOf(run.nodes.charCodeAt(index));
    require(world, state !== 'PENDING' && state !== 'QUEUED', () => `${name} started, node is ${state}`);
    const upstreams = world.pipeline.nodes[index]?.upstreams ?? [];
    const rule = world.pipeline.nodes[index]?.trigger;
    if (rule === 'all_success') {
      for (const up of upstreams)
        require(world, run.nodes[up] === 'S', () => `${name} started before node ${up} succeeded`);
    }
    if (run.stop && !world.faults.freezeStarts) {
      const latest = run.stop.at + PASS_MS;
      require(world, at <= latest, () => `${name} (attempt ${attempt}) started ${at - latest} ms after the fence`);
    }
  }
}

/** At the end: over, with nothing left behind. */
export async function checkFinally(world: World): Promise<void> {
  const run = current(world);
  require(world, isRunOver(run.state), () =>
    `still ${run.state} (${run.nodes}) after ${world.ticks} ticks, now ${world.now}`);
  require(world, run.dueAt === undefined, () => 'over, but still due');
  for (const execution of world.executions.started.values()) {
    require(world, execution.status !== 'RUNNING', () => `orphan: ${execution.name} still runs`);
    const started = world.trace.starts.find((start) => start.name === execution.name)?.at ?? 0;
    const late = started - (run.endedAt ?? 0);
    const isTakenBack = world.faults.freezeStarts && execution.status === 'ABORTED';
    require(world, late <= 0 || isTakenBack === true, () => `${execution.name} started ${late} ms after the run's end`);
  }
  checkPublished(world, run);
  if (world.stopAccepted !== undefined) {
    require(world, run.state === 'ABORTED' || run.state === 'FAILED', () => `stop accepted, run ${run.state}`);
  }
}

/** Every revision up to the last is covered by what was published, and the last word is the final state. */
function checkPublished(world: World, run: RunRecord): void {
  const ranges = world.trace.events.map((event) => event.detail as { sinceRev: number; rev: number; state: string });
  let covered = 0;
  for (const range of [...ranges].sort((a, b) => a.rev - b.rev)) {
    if (range.sinceRev <= covered + 1) covered = Math.max(covered, range.rev);
  }
  require(world, covered === run.rev, () => `published up to revision ${covered} of ${run.rev}`);
  require(world, ranges.some((range) => range.rev === run.rev && range.state === run.state), () =>
    'the end was not published');
}
