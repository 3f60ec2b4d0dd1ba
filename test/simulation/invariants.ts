/** What must hold after every operation, whatever went wrong before. */
import { flightKey } from '#domain/draft.ts';
import { type AttemptKey, parseExecutionName } from '#domain/execution-name.ts';
import { isTerminal, statusOf } from '#domain/node-status.ts';
import { isRunOver, type RunRecord } from '#domain/run.ts';
import type { PackedRun } from '#domain/run-codec.ts';
import { require } from './invariant-error.ts';
import { checkReasons } from './reason-invariants.ts';
import type { World } from './world.ts';

/** What was seen of a world so far. */
export interface Seen {
  text: PackedRun | undefined;
  run: RunRecord | undefined;
  /** Starts and events that were looked at. */
  starts: number;
  events: number;
  /** Up to which revision number the events tell everything. */
  covered: number;
  /** By revision number, the state of the run. */
  readonly states: Map<number, string>;
  /** When an order to stop, and the end, were committed (by the world's clock, which is nobody's else). */
  stoppedAt?: number;
  endedAt?: number;
}

const seenOf = new WeakMap<World, Seen>();

/** What was seen of a world. */
export function seenIn(world: World): Seen {
  let seen = seenOf.get(world);
  if (!seen) {
    seen = { text: undefined, run: undefined, starts: 0, events: 0, covered: 0, states: new Map() };
    seenOf.set(world, seen);
  }
  return seen;
}

/** After every operation. Only what changed is looked at. */
export function checkNow(world: World): void {
  const seen = seenIn(world);
  const text = world.runs.text(world.run?.id ?? '');
  require(world, text !== undefined, () => 'the run is gone');
  const run = world.runs.latest(world.run?.id ?? '');
  if (text !== seen.text) {
    checkStates(world, run);
    checkDue(world, run);
    if (seen.run) checkChange(world, seen.run, run);
    checkReasons(world, run);
    note(world, seen, run);
    seen.text = text;
    seen.run = run;
    for (const { name } of world.trace.starts) checkStarted(world, run, name);
  }
  for (; seen.starts < world.trace.starts.length; seen.starts++) checkStart(world, seen, run);
  for (; seen.events < world.trace.events.length; seen.events++) checkEvent(world, seen, run);
}

function note(world: World, seen: Seen, run: RunRecord): void {
  seen.states.set(run.rev, run.state);
  if (run.stop) seen.stoppedAt ??= world.now;
  if (isRunOver(run.state)) seen.endedAt ??= world.now;
}

function checkStates(world: World, run: RunRecord): void {
  const flying = new Set(run.flights.map((flight) => flight.node));
  [...run.nodes].forEach((letter, node) => {
    const { state, standing } = statusOf(letter.charCodeAt(0));
    if (isRunOver(run.state)) require(world, standing !== 'open', () => `run over, node ${node} ${state}`);
    // A map in progress has the flights of its items, or none while its next ones wait.
    if (letter === 'm') return;
    const hasFlight = state === 'RUNNING' || state === 'RETRY_WAIT';
    require(world, flying.has(node) === hasFlight, () => `node ${node} is ${state}, its flight says otherwise`);
  });
  const isFinal = isRunOver(run.state) && run.announced.state === run.state;
  // A paused run with nothing under way waits for a user alone, and costs nothing.
  const sleeps = run.state === 'PAUSED' && run.announced.state === run.state;
  const isAsleep = sleeps && run.flights.every(({ phase }) => phase === 'retry');
  require(world, isFinal || isAsleep || run.dueAt !== undefined, () => `unfinished, and not due (${run.state})`);
}

/** Due early, never late: what has to be looked at, looked after or published is so in time. */
function checkDue(world: World, run: RunRecord): void {
  const due = run.dueAt ?? Number.POSITIVE_INFINITY;
  for (const flight of run.flights) {
    if (run.state === 'PAUSED' && flight.phase === 'retry') continue;
    require(world, due <= flight.pollAt, () =>
      `due ${due - flight.pollAt} ms after node ${flight.node} has to be looked at`);
  }
  if (run.announced.state === run.state) return;
  const latest = world.now + world.options.tickMs + (world.faults.skewMs ?? 0);
  require(world, due <= latest, () => `what is to be published is due ${due - latest} ms too late`);
}

function checkChange(world: World, before: RunRecord, run: RunRecord): void {
  require(world, run.rev >= before.rev, () => `revision ${before.rev} became ${run.rev}`);
  if (isRunOver(before.state)) require(world, run.state === before.state, () => `${before.state} became ${run.state}`);
  [...before.nodes].forEach((letter, node) => {
    const isFinal = isTerminal(letter.charCodeAt(0));
    require(world, !isFinal || run.nodes[node] === letter, () => `node ${node}: ${letter} became ${run.nodes[node]}`);
  });
  for (const flight of run.flights) {
    const known = before.flights.find((other) => flightKey(other) === flightKey(flight));
    require(world, !known || flight.attempt >= known.attempt, () => `node ${flight.node} went back an attempt`);
    require(world, !run.stop || known?.attempt === flight.attempt, () => {
      return `attempt of node ${flight.node} decided together with a stop or after it`;
    });
    require(world, run.state !== 'PAUSED' || known?.attempt === flight.attempt, () => {
      return `attempt of node ${flight.node} decided in a paused run`;
    });
  }
}

function checkStarted(world: World, run: RunRecord, name: string): void {
  const { state } = statusOf(run.nodes.charCodeAt(attemptOf(name).node));
  require(world, state !== 'PENDING' && state !== 'QUEUED', () => `${name} started, node is ${state}`);
}

/** The newest start. */
function checkStart(world: World, seen: Seen, run: RunRecord): void {
  const { name, at } = world.trace.starts[seen.starts] as World['trace']['starts'][number];
  const { node, item, attempt } = attemptOf(name);
  checkStarted(world, run, name);
  const place = item === undefined ? `${node}` : `${node}_${item}`;
  const key = `sim-${run.id}-${run.nonce}-${place}-${attempt}`;
  require(world, name === key, () => `${name} is not named for its attempt`);
  for (const [other, count] of world.executions.starts) {
    require(world, count <= 1, () => `${other} was started ${count} times`);
  }
  for (const other of world.executions.started.values()) {
    const isBeside =
      other.status === 'RUNNING' && other.name !== name && isSame(attemptOf(other.name), attemptOf(name));
    require(world, !isBeside || world.faults.freezeStarts === true, () => `${name} started beside ${other.name}`);
  }
  const { upstreams = [], trigger } = world.pipeline.nodes[node] ?? {};
  if (trigger === 'all_success') {
    for (const up of upstreams)
      require(world, statusOf(run.nodes.charCodeAt(up)).standing === 'success', () =>
        `${name} started before node ${up} succeeded`);
  }
  if (world.faults.freezeStarts) return;
  const isWanted = run.flights.some(
    (one) => isSame(one, attemptOf(name)) && one.attempt === attempt && one.phase !== 'retry',
  );
  require(world, isWanted, () => `${name} started when its attempt was over`);
  if (!run.stop) return;
  const late = at - ((seen.stoppedAt ?? at) + world.options.passMs + (world.faults.choose ? 1_000 : 0));
  require(world, late <= 0, () => `${name} started ${late} ms after the fence`);
}

/** Which attempt an execution's name is for. */
export function attemptOf(name: string): AttemptKey {
  return parseExecutionName('sim', name) as AttemptKey;
}

function isSame(one: Pick<AttemptKey, 'node' | 'item'>, other: AttemptKey): boolean {
  return flightKey(one) === flightKey(other);
}

/** The newest event: it says what was committed, and leaves no revision between itself and those before it. */
function checkEvent(world: World, seen: Seen, run: RunRecord): void {
  const event = world.trace.events[seen.events]?.detail as { sinceRev: number; rev: number; state: string };
  require(world, event.rev <= run.rev, () => `revision ${event.rev} was published before it was committed`);
  require(world, event.sinceRev <= seen.covered + 1, () => {
    return `published from revision ${event.sinceRev} on, before it up to ${seen.covered}`;
  });
  const state = seen.states.get(event.rev);
  require(world, state === event.state, () => `revision ${event.rev} was published as ${event.state}, it is ${state}`);
  seen.covered = Math.max(seen.covered, event.rev);
}
