import { type Command, Option } from 'commander';
import type { Backfill, BackfillPlan } from '#client/index.ts';
import { MAX_BACKFILL_RUNS } from '#domain/backfill.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { counted } from './counts-text.ts';
import { EXIT } from './exit-codes.ts';
import { type ServerOptions, withServerOptions } from './list-options.ts';
import { oneLine } from './one-line.ts';
import { wholeNumberBetween } from './option-values.ts';
import { printAnswer } from './printed-answers.ts';

interface BackfillOptions extends ServerOptions {
  readonly from: string;
  readonly to: string;
  readonly maxActiveRuns: number;
  readonly direction: 'forward' | 'backward';
  readonly dryRun?: true;
}

/** Adds `millrace backfill`. */
export function addBackfillCommand(program: Command, context: CliContext): void {
  withServerOptions(addCommand(program, 'backfill <name>'))
    .summary('run the instants of a schedule in a range of time')
    .description(
      'Runs the instants of a schedule that lie between two times, both included. A range that is asked for again goes on.',
    )
    .requiredOption('--from <time>', 'first instant that may be in it, ISO 8601 with an offset')
    .requiredOption('--to <time>', 'last instant that may be in it; not in the future')
    .option('--max-active-runs <n>', 'its runs at once', wholeNumberBetween(1, MAX_BACKFILL_RUNS), 1)
    .addOption(
      new Option('--direction <direction>', 'the oldest or the newest instant first')
        .choices(['forward', 'backward'])
        .default('forward'),
    )
    .option('--dry-run', 'only say which instants there are')
    .addHelpText(
      'after',
      `
Examples:
  millrace backfill etl --from 2026-11-01T00:00:00Z --to 2026-11-30T00:00:00Z --dry-run
  millrace backfill etl --from 2026-11-01T00:00:00+01:00 --to 2026-11-30T00:00:00+01:00 --max-active-runs 4`,
    )
    .action(async (name: string, options: BackfillOptions) => {
      const { from, to, maxActiveRuns, direction, dryRun } = options;
      const body = { from, to, maxActiveRuns, direction, ...(dryRun && { dryRun }) };
      await printAnswer(context, options, ['startBackfill', { path: { name }, body }], (answer) =>
        'instants' in answer ? planLines(answer) : [backfillLine(answer)],
      );
      context.exit(EXIT.ok);
    });
}

/** A backfill in one line. */
export function backfillLine({ id, from, to, direction, maxActiveRuns, total, started }: Backfill): string {
  const range = `${from} to ${to}`;
  return `backfill ${id}: ${started} of ${counted(total, 'run')} started, ${range}, ${direction}, ${maxActiveRuns} at once`;
}

/** The instants of a dry run. */
export function planLines({ instants }: BackfillPlan): string[] {
  if (instants.length === 0) return ['No instant lies in this range.'];
  return [
    `${counted(instants.length, 'run')} would be started:`,
    ...instants.map(({ entry, instant }) => `  ${instant} (${oneLine(entry)})`),
  ];
}
