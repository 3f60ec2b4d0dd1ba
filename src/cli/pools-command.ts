/** `millrace pools`: shows pools, and gives them their number of slots. */
import type { Command } from 'commander';
import { createApiClient } from './api-client.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { counted } from './counts-text.ts';
import { type PoolShape, poolShape } from './engine-shapes.ts';
import { EXIT } from './exit-codes.ts';
import { type ListOptions, type ServerOptions, withListOptions, withServerOptions } from './list-options.ts';
import type { Screen } from './live-view.ts';
import { withQuery } from './millrace-api.ts';
import { wholeNumberBetween } from './option-values.ts';
import type { Style } from './output.ts';
import { printOne, printPage } from './printed-answers.ts';
import { serverUrl } from './server-url.ts';
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
        ? printPage(
            { path: withQuery('/v1/pools', { limit, cursor }), shape: poolShape, lines: poolTable },
            options,
            context,
          )
        : printOne({ path: poolPath(name), shape: poolShape, lines: poolLines }, options, context));
      context.exit(EXIT.ok);
    });
}

function addPut(pools: Command, context: CliContext): void {
  withServerOptions(addCommand(pools, 'put <name>'))
    .summary('make a pool, or set its slots')
    .description('Makes a pool, or changes its number of slots. Fewer slots stop nobody; with 0 nothing begins.')
    .requiredOption('--slots <n>', 'attempts that run with it at once, 0 to 1000', wholeNumberBetween(0, 1000))
    .addHelpText('after', '\nExample:\n  millrace pools put warehouse --slots 5')
    .action(async (name: string, { url, json, slots }: PutOptions) => {
      const { output, env } = context;
      const api = createApiClient(serverUrl(url, env));
      const { text, value } = await api.send({ method: 'PUT', path: poolPath(name), body: { slots } });
      output.line(json ? text : headLine(poolShape.parse(value), output.style));
      context.exit(EXIT.ok);
    });
}

function poolPath(name: string): string {
  return `/v1/pools/${encodeURIComponent(name)}`;
}

/** The list of pools. */
export function poolTable(pools: readonly PoolShape[], { style, columns }: Screen): string[] {
  if (pools.length === 0) return ['No pools. `millrace pools put NAME --slots N` makes one.'];
  return tableLines(
    [{ title: 'pool' }, { title: 'held', align: 'right' }, { title: 'slots', align: 'right' }],
    pools.map(({ name, slots, held }) => [name, String(held), String(slots)]),
    { style, maxWidth: columns },
  );
}

/** One pool, with who holds its slots. */
export function poolLines(pool: PoolShape, screen: Screen): string[] {
  return [headLine(pool, screen.style), ...slotLines(pool, screen)];
}

function headLine({ name, slots, held }: PoolShape, style: Style): string {
  return `Pool ${style.bold(name)} has ${counted(slots, 'slot')}; ${held} held.`;
}
