/**
 * How long a hop takes on AWS, computed from published latencies: nothing is measured here. `node bench/latency-model.ts
 * --help` says how to change what it is computed from.
 */
import { Command, InvalidArgumentError } from 'commander';
import type { Bench, Figure } from './bench.ts';
import { changeInputs, DEFAULT_INPUTS, type Inputs } from './latency/inputs.ts';
import { pathsOf } from './latency/paths.ts';
import { inputsText, toText } from './latency/report.ts';
import { type Simulated, simulate } from './latency/simulate.ts';
import { UsageError } from './latency/usage-error.ts';

const SAMPLES = 100_000;
const SEED = 7;

/** The hop by the default inputs. */
export const latencyModel: Bench = {
  name: 'latency-model',
  title: 'end of an execution to the first line of its downstream on AWS, from published latencies',
  async run() {
    return pathsOf(DEFAULT_INPUTS).flatMap((path) => figuresOf(simulate(path, SAMPLES, SEED)));
  },
};

function figuresOf({ path, total, stages }: Simulated): Figure[] {
  const figure = (what: string, value: number, decimals = 0): Figure => ({ what, values: [value], decimals });
  return [
    figure(`${path}: hop, median, ms`, total.p50),
    figure(`${path}: hop, 95 of 100, ms`, total.p95),
    figure(`${path}: hop, 99 of 100, ms`, total.p99),
    ...stages.map(({ name, share }) => figure(`${path}: share of ${name}, %`, share * 100, 1)),
  ];
}

function readNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1)
    throw new InvalidArgumentError('It has to be a whole number from 1 on.');
  return value;
}

function main(argv: readonly string[]): void {
  const command = new Command('node bench/latency-model.ts')
    .description('Computes how long a hop takes on AWS from latencies that others published.')
    .option('--set <name=value...>', 'change inputs, such as eventbridge.p50=60 scheduler.memory=1769', [])
    .option('--samples <count>', 'hops that are drawn', readNumber, SAMPLES)
    .option('--seed <number>', 'another one draws others', readNumber, SEED)
    .option('--inputs', 'also print the inputs, with where they come from', false)
    .option('--json', 'one JSON document on standard output', false)
    .addHelpText('after', () => `\nInputs:\n${inputsText(DEFAULT_INPUTS)}`)
    .allowExcessArguments(false);
  const options = command.parse([...argv], { from: 'user' }).opts<{
    set: string[];
    samples: number;
    seed: number;
    inputs: boolean;
    json: boolean;
  }>();
  const inputs = changed(options.set, command);
  const simulated = pathsOf(inputs).map((path) => simulate(path, options.samples, options.seed));
  const text = options.json
    ? JSON.stringify({ inputs: Object.fromEntries(inputs), hops: simulated }, undefined, 2)
    : [toText(simulated), ...(options.inputs ? [inputsText(inputs)] : [])].join('\n\n');
  process.stdout.write(`${text}\n`);
}

/** The inputs as the command line wants them; what it cannot want ends the process. */
function changed(changes: readonly string[], command: Command): Inputs {
  try {
    return changeInputs(DEFAULT_INPUTS, changes);
  } catch (error) {
    if (error instanceof UsageError) command.error(`error: ${error.message}`, { exitCode: 2 });
    throw error;
  }
}

if (import.meta.main) main(process.argv.slice(2));
