/**
 * `npm run simulate`: plays random worlds, as many as you like, or, with `--exhaustive`, every crash and every two crashes
 * of the small scenarios. Ends with 1 at the first world that breaks a promise, and says how to play that one again.
 */
import { availableParallelism } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { PlanKind } from './campaign.ts';
import { runCampaigns } from './campaign-run.ts';
import { crashesFromText } from './exhaustive.ts';
import { runExhaustively } from './exhaustive-run.ts';
import { SMALL_SCENARIOS } from './exhaustive-scenarios.ts';
import { MODES } from './exhaustive-worlds.ts';
import { PLANS } from './random-plans.ts';

const EXAMPLES = `
Examples:
  npm run simulate -- --runs 1000000 --seed 1           a million random worlds, always the same ones
  npm run simulate -- --kind limits --runs 5000         worlds of one kind
  npm run simulate -- --kind whole --seed 7 --path 3:1  one world again, as a failure prints it
  npm run simulate -- --exhaustive                      every crash and every two crashes of the small scenarios
  npm run simulate -- --exhaustive --scenario retry --mode ticks --crashes 3-after,17-before`;

function wholeNumber(least: number) {
  return (text: string): number => {
    const value = Number(text);
    if (Number.isSafeInteger(value) && value >= least) return value;
    throw new InvalidArgumentError(`It must be a whole number${least > 0 ? ` of at least ${least}` : ''}.`);
  };
}

const command = new Command('npm run simulate --')
  .description(
    'Plays the scheduler in worlds where everything goes wrong, and checks what is promised after every step.',
  )
  .option('--runs <number>', 'random worlds to play', wholeNumber(1), 10_000)
  .option('--seed <number>', 'decides which; without it, others each time', wholeNumber(Number.MIN_SAFE_INTEGER))
  .addOption(new Option('--kind <kind>', 'only worlds of this kind').choices(Object.keys(PLANS)))
  .option('--path <path>', 'one world of a kind and seed again')
  .option('--keep-going', 'goes on after a world that fails, with the next two hundred, and tells all in the end')
  .option('--exhaustive', 'every crash, and every two crashes, of the small scenarios')
  .addOption(new Option('--scenario <name>', 'only this one of them').choices(SMALL_SCENARIOS.map(({ name }) => name)))
  .addOption(new Option('--mode <mode>', 'what is left to bring its runs to their end').choices(MODES))
  .option('--crashes <crashes>', 'these crashes of it alone')
  .option('--threads <number>', 'threads', wholeNumber(1), availableParallelism())
  .option('--json', 'the result as JSON')
  .addHelpText('after', EXAMPLES)
  .parse();

interface Values {
  readonly runs: number;
  readonly seed?: number;
  readonly kind?: PlanKind;
  readonly path?: string;
  readonly keepGoing?: true;
  readonly exhaustive?: true;
  readonly scenario?: string;
  readonly mode?: (typeof MODES)[number];
  readonly crashes?: string;
  readonly threads: number;
  readonly json?: true;
}

const values = command.opts<Values>();
const { runs, seed = Math.floor(Math.random() * 2 ** 31), threads, json = false } = values;

process.exitCode = values.exhaustive
  ? await runExhaustively({
      scenario: values.scenario,
      mode: values.mode,
      crashes: values.crashes === undefined ? undefined : crashesFromText(values.crashes),
      threads,
      json,
    })
  : await runCampaigns({
      runs,
      seed,
      kind: values.kind,
      path: values.path,
      keepsGoing: values.keepGoing === true,
      threads,
      json,
    });
