/** Rounds of runs under one kind of trouble. Each gives what went wrong, as sentences that name the seed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { uniformInt } from 'pure-rand/distribution/uniformInt';
import { xoroshiro128plus } from 'pure-rand/generator/xoroshiro128plus';
import { hops } from './fault-audit.ts';
import { FaultClient } from './fault-client.ts';
import { MortalHost } from './fault-host.ts';
import { chain, diamond, failing, fan, mixed, type Scenario } from './fault-pipelines.ts';
import { judgeStopped } from './fault-stops.ts';
import {
  begin,
  judge,
  makeFolder,
  openFaultHost,
  repeatedInvocations,
  synthesizeFaults,
  type Trial,
  upstreamsOf,
} from './fault-trial.ts';

const LIMIT_MS = 120_000;
/** How long a run that is over may stay in the index of what is due: some ticks, on a busy machine. */
const LEFT_OVER_MS = 30_000;

/** What a round is made of. */
export interface Round {
  /** Chooses the moments; runs themselves are never the same twice. */
  readonly seed: number;
  /** A `--chaos` text. @default none */
  readonly chaos?: string;
  /** @default the template's minute */
  readonly tickSeconds?: number;
  /** @default one of each kind */
  readonly scenarios?: readonly Scenario[];
  /** How long each node takes (ms). @default 20 */
  readonly nodeMs?: number;
  /** Stops every run at a random moment within so many milliseconds. @default runs are left alone */
  readonly stopWithinMs?: number;
  /** Kills the host so many times, at random moments up to `killWithinMs` after it took requests. @default 0 */
  readonly hostKills?: number;
  /** @default 1500 */
  readonly killWithinMs?: number;
}

/** What came of a round. */
export interface RoundOutcome {
  readonly faults: readonly string[];
  readonly runs: number;
  /** Milliseconds from the end of the upstreams to the start of a node, ascending. */
  readonly hops: readonly number[];
  /** What the host itself complained about, and what chaos did. */
  readonly remarks: readonly string[];
}

/** One of each kind. */
export const everyKind: readonly Scenario[] = [chain(5), diamond(), fan(8), mixed(), failing()];

/** Draws whole numbers from `0` to `most`. */
export function drawFrom(seed: number): (most: number) => number {
  const generator = xoroshiro128plus(seed);
  return (most) => uniformInt(generator, 0, most);
}

/** Plays one round: a host, a run of each scenario at the same time, and the trouble. */
export async function playRound(round: Round): Promise<RoundOutcome> {
  return (round.hostKills ?? 0) > 0 ? await playOnMortalHost(round) : await playInProcess(round);
}

async function playInProcess(round: Round): Promise<RoundOutcome> {
  const { seed, chaos, tickSeconds, scenarios = everyKind } = round;
  const { folder, dataDir, remove } = await makeFolder();
  const options = { dataDir, seed, ...(chaos && { chaos }), ...(tickSeconds !== undefined && { tickSeconds }) };
  const { host, client, complaints } = await openFaultHost(options, scenarios);
  const outcome = await playRuns(client, round, folder);
  const repeated = await Promise.all(outcome.trials.map(repeatedInvocations));
  await host.close();
  const faults = [...outcome.faults, ...repeated.flat().map((line) => `invoked twice: ${line}`)];
  if (faults.length === 0) await remove();
  return finished(round, { ...outcome, faults }, [...complaints, said(host.chaos), folder]);
}

async function playOnMortalHost(round: Round): Promise<RoundOutcome> {
  const { seed, chaos, tickSeconds, scenarios = everyKind, hostKills = 0, killWithinMs = 1500 } = round;
  const { folder, dataDir, remove } = await makeFolder();
  const host = new MortalHost({
    cdkOut: await synthesizeFaults(),
    dataDir,
    port: 0,
    ...(chaos && { chaos, seed }),
    ...(tickSeconds !== undefined && { tickSeconds }),
  });
  await host.start();
  const client = new FaultClient(host.address);
  for (const { definition } of scenarios) await client.putPipeline(definition);
  const draw = drawFrom(seed);
  const killing = (async () => {
    for (let kill = 0; kill < hostKills; kill++) {
      await sleep(draw(killWithinMs));
      await host.kill();
      await host.start({ seed: seed + kill + 1 });
    }
  })();
  const [outcome] = await Promise.all([playRuns(client, round, folder), killing]);
  await host.kill();
  if (outcome.faults.length === 0) await remove();
  return finished(round, outcome, [...host.complaints, folder]);
}

async function playRuns(client: FaultClient, round: Round, folder: string) {
  const { scenarios = everyKind, nodeMs = 20, stopWithinMs, seed } = round;
  const draw = drawFrom(seed + 1_000_000);
  const trials: Trial[] = [];
  const known: number[] = [];
  const faults: string[] = [];
  await Promise.all(
    scenarios.map(async (scenario) => {
      const stopAfterMs = stopWithinMs === undefined ? undefined : draw(stopWithinMs);
      try {
        const trial = await begin(client, scenario, folder, nodeMs);
        trials.push(trial);
        if (stopAfterMs !== undefined) {
          await sleep(stopAfterMs);
          faults.push(...(await judgeStopped(client, trial, LIMIT_MS)));
          return;
        }
        const judged = await judge(client, trial, LIMIT_MS);
        faults.push(...judged.faults);
        known.push(...hops(judged.evidence, upstreamsOf(scenario)).values());
      } catch (error) {
        faults.push(error instanceof Error ? (error.stack ?? error.message) : String(error));
      }
    }),
  );
  faults.push(...(await leftovers(client, trials)));
  return { trials, faults, hops: known.sort((a, b) => a - b) };
}

/** What is there besides the runs that were started, and whether they have left the index of what is due. */
async function leftovers(client: FaultClient, trials: readonly Trial[]): Promise<string[]> {
  const faults: string[] = [];
  const started = new Set(trials.map(({ id }) => id));
  const listed = await client.runIds();
  if (listed.length !== started.size || listed.some((id) => !started.has(id))) {
    faults.push(`${started.size} runs were started, listed are ${listed}`);
  }
  const until = Date.now() + LEFT_OVER_MS;
  let due = await client.dueCount();
  while (due > 0 && Date.now() < until) {
    await sleep(200);
    due = await client.dueCount();
  }
  if (due > 0) faults.push(`${due} runs that are over are still due after ${LEFT_OVER_MS} ms`);
  return faults;
}

function finished(
  { seed, chaos }: Round,
  outcome: { trials: readonly Trial[]; faults: readonly string[]; hops: readonly number[] },
  remarks: readonly string[],
): RoundOutcome {
  const faults = outcome.faults.map((fault) => `seed ${seed}${chaos ? ` ${chaos}` : ''}: ${fault}`);
  return { faults, runs: outcome.trials.length, hops: outcome.hops, remarks };
}

function said(chaos: unknown): string {
  return JSON.stringify(chaos, (_key, value) => (value instanceof Map ? Object.fromEntries(value) : value)) ?? '';
}
