/** Small worlds as their every crash is played: where functions die, and what is left to bring the runs to their end. */
import { isRunOver } from '#domain/run.ts';
import { unpackRun } from '#domain/run-codec.ts';
import type { OperationFault } from '#testing/faults.ts';
import type { Invocation } from '#testing/operations.ts';
import { require } from './invariant-error.ts';
import { type Act, type PipelineFaults, PipelineWorld } from './pipeline-world.ts';
import { type Faults, type Scenario, World } from './world.ts';

/** A death: the function that makes the `at`-th port call of the world, counted from 0, dies right before it or after. */
export interface Crash {
  readonly at: number;
  readonly when: 'before' | 'after';
}

/**
 * What is left to bring runs to their end.
 * - `events`: everything; a message whose function died comes again.
 * - `ticks`: the ticks alone. Every event and every other ring is lost, and with a function what it worked on.
 * - `events, then ticks`: the first until the first crash, the second from there on.
 */
export type Mode = (typeof MODES)[number];

/** All modes. */
export const MODES = ['events', 'ticks', 'events, then ticks'] as const;

/** How a small world was played. */
export interface Played {
  /** Places of port calls: a crash at one of those that are left out before or after it played no part. */
  readonly places: number;
  readonly ticks: number;
}

/** A scenario that is small enough to play its every crash, and its every two crashes. */
export interface SmallScenario {
  readonly name: string;
  /**
   * Plays it with some crashes, in the order of their places.
   * @throws where an invariant breaks, or it does not end as it must
   */
  readonly play: (crashes: readonly Crash[], mode: Mode) => Promise<Played>;
}

/** Ticks that a crash may cost at most, beside those that the undisturbed world takes by ticks alone. */
const TICKS_PER_CRASH = 2;
const MANY_TICKS = 60;

/** What a scenario of runs comes to. */
export interface SmallEnd {
  /** How its runs may end: state and vector, `SUCCEEDED SSF`. */
  readonly ends: readonly string[];
  /** Runs that there are in the end. @default 1 */
  readonly count?: number;
  /** Ticks at most where nothing goes wrong: events bring it to its end, not they. @default 0 */
  readonly calmTicks?: number;
}

/**
 * A scenario of runs.
 * @param make the scenario, made anew for each world
 */
export function inWorld(name: string, end: SmallEnd, make: () => Scenario): SmallScenario {
  const { ends, count = 1, calmTicks = 0 } = end;
  const playFor = async (most: number, crashes: readonly Crash[], mode: Mode): Promise<Played> => {
    const world = new SmallWorld(make(), crashes, mode);
    await world.play(most);
    const told = world.runs.all().map(({ state, nodes }) => `${state} ${nodes}`);
    require(world, told.length === count, () => `${told.length} runs, not ${count}`);
    const wrong = told.find((one) => !ends.includes(one));
    require(world, wrong === undefined, () => `a run ends ${wrong}, not ${ends.join(' or ')}`);
    return { places: world.trace.operations.length, ticks: world.ticks };
  };
  let byTicks: Promise<Played> | undefined;
  return {
    name,
    async play(crashes, mode) {
      byTicks ??= playFor(MANY_TICKS, [], 'ticks');
      const { ticks } = await byTicks;
      const played = await playFor(ticks + TICKS_PER_CRASH * crashes.length + 1, crashes, mode);
      if (crashes.length > 0 || mode !== 'events' || played.ticks <= calmTicks) return played;
      throw new Error(`${name}: takes ${played.ticks} ticks where nothing goes wrong, not ${calmTicks}`);
    },
  };
}

class SmallWorld extends World {
  private readonly losesWork: () => boolean;
  private readonly crashCount: number;
  /** Since when the state of a run has not been told, by its id (ms since the epoch). */
  private readonly untold = new Map<string, number>();

  constructor(scenario: Scenario, crashes: readonly Crash[], mode: Mode) {
    const kills = new Kills(crashes);
    const drops = () => mode === 'ticks' || (mode === 'events, then ticks' && kills.hasBegun);
    super(scenario, faultsOf(kills, drops));
    this.losesWork = drops;
    this.crashCount = crashes.length;
  }

  /** Nobody waits for the end of a run to hear of what it has come to: a state is told soon, whoever died over it. */
  override check(): void {
    super.check();
    const most = (TICKS_PER_CRASH * this.crashCount + 1) * this.options.tickMs;
    for (const { id, state, announced } of this.runs.all()) {
      const since = announced.state === state ? undefined : (this.untold.get(id) ?? this.now);
      if (since === undefined) this.untold.delete(id);
      else this.untold.set(id, since);
      const ms = this.now - (since ?? this.now);
      require(this, ms <= most, () => `run ${id} is ${state}, and for ${ms} ms nobody was told`);
    }
  }

  override onDeath(invocation: Invocation): void {
    // As often handed over as a queue does before it gives a message up.
    if (this.losesWork()) for (const message of invocation.messages) message.deliveries = Number.POSITIVE_INFINITY;
    super.onDeath(invocation);
  }
}

/** Crashes by their place, which know whether the first of them has happened. */
class Kills extends Map<number, OperationFault> {
  hasBegun = false;

  constructor(crashes: readonly Crash[]) {
    super();
    for (const { at, when } of crashes) this.set(at, { kind: 'kill', when });
  }

  override get(at: number): OperationFault | undefined {
    const fault = super.get(at);
    this.hasBegun ||= fault !== undefined;
    return fault;
  }
}

function faultsOf(at: Kills, drops: () => boolean): Faults {
  return {
    at,
    get drop() {
      return drops();
    },
  };
}

/** A scenario of a pipeline: what is done to it, how long it is played, and what must hold in the end. */
export interface PipelineScenario {
  readonly name: string;
  readonly acts: () => readonly Act[];
  readonly lastMs: number;
  /** How its runs end: instant (ms since the beginning), state and vector. */
  readonly ends: readonly string[];
}

/** A scenario of a pipeline that starts its runs by itself. */
export function inPipelineWorld({ name, acts, lastMs, ends }: PipelineScenario): SmallScenario {
  return {
    name,
    async play(crashes, mode) {
      const faults = pipelineFaults(crashes, mode, () => world.calls.length);
      const world: PipelineWorld = new PipelineWorld(acts(), faults, EXECUTION_MS);
      world.check = watchRuns(world);
      await world.play(lastMs);
      const [trouble] = world.troubles;
      if (trouble) throw trouble;
      const told = [...world.runs.stored.values()].map(unpackRun).map(({ trigger, state, nodes }) => {
        return `${trigger.instant} ${state} ${nodes}`;
      });
      if (JSON.stringify(told.sort()) !== JSON.stringify(ends)) throw failure(world, `the runs are ${told.join(', ')}`);
      const running = [...world.executions.started.values()].filter(({ status }) => status === 'RUNNING');
      if (running.length > 0) throw failure(world, `${running.length} executions still run`);
      const owed = [...world.runs.stored.values()].map(unpackRun).filter(({ dueAt }) => dueAt !== undefined);
      if (owed.length > 0) throw failure(world, `${owed.length} runs are still due`);
      return { places: world.calls.length, ticks: 0 };
    },
  };
}

const EXECUTION_MS = 1_000;

/** The crashes of a world whose calls are told by their number: each in turn, as its place comes. */
function pipelineFaults(crashes: readonly Crash[], mode: Mode, placeNow: () => number): PipelineFaults {
  const [first] = crashes;
  return {
    get kill(): Crash {
      const place = placeNow();
      return crashes.find(({ at }) => at === place) ?? NO_CRASH;
    },
    get drop() {
      return mode === 'ticks' || (mode !== 'events' && first !== undefined && placeNow() > first.at);
    },
  };
}

const NO_CRASH: Crash = { at: -1, when: 'before' };

function failure(world: PipelineWorld, what: string): Error {
  return new Error(`${what}\n${world.calls.map((call, at) => `${at} ${call}`).join('\n')}`);
}

/** One execution an attempt, one run an instant, and no end that changes. */
function watchRuns(world: PipelineWorld): () => void {
  const ended = new Map<string, string>();
  return () => {
    for (const [name, count] of world.executions.starts) {
      if (count > 1) throw failure(world, `${name} was started ${count} times`);
    }
    const instants = new Set<string>();
    for (const packed of world.runs.stored.values()) {
      const { id, state, nodes, trigger } = unpackRun(packed);
      const instant = `${trigger.entry} ${trigger.instant}`;
      if (instants.has(instant)) throw failure(world, `${instant} has two runs`);
      instants.add(instant);
      const before = ended.get(id);
      const now = `${state} ${nodes}`;
      if (before !== undefined && before !== now) throw failure(world, `${before} became ${now}`);
      if (isRunOver(state)) ended.set(id, now);
    }
  };
}
