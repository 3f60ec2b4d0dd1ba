/** `millrace pools`: shows pools, and gives them their number of slots. */
import type { Command } from 'commander';
import type { Pool, PoolLine } from '#client/index.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { counted } from './counts-text.ts';
import { EXIT } from './exit-codes.ts';
import { type ListOptions, type ServerOptions, withListOptions, withServerOptions } from './list-options.ts';
import type { Screen } from './live-view.ts';
import { wholeNumberBetween } from './option-values.ts';
import type { Style } from './output.ts';
import { pageLines, printAnswer } from './printed-answers.ts';
import { slotLines } from './slot-lines.ts';
import { tableLines } from './table.ts';

const DEFAULT_LIMIT = 50;

interface PutOptions extends ServerOptions {
  readonly slots: number;
}

/** Adds `millrace pools` and what is below it. */
export function addPoolsCommand(program: Command, context: CliContext): void {
  const pools = addCommand(program, 'pools')
    .summary('show pools, or set their slots')
    .description('Shows the pools of a server: numbers of slots that nodes of any pipeline share. `put` sets one.')
    .addHelpText(
      'after',
      `
Examples:
  millrace pools                all pools, as \`millrace pools show\`
  millrace pools warehouse      one of them, with who holds its slots`,
    );
  addShow(pools, context);
  addPut(pools, context);
}

function addShow(pools: Command, context: CliContext): void {
  const show = addCommand(pools, 'show [name]', { isDefault: true });
  withListOptions(show, DEFAULT_LIMIT)
    .summary('list pools, or show one')
    .description('Lists pools by name; with a NAME, shows that one, who holds its slots and who waits for them.')
    .addHelpText(
      'after',
      `
Examples:
  millrace pools show
  millrace pools show warehouse --json`,
    )
    .action(async (name: string | undefined, options: ListOptions) => {
      const { limit, cursor } = options;
      await (name === undefined
        ? printAnswer(context, options, ['listPools', { query: { limit, cursor } }], pageLines(poolTable))
        : printAnswer(context, options, ['getPool', { path: { name } }], poolLines));
      context.exit(EXIT.ok);
    });
}

function addPut(pools: Command, context: CliContext): void {
  withServerOptions(addCommand(pools, 'put <name>'))
    .summary('make a pool, or set its slots')
    .description('Makes a pool, or changes its number of slots. Fewer slots stop nobody; with 0 nothing begins.')
    .requiredOption('--slots <n>', 'attempts that run with it at once, 0 to 1000', wholeNumberBetween(0, 1000))
    .addHelpText('after', '\nExample:\n  millrace pools put warehouse --slots 5')
    .action(async (name: string, options: PutOptions) => {
      const body = { slots: options.slots };
      await printAnswer(context, options, ['putPool', { path: { name }, body }], (pool, { style }) => [
        headLine(pool, style),
      ]);
      context.exit(EXIT.ok);
    });
}

/** The list of pools. */
export function poolTable(pools: readonly PoolLine[], { style, columns }: Screen): string[] {
  if (pools.length === 0) return ['No pools. `millrace pools put NAME --slots N` makes one.'];
  return tableLines(
    [{ title: 'pool' }, { title: 'held', align: 'right' }, { title: 'slots', align: 'right' }],
    pools.map(({ name, slots, held }) => [name, String(held), String(slots)]),
    { style, maxWidth: columns },
  );
}

/** One pool, with who holds its slots. */
export function poolLines(pool: Pool, screen: Screen): string[] {
  return [headLine(pool, screen.style), ...slotLines(pool, screen)];
}

function headLine({ name, slots, held }: PoolLine, style: Style): string {
  return `Pool ${style.bold(name)} has ${counted(slots, 'slot')}; ${held} held.`;
}
