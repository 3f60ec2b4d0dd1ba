import { Command, Option } from 'commander';

/** What to measure, and how to show it. */
export interface BenchOptions {
  /** Names of benches. @default all but the long ones */
  readonly only?: readonly string[];
  /** Compares Millrace with its peers instead; all of them but the long ones, or those named. */
  readonly peers?: true | readonly string[];
  /** Keeps what the comparison gave, and draws it. */
  readonly save: boolean;
  /** One JSON document instead of a table. */
  readonly json: boolean;
}

/** Reads the command line. `--help`, and anything that it does not understand, end the process. */
export function readOptions(argv: readonly string[], names: readonly string[], peers: readonly string[]): BenchOptions {
  const command = new Command('npm run bench --')
    .description('Measures Millrace on the development host; bench/README.md says what each figure is.')
    .addOption(new Option('--only <names...>', 'only these benches').choices(names))
    .addOption(
      new Option('--peers [names...]', 'the same DAGs on Millrace and on other products, installed where missing')
        .choices(peers)
        .conflicts('only'),
    )
    .option('--save', 'with --peers: write bench/peers/last.json and docs/pictures/peers.svg', false)
    .option('--json', 'one JSON document on standard output instead of a table', false)
    .allowExcessArguments(false)
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
  return command.parse(argv, { from: 'user' }).opts<BenchOptions>();
}
