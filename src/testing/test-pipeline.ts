/** `testPipeline`: a run of a pipeline in memory, with stubs, in virtual time. */
import type { PipelineDefinition } from '#domain/definition.ts';
import type { Json } from '#domain/json.ts';
import { inQuotes } from '#domain/names-in-words.ts';
import { compileSchedule } from '#domain/schedule-entry.ts';
import { instantFields } from '#scheduler/due-starts.ts';
import type { ApprovalReplies } from './approval-answers.ts';
import { differences } from './differences.ts';
import { drawFaults, type FaultOptions, kindsOf } from './fault-options.ts';
import type { Faults } from './faults.ts';
import { checkStubs } from './needed-stubs.ts';
import { type Outcome, readOutcome } from './outcome.ts';
import { readDefinition, type TestedDefinition } from './read-definition.ts';
import type { Stubs } from './stub-calls.ts';
import type { Stub } from './stubs.ts';
import { type Play, StartRefusedError, TestWorld } from './test-world.ts';
import type { UserAct } from './user-acts.ts';

/** Stubs by name. Given as a function, it makes new ones for each world, so that none remembers another. */
export type StubsByName = Readonly<Record<string, Stub>> | (() => Readonly<Record<string, Stub>>);

/** How a pipeline is tested. */
export interface TestOptions {
  /** Input of the run. @default {} */
  readonly input?: Json;
  /** What stands for Lambda functions, by the name in `params.function`. */
  readonly functions?: StubsByName;
  /** What stands for other engines, by name; each gets the evaluated `params`. `lambda`: functions that have no stub. */
  readonly engines?: StubsByName;
  /** Pipelines that nodes of the engine `pipeline` start, however deep. */
  readonly children?: readonly TestedDefinition[];
  /** Who answers approvals, by the id of the node. @default nobody: they run out of time */
  readonly answers?: Readonly<Record<string, ApprovalReplies>>;
  /** What users do with the run while it goes on. @default nothing */
  readonly acts?: readonly UserAct[];
  /** Slots of engines and pools, by name. @default no limits */
  readonly limits?: {
    readonly engines?: Readonly<Record<string, number>>;
    readonly pools?: Readonly<Record<string, number>>;
  };
  /** Makes the run one that an entry of the pipeline's schedule starts. @default it is started by hand */
  readonly schedule?: {
    /** The instant that it stands for (ISO 8601, with an offset). */
    readonly instant: string;
    /** Id of the entry. @default the first one */
    readonly entry?: string;
  };
  /**
   * Plays the run again in worlds where things go wrong, and asks that it come to the same in each.
   * `all`: everything that the simulation knows to do. @default none
   */
  readonly faults?: 'all' | FaultOptions;
  /** Virtual time of the start (ISO 8601, with an offset). @default 2026-01-01T00:00:00.000Z, or the instant */
  readonly now?: string;
  /** Virtual time after which the test looks at the run, whatever state it is in. @default 31 days */
  readonly timeLimitSeconds?: number;
}

/** A run came to something else in a world where things went wrong. */
export class FaultWorldError extends Error {
  /** The seed that makes this world again. */
  readonly seed: number;

  constructor(seed: number, what: string, options?: ErrorOptions) {
    super(`${what}\nthis world again: faults: { …, seed: ${seed}, runs: 1 }`, options);
    this.name = 'FaultWorldError';
    this.seed = seed;
  }
}

const BEGINNING = '2026-01-01T00:00:00.000Z';
const TIME_LIMIT_SECONDS = 31 * 24 * 3600;
const FAULT_WORLDS = 50;

/**
 * Runs a pipeline by the real scheduler in memory: functions and engines are stubs, expressions are evaluated, and time
 * is virtual, so that a wait of a day takes no time. The same test comes to the same each time.
 *
 * @param definition the object, the text in YAML or JSON, or the address of a file
 * @returns what the run came to, or how it stood when nothing could move it any more or the time was over
 * @throws InvalidDefinitionError with all errors at once
 * @throws MissingStubError where it names functions, engines or pipelines that nothing stands for
 * @throws StartRefusedError where its input is not valid
 * @throws FaultWorldError where it came to something else in a world with faults
 * @example
 * const outcome = await testPipeline(new URL('./pipeline.yaml', import.meta.url), {
 *   input: { name: 'Ada' },
 *   functions: { greet: (payload: { name: string }) => `Hello, ${payload.name}` },
 * });
 * expect(outcome.nodes['greet']?.output).toBe('Hello, Ada');
 */
export async function testPipeline(definition: TestedDefinition, options: TestOptions = {}): Promise<Outcome> {
  const tested = await readDefinition(definition);
  const children = await Promise.all((options.children ?? []).map(readDefinition));
  checkStubs([tested, ...children], stubsOf(options));
  const play = toPlay([tested, ...children], options);
  const limitMs = (options.timeLimitSeconds ?? TIME_LIMIT_SECONDS) * 1000;
  const playWith = async (faults: Faults) => {
    const world = new TestWorld(play, stubsOf(options), faults);
    const outcome = await readOutcome(world, await world.playRun(limitMs));
    return { outcome, operations: world.trace.operations.length };
  };
  const calm = await playWith({});
  if (options.faults === undefined) return calm.outcome;
  const faults = options.faults === 'all' ? {} : options.faults;
  const { seed: first = 1, runs = FAULT_WORLDS, compare = 'outputs' } = faults;
  const kinds = kindsOf(faults);
  for (let seed = first; seed < first + runs; seed++) {
    const { outcome } = await playWith(drawFaults(kinds, seed, calm.operations)).catch((cause: unknown) => {
      throw new FaultWorldError(seed, cause instanceof Error ? cause.message : String(cause), { cause });
    });
    const found = differences(calm.outcome, outcome, compare);
    if (found.length > 0) throw new FaultWorldError(seed, `${found.join('\n')}\n${outcome.explain()}`);
  }
  return { ...calm.outcome, faultWorlds: runs };
}

function stubsOf({ functions = {}, engines = {} }: TestOptions): Stubs {
  const toMap = (stubs: StubsByName) => new Map(Object.entries(typeof stubs === 'function' ? stubs() : stubs));
  return { functions: toMap(functions), engines: toMap(engines) };
}

function toPlay(pipelines: Play['pipelines'], options: TestOptions): Play {
  const { input, answers = {}, acts = [], limits = {}, schedule } = options;
  const now = options.now ?? schedule?.instant ?? BEGINNING;
  return {
    beganAt: toTime(now),
    pipelines,
    start: {
      trigger: { type: 'api' },
      ...(schedule && startOf(pipelines[0], schedule)),
      ...(input !== undefined && { input }),
    },
    answers: new Map(Object.entries(answers)),
    acts,
    slots: {
      engines: new Map(Object.entries(limits.engines ?? {})),
      pools: new Map(Object.entries(limits.pools ?? {})),
    },
  };
}

function startOf(
  pipeline: PipelineDefinition,
  { instant, entry: id }: NonNullable<TestOptions['schedule']>,
): Play['start'] {
  const entries = compileSchedule(pipeline.schedule ?? []);
  const entry = id === undefined ? entries[0] : entries.find((one) => one.id === id);
  if (!entry) {
    throw new StartRefusedError(
      id === undefined ? `${pipeline.name} has no schedule` : `its schedule has no entry ${inQuotes(id)}`,
    );
  }
  const at = toTime(instant);
  // A test knows no time at which the entry was made: all instants before this one count.
  return { input: entry.input, trigger: { type: 'schedule', ...instantFields(entry, at, 0) } };
}

function toTime(text: string): number {
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new RangeError(`${JSON.stringify(text)} is no time in ISO 8601`);
  return time;
}
