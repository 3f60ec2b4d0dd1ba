/** A day of a team's pipelines on its schedules, in an account with quotas. `node bench/day.ts --help` has other days. */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { PipelineDefinition } from '#domain/definition.ts';
import { putPipeline } from '#scheduler/put-pipeline.ts';
import type { Bench, Figure } from './bench.ts';
import { withMonotonicClock } from './day-clock.ts';
import { teamPipelines } from './day-pipelines.ts';
import { lookAtReasons, type ReasonsSeen } from './day-reasons.ts';
import { DayWorld } from './day-world.ts';
import { LARGE_REGION, OTHER_REGION } from './quota-account.ts';
import { checkEnds } from './quota-load.ts';

const MIDNIGHT = Date.UTC(2026, 10, 30);
const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;
const LONGEST_MINUTES = 3 * DAY_MINUTES;
/** All that waits is looked at so often (minutes), and in each minute in which a start was put off. */
const LOOK_EVERY = 5;
/** A look comes so long after the minute (ms): when what starts at it is under way. */
const LOOK_AFTER_MS = 3_000;
/** What a node takes (ms): median and 99th percentile, and at least and at most. */
const NODE_MS = [8_000, 120_000] as const;
const NODE_BOUNDS_MS = [500, 900_000] as const;

/** A day. */
export interface Day {
  readonly pipelines: number;
  /** The quotas of a large region, or of all others. */
  readonly region: 'large' | 'other';
  /** Lambda functions that may run at the same time. */
  readonly lambdas: number;
  readonly seed: number;
}

const BIG_DAY: Day = { pipelines: 1_000, region: 'large', lambdas: 1_000, seed: 7 };
const NEW_ACCOUNT: Day = { pipelines: 100, region: 'other', lambdas: 10, seed: 7 };

/** A day of a thousand pipelines, and one of a hundred in an account that is new. */
export const day: Bench = {
  name: 'day',
  title: 'a day of pipelines on schedules, by real passes over the memory adapters, with the quotas of AWS',
  async run(say) {
    return [...(await figuresOf(BIG_DAY, say)), ...(await figuresOf(NEW_ACCOUNT, say))];
  },
};

/**
 * Plays a day to the end of its last run.
 * @throws Error where a run does not succeed, something waits without a true reason, or a message is lost
 */
async function figuresOf(of: Day, say: (progress: string) => void): Promise<Figure[]> {
  const beginsAt = MIDNIGHT - MINUTE_MS;
  let world: DayWorld | undefined;
  const cpu = process.cpuUsage();
  return withMonotonicClock(
    () => (world?.now ?? beginsAt) - beginsAt,
    async () => {
      world = createWorld(of, beginsAt);
      const definitions = teamPipelines(of.pipelines, of.seed);
      await putAll(world, 'scheduled', definitions);
      const seen: ReasonsSeen = { counts: new Map(), wrong: [] };
      const busiest = await playMinutes(world, definitions, seen, (text) => say(`${nameOf(of)}: ${text}`));
      const { user, system } = process.cpuUsage(cpu);
      return dayFigures(of, {
        world,
        seen,
        busiest,
        cpuSeconds: (user + system) / 1e6,
        runs: await checked(world, seen),
      });
    },
  );
}

function createWorld({ region, lambdas, seed }: Day, beginsAt: number): DayWorld {
  return new DayWorld({
    quotas: { calls: region === 'large' ? LARGE_REGION : OTHER_REGION, lambdas },
    region: region === 'large' ? 'us-east-1' : 'eu-central-1',
    beginsAt,
    seed,
    nodeMs: (_node, draws) => Math.min(NODE_BOUNDS_MS[1], Math.max(NODE_BOUNDS_MS[0], draws.logNormal(NODE_MS))),
  });
}

async function putAll(world: DayWorld, revision: string, definitions: readonly PipelineDefinition[]): Promise<void> {
  for (const definition of definitions) {
    const put = await putPipeline(world.deps, { definition, revision });
    if (!('head' in put)) throw new Error(`pipeline ${definition.name} was not put: ${put.kind}`);
  }
}

/** Plays the day, and on until nothing runs any more; gives the most executions that were started in a minute. */
async function playMinutes(
  world: DayWorld,
  definitions: readonly PipelineDefinition[],
  seen: ReasonsSeen,
  say: (text: string) => void,
): Promise<number> {
  let busiest = 0;
  for (let minute = 0; minute < DAY_MINUTES || (await world.activeRuns()).length > 0; minute++) {
    if (minute > LONGEST_MINUTES) throw new Error('the work of a day is never done');
    // The next day is another day.
    if (minute === DAY_MINUTES)
      await putAll(
        world,
        'unscheduled',
        definitions.map(({ schedule: _none, ...rest }) => rest),
      );
    const [started, refused] = [world.started, world.refused];
    await world.playUntil(MIDNIGHT + minute * MINUTE_MS + LOOK_AFTER_MS);
    busiest = Math.max(busiest, world.started - started);
    if (world.refused > refused || minute % LOOK_EVERY === 0) await lookAtReasons(world, seen);
    if (minute % 60 === 0) say(`${minute / 60} h, ${world.started} nodes`);
  }
  return busiest;
}

async function checked(world: DayWorld, { wrong }: ReasonsSeen): Promise<number> {
  const runs = await world.runs();
  checkEnds(world, wrong, runs);
  return runs.length;
}

interface Played {
  readonly world: DayWorld;
  readonly seen: ReasonsSeen;
  readonly busiest: number;
  readonly cpuSeconds: number;
  readonly runs: number;
}

function dayFigures(of: Day, { world, seen, busiest, cpuSeconds, runs }: Played): Figure[] {
  const figure = (what: string, value: number, decimals = 0, aim?: string): Figure => ({
    what: `${nameOf(of)}: ${what}`,
    values: [value],
    decimals,
    ...(aim && { aim }),
  });
  const { start, inbox, lambda } = world.waits;
  const calls = (call: 'StartExecution' | 'DescribeExecution' | 'ListExecutions') => world.account.tallies.get(call);
  return [
    figure('runs, all SUCCEEDED', runs),
    figure('nodes', world.started),
    figure('nodes a second, in the busiest minute', busiest / 60, 1),
    figure('StartExecution: starts that were put off', world.refused),
    figure('StartExecution: longest wait of a start, s', start.longest / 1_000, 1),
    figure('nodes seen with reason Throttled', seen.counts.get('Throttled') ?? 0),
    figure('DescribeExecution', calls('DescribeExecution')?.made ?? 0),
    figure('DescribeExecution: throttled', calls('DescribeExecution')?.throttled ?? 0),
    figure('ListExecutions', calls('ListExecutions')?.made ?? 0),
    figure(`Lambda: most at a time, of ${of.lambdas}`, world.account.mostRunning),
    figure('Lambda: longest wait of a function, s', lambda.longest / 1_000, 1),
    figure('scheduler: longest wait of a message, s', inbox.longest / 1_000, 1),
    figure('SQS: most messages in flight, of 120,000', world.mostInFlight),
    figure('waited in silence, failed, or lost', seen.wrong.length + world.troubles.length + world.deadLetters, 0, '0'),
    figure('processor, s', cpuSeconds, 1, '60'),
  ];
}

function nameOf({ pipelines, region, lambdas }: Day): string {
  return `${pipelines} pipelines, ${region === 'large' ? 'large region' : 'other region'}, ${lambdas} functions`;
}

function readCount(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new InvalidArgumentError('It has to be a whole number from 1 on.');
  return value;
}

async function main(argv: readonly string[]): Promise<void> {
  const { json, ...of } = new Command('node bench/day.ts')
    .description(
      'Plays a day of pipelines on schedules by real passes over the memory adapters, with the quotas of AWS.',
    )
    .option('--pipelines <count>', 'how many', readCount, BIG_DAY.pipelines)
    .addOption(new Option('--region <kind>', 'whose quotas').choices(['large', 'other']).default(BIG_DAY.region))
    .option('--lambdas <count>', 'Lambda functions that may run at the same time', readCount, BIG_DAY.lambdas)
    .option('--seed <number>', 'another one draws another day', readCount, BIG_DAY.seed)
    .option('--json', 'one JSON document on standard output', false)
    .allowExcessArguments(false)
    .parse([...argv], { from: 'user' })
    .opts<Day & { json: boolean }>();
  const figures = await figuresOf(of, (text) => process.stderr.write(`${text}\n`));
  const lines = figures.map(({ what, values, decimals }) => `${what}: ${values[0]?.toFixed(decimals)}`);
  process.stdout.write(`${json ? JSON.stringify({ day: of, figures }, undefined, 2) : lines.join('\n')}\n`);
}

if (import.meta.main) await main(process.argv.slice(2));
