/** What must hold after every operation, whatever went wrong before. */
import { flightKey } from '#domain/draft.ts';
import { type AttemptKey, parseExecutionName } from '#domain/execution-name.ts';
import { isTerminal, statusOf } from '#domain/node-status.ts';
import { isRunOver, isUnderWay, type RunRecord } from '#domain/run.ts';
import type { PackedRun } from '#domain/run-codec.ts';
import { checkBackfillsNow } from './backfill-checks.ts';
import { require } from './invariant-error.ts';
import { checkKept, checkLimits, waitsForLimits } from './limit-invariants.ts';
import { checkReasons } from './reason-invariants.ts';
import type { World } from './world.ts';

/** What was seen of a run so far. */
export interface Seen {
  text: PackedRun | undefined;
  run: RunRecord | undefined;
  /** Names of its executions. */
  readonly started: string[];
  /** Up to which revision number the events tell everything. */
  covered: number;
  /** By revision number, the state of the run. */
  readonly states: Map<number, string>;
  /** When an order to stop, and the end, were committed (by the world's clock, which is nobody's else). */
  stoppedAt?: number;
  endedAt?: number;
}

/** What was seen of a world so far: its runs by nonce, and how many starts and events were looked at. */
interface WorldSeen {
  readonly runs: Map<string, Seen>;
  /** Nonces by id: more than one where a run was deleted and made again. */
  readonly nonces: Map<string, Set<string>>;
  starts: number;
  events: number;
}

const seenOf = new WeakMap<World, WorldSeen>();

function worldSeen(world: World): WorldSeen {
  let seen = seenOf.get(world);
  if (!seen) {
    seen = { runs: new Map(), nonces: new Map(), starts: 0, events: 0 };
    seenOf.set(world, seen);
  }
  return seen;
}

/** What was seen of a run. */
export function seenIn(world: World, { id, nonce }: Pick<RunRecord, 'id' | 'nonce'>): Seen {
  const { runs, nonces } = worldSeen(world);
  let seen = runs.get(nonce);
  if (!seen) {
    seen = { text: undefined, run: undefined, started: [], covered: 0, states: new Map() };
    runs.set(nonce, seen);
    nonces.set(id, (nonces.get(id) ?? new Set()).add(nonce));
  }
  return seen;
}

/** Whether a run was deleted and made again, so that what is told of its id may be about either. */
export function isMadeAgain(world: World, id: string): boolean {
  return (worldSeen(world).nonces.get(id)?.size ?? 0) > 1;
}

/** After every operation. Only what changed is looked at. */
export function checkNow(world: World): void {
  const seen = worldSeen(world);
  for (const { run } of seen.runs.values()) if (run) checkGone(world, run);
  for (const id of world.runs.ids()) checkCommitted(world, id);
  checkLimits(world);
  checkBackfillsNow(world);
  const { starts, events } = world.trace;
  for (; seen.starts < starts.length; seen.starts++) checkStart(world, starts[seen.starts] as Start);
  for (; seen.events < events.length; seen.events++) {
    checkEvent(world, events[seen.events]?.detail as unknown as RunChanged);
  }
}

/** A run is gone only once it was over, all of it was told, and somebody had asked to delete it. */
function checkGone(world: World, last: RunRecord): void {
  const text = world.runs.text(last.id);
  if (text !== undefined && (!last.deleted || world.runs.latest(last.id).nonce === last.nonce)) return;
  // An acknowledgement takes no revision number of its own, so a pass beside it may have written the one before it again.
  const isTold = last.announced.state === last.state || isPublished(world, last);
  const isRight = last.deleted !== undefined && isRunOver(last.state) && isTold;
  require(world, isRight, () => `run ${last.id} is gone, it was ${last.state}`);
}

function isPublished(world: World, { id, state }: RunRecord): boolean {
  return world.trace.events.some(({ detail }) => {
    const event = detail as unknown as RunChanged;
    return event.runId === id && event.state === state;
  });
}

function checkCommitted(world: World, id: string): void {
  const text = world.runs.text(id);
  const run = world.runs.latest(id);
  const seen = seenIn(world, run);
  if (text === seen.text) return;
  checkStates(world, run);
  checkDue(world, run);
  if (seen.run) checkChange(world, seen.run, run);
  checkReasons(world, run);
  checkKept(world, run);
  note(world, seen, run);
  seen.text = text;
  seen.run = run;
  for (const name of seen.started) checkStarted(world, run, name);
}

type Start = World['trace']['starts'][number];

interface RunChanged {
  readonly runId: string;
  readonly sinceRev: number;
  readonly rev: number;
  readonly state: string;
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
    // One that waits for a slot after its first attempt has the flight that counts its attempts.
    const isQueuedAgain = run.flights.some((flight) => flight.node === node && flight.phase === 'queued');
    const hasFlight = state === 'RUNNING' || state === 'RETRY_WAIT' || (state === 'QUEUED' && isQueuedAgain);
    require(world, flying.has(node) === hasFlight, () => `node ${node} is ${state}, its flight says otherwise`);
  });
  const isFinal = isRunOver(run.state) && run.announced.state === run.state;
  // A paused run with nothing under way waits for a user alone, and costs nothing.
  const sleeps = run.state === 'PAUSED' && run.announced.state === run.state;
  const isAsleep = sleeps && !run.flights.some(isUnderWay);
  const waits = run.announced.state === run.state && waitsForLimits(world, run);
  require(world, isFinal || isAsleep || waits || run.dueAt !== undefined, () =>
    `unfinished, and not due (${run.state})`);
}

/** Due early, never late: what has to be looked at, looked after or published is so in time. */
function checkDue(world: World, run: RunRecord): void {
  const due = run.dueAt ?? Number.POSITIVE_INFINITY;
  for (const flight of run.flights) {
    if (flight.phase === 'queued' || (run.state === 'PAUSED' && flight.phase === 'retry')) continue;
    require(world, due <= flight.pollAt, () =>
      `due ${due - flight.pollAt} ms after node ${flight.node} has to be looked at`);
  }
  if (run.announced.state === run.state) return;
  const latest = world.now + world.options.tickMs + (world.faults.skewMs ?? 0);
  require(world, due <= latest, () => `what is to be published is due ${due - latest} ms too late`);
}

function checkChange(world: World, before: RunRecord, run: RunRecord): void {
  require(world, run.rev >= before.rev, () => `revision ${before.rev} became ${run.rev}`);
  require(world, run.revision === before.revision, () => `${before.revision} became ${run.revision}`);
  if (isRunOver(before.state)) require(world, run.state === before.state, () => `${before.state} became ${run.state}`);
  [...before.nodes].forEach((letter, node) => {
    const isFinal = isTerminal(letter.charCodeAt(0));
    require(world, !isFinal || run.nodes[node] === letter, () => `node ${node}: ${letter} became ${run.nodes[node]}`);
  });
  for (const flight of run.flights) {
    const known = before.flights.find((other) => flightKey(other) === flightKey(flight));
    require(world, !known || flight.attempt >= known.attempt, () => `node ${flight.node} went back an attempt`);
    const isCleanup = world.pipelineOf(run).nodes[flight.node]?.cleanup === true;
    require(world, !run.stop || isCleanup || known?.attempt === flight.attempt, () => {
      return `attempt of node ${flight.node} decided together with a stop or after it`;
    });
    require(world, run.state !== 'PAUSED' || known?.attempt === flight.attempt, () => {
      return `attempt of node ${flight.node} decided in a paused run`;
    });
  }
}

function checkStarted(world: World, run: RunRecord, name: string): void {
  const { node, attempt } = attemptOf(name);
  const { state } = statusOf(run.nodes.charCodeAt(node));
  if (run.flights.some((flight) => flight.node === node && flight.phase === 'queued' && flight.attempt >= attempt))
    return;
  require(world, state !== 'PENDING' && state !== 'QUEUED', () => `${name} started, node is ${state}`);
}

/** The newest start. */
function checkStart(world: World, { name, at }: Start): void {
  const { run: id, node, item, attempt } = attemptOf(name);
  const run = world.runs.latest(id);
  const seen = seenIn(world, run);
  seen.started.push(name);
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
  const { upstreams = [], trigger } = world.pipelineOf(run).nodes[node] ?? {};
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
  if (!run.stop || world.pipelineOf(run).nodes[node]?.cleanup) return;
  const late = at - ((seen.stoppedAt ?? at) + world.options.passMs + (world.faults.choose ? 1_000 : 0));
  require(world, late <= 0, () => `${name} started ${late} ms after the fence`);
}

/** Which attempt an execution's name is for. */
export function attemptOf(name: string): AttemptKey {
  return parseExecutionName('sim', name) as AttemptKey;
}

/** Whether two attempts are of the same node, or item, of the same run. */
function isSame(one: Pick<AttemptKey, 'node' | 'item'> & { readonly run?: string }, other: AttemptKey): boolean {
  return flightKey(one) === flightKey(other) && (one.run === undefined || one.run === other.run);
}

/** The newest event: it says what was committed, and leaves no revision between itself and those before it. */
function checkEvent(world: World, event: RunChanged): void {
  const run = world.runs.latest(event.runId);
  if (isMadeAgain(world, run.id)) return;
  const seen = seenIn(world, run);
  require(world, event.rev <= run.rev, () => `revision ${event.rev} was published before it was committed`);
  require(world, event.sinceRev <= seen.covered + 1, () => {
    return `published from revision ${event.sinceRev} on, before it up to ${seen.covered}`;
  });
  const state = seen.states.get(event.rev);
  require(world, state === event.state, () => `revision ${event.rev} was published as ${event.state}, it is ${state}`);
  seen.covered = Math.max(seen.covered, event.rev);
}
