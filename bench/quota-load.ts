/** A steady load on an account with quotas: how fast it is taken, what waits and for how long, and whether all of it ends well. */
import type { PipelineDefinition } from '#domain/definition.ts';
import type { RunRecord } from '#domain/run.ts';
import { putPipeline } from '#scheduler/put-pipeline.ts';
import { startRun } from '#scheduler/start-run.ts';
import { withMonotonicClock } from './day-clock.ts';
import { lookAtReasons, type ReasonsSeen } from './day-reasons.ts';
import { DayWorld, type WorldOptions } from './day-world.ts';

const BEGINNING = Date.UTC(2026, 10, 30, 8);
const SEED = 7;
const LOOK_MS = 5_000;
/** What has not ended so long after the last run was started (ms) never will. */
const LONGEST_MS = 6 * 3_600_000;

/** A load. */
export interface Load extends Pick<WorldOptions, 'quotas' | 'region' | 'nodeMs'> {
  /** Of every run. */
  readonly definition: PipelineDefinition;
  readonly nodesPerSecond: number;
  readonly seconds: number;
  /** How often all that waits is looked at (ms). @default 5000 */
  readonly lookEveryMs?: number;
  /** Whether the bursts of the buckets were used up before. @default true */
  readonly isUsedUp?: boolean;
}

/** What became of it. */
export interface Loaded {
  /** Executions that were started a second, in the latter half of the time in which runs came. */
  readonly startedPerSecond: number;
  /** The longest waits (s). */
  readonly waits: { readonly start: number; readonly inbox: number; readonly lambda: number };
  /** Nodes that were not over, by reason, over all looks. */
  readonly reasons: ReadonlyMap<string, number>;
  readonly runs: number;
  /** From the first run to the end of the last (s). */
  readonly seconds: number;
  readonly world: DayWorld;
}

/**
 * Plays a load until every run is over.
 * @throws Error where a run does not succeed, something waits without a true reason, or a message is lost
 */
export async function playLoad(load: Load): Promise<Loaded> {
  let world: DayWorld | undefined;
  return withMonotonicClock(
    () => (world?.now ?? BEGINNING) - BEGINNING,
    async () => {
      const { quotas, nodeMs, region } = load;
      world = new DayWorld({ quotas, nodeMs, beginsAt: BEGINNING, seed: SEED, ...(region && { region }) });
      if (load.isUsedUp ?? true) world.account.useUp();
      const put = await putPipeline(world.deps, { definition: load.definition, revision: 'r' });
      if (!('head' in put)) throw new Error(`the pipeline was not put: ${put.kind}`);
      comeRuns(world, load);
      const seen: ReasonsSeen = { counts: new Map(), wrong: [] };
      const lookMs = load.lookEveryMs ?? LOOK_MS;
      const end = BEGINNING + load.seconds * 1_000;
      while (world.now < end - load.seconds * 500) await playOn(world, seen, world.now + lookMs);
      const [from, before] = [world.now, world.started];
      while (world.now < end) await playOn(world, seen, Math.min(end, world.now + lookMs));
      const startedPerSecond = ((world.started - before) * 1_000) / (world.now - from);
      while ((await world.activeRuns()).length > 0) {
        if (world.now > end + LONGEST_MS) throw new Error('some runs never end');
        await playOn(world, seen, world.now + lookMs);
      }
      return { ...loadedOf(world, seen, await world.runs()), startedPerSecond, world };
    },
  );
}

async function playOn(world: DayWorld, seen: ReasonsSeen, until: number): Promise<void> {
  await world.playUntil(until);
  await lookAtReasons(world, seen);
}

/** Runs come one after the other, at equal distances. */
function comeRuns(world: DayWorld, { definition, nodesPerSecond, seconds }: Load): void {
  const nodes = definition.nodes.length;
  const count = Math.max(1, Math.round((nodesPerSecond * seconds) / nodes));
  const start = async () => {
    const started = await startRun(world.deps, { pipeline: definition.name, trigger: { type: 'api' } });
    if (!('run' in started)) throw new Error(`the run was not started: ${started.kind}`);
  };
  for (let at = 0; at < count; at++) world.timeline.put(BEGINNING + (at * nodes * 1_000) / nodesPerSecond, start);
}

function loadedOf(
  world: DayWorld,
  { counts, wrong }: ReasonsSeen,
  runs: readonly RunRecord[],
): Omit<Loaded, 'startedPerSecond' | 'world'> {
  checkEnds(world, wrong, runs);
  const { start, inbox, lambda } = world.waits;
  const lastEnd = Math.max(...runs.map(({ endedAt = 0 }) => endedAt));
  return {
    waits: { start: start.longest / 1_000, inbox: inbox.longest / 1_000, lambda: lambda.longest / 1_000 },
    reasons: counts,
    runs: runs.length,
    seconds: (lastEnd - BEGINNING) / 1_000,
  };
}

/**
 * What holds on every day: each run succeeded, and nothing waited in silence.
 * @throws Error where it does not
 */
export function checkEnds(world: DayWorld, wrong: readonly string[], runs: readonly RunRecord[]): void {
  const bad = runs.find(({ state }) => state !== 'SUCCEEDED');
  if (bad) throw new Error(`run ${bad.id} ${bad.state}: ${JSON.stringify(bad.firstBad ?? bad.error)}`);
  if (wrong.length > 0) throw new Error(`${wrong.length} waited in silence, the first: ${wrong[0]}`);
  if (world.troubles.length > 0) throw new Error(`a pass failed: ${world.troubles[0]}`);
  if (world.deadLetters > 0) throw new Error(`${world.deadLetters} messages came to the dead letters`);
}
