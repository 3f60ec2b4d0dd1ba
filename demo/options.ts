import { Command, InvalidArgumentError } from 'commander';

/** What the demo was asked to do. */
export interface DemoOptions {
  /** Folder for the state of the host, the parts and the report. @default a new temporary folder */
  readonly data?: string;
  /** Three million flights of half a year instead of twenty thousand of a quarter. */
  readonly large: boolean;
  /** Share of late flights above which the `alert` node runs. */
  readonly limit: number;
  /** Troubles for the host to make, as `millrace dev --chaos` takes them. @default none */
  readonly chaos?: string;
  /** Seconds from one tick of the host to the next. @default that of the template, 60 */
  readonly tick?: number;
  /** Makes `chaos` choose the same again. @default random */
  readonly seed?: number;
}

/** Reads the command line. `--help`, and anything that it does not understand, end the process. */
export function readOptions(argv: readonly string[]): DemoOptions {
  const command = new Command('npm run demo --')
    .description(
      'Runs the flight delays pipeline on the development host: synthesizes the CDK app, hosts its template, puts and ' +
        'starts the pipeline over HTTP, shows each node as it goes, and checks the figures against the source.',
    )
    .option('--large', 'three million flights (flights-3m.parquet) instead of 20,000')
    .option('--limit <share>', 'share of late flights above which the alert node runs, 0 to 1', parseShare, 0.2)
    .option('--data <dir>', 'folder for the state and the report (default: a new temporary folder)')
    .option('--chaos <spec>', 'troubles for the host to make, like kill=scheduler:0.3,repeat-events=1')
    .option('--tick <seconds>', 'seconds from one tick to the next (default: 60)', parseTick)
    .option('--seed <n>', 'makes --chaos choose the same again', parseSeed)
    .addHelpText('after', '\nExit codes: 0 right figures, 1 the run failed or a figure is wrong, 2 wrong usage.')
    .allowExcessArguments(false)
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
  return { large: false, ...command.parse(argv, { from: 'user' }).opts<Partial<DemoOptions> & { limit: number }>() };
}

function parseShare(text: string): number {
  const share = Number(text);
  if (text.trim() === '' || !(share >= 0 && share <= 1))
    throw new InvalidArgumentError('A number from 0 to 1 is right.');
  return share;
}

function parseTick(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= 0.1 && seconds <= 3600)) throw new InvalidArgumentError('A number from 0.1 to 3600 is right.');
  return seconds;
}

function parseSeed(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('A whole number from 0 to 999999999 is right.');
  return Number(text);
}
