import { once } from 'node:events';
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { CliError } from './cli-error.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { chaosLine } from './cost-lines.ts';
import { type HostSettings, openHost } from './embedded-host.ts';
import { EXIT } from './exit-codes.ts';
import { type Interrupts, listenForInterrupts } from './interrupts.ts';
import { DEFAULT_TICK, parsePort, parseSeed, parseTick } from './option-values.ts';
import { chaosFigures } from './run-counters.ts';
import { duration } from './time-text.ts';

interface DevOptions {
  readonly port: number;
  readonly data: string;
  readonly tick: number;
  readonly functions?: string;
  readonly app?: string;
  readonly chaos?: string;
  readonly seed?: number;
  readonly json?: true;
}

/** Adds `millrace dev`. */
export function addDevCommand(program: Command, context: CliContext): void {
  addCommand(program, 'dev')
    .summary('run the development host: the whole installation on this machine')
    .description(
      'Synthesizes the CDK app and hosts its template on this machine: tables, queues, buses, state machines, functions and the ' +
        'HTTP API. What it knows is on disk, and goes on at the next start.',
    )
    .option('--port <port>', 'port of the HTTP API on 127.0.0.1; 0 takes a free one', parsePort, 8787)
    .option('--data <dir>', 'folder for all state', '.millrace')
    .addOption(
      new Option('--tick <time>', 'time between two ticks of the scheduler')
        .argParser(parseTick)
        .default(DEFAULT_TICK.seconds, DEFAULT_TICK.text),
    )
    .option('--functions <dir>', 'folder of the functions that nodes call: NAME.ts or NAME/index.ts')
    .option('--app <command>', 'command of the CDK app to synthesize (default: an app with nothing but Millrace)')
    .option('--chaos <spec>', 'troubles to make, see below')
    .option('--seed <n>', 'makes --chaos choose the same again', parseSeed)
    .option('--json', 'print one JSON line when ready: {url, wsUrl, data, pid}')
    .addHelpText(
      'after',
      `
Chaos is a list with commas; P is a chance from 0 to 1:
  drop-events=P  repeat-events=P  delay-events=500ms  kill=FUNCTION:P  throttle=API:P

Examples:
  millrace dev --functions examples/retry/functions
  millrace dev --port 0 --json
  millrace dev --chaos drop-events=1 --tick 1s
  millrace dev --chaos kill=scheduler:0.3,kill=api:0.2 --seed 7

Ctrl-C ends it; a second one leaves at once.`,
    )
    .action(async (options: DevOptions) => {
      context.exit(await dev(options, context));
    });
}

async function dev(options: DevOptions, context: CliContext): Promise<number> {
  const { output, now } = context;
  const interrupts = listenForInterrupts();
  const begun = now();
  const { host, dataDir } = await openHost(settingsOf(options, context)).catch((error: unknown) => {
    throw interrupts.happened ? new CliError('INTERRUPTED', 'stopped.', { exitCode: EXIT.interrupted }) : error;
  });
  if (options.json) {
    output.line(JSON.stringify({ url: host.url, wsUrl: host.wsUrl, data: dataDir, pid: process.pid }));
  } else {
    const { bold, dim } = output.style;
    output.line(`${bold('Millrace')} is ready at ${bold(host.url)}  ${dim(`after ${duration(now() - begun)}`)}`);
    output.line(dim(`  state in ${dataDir}; Ctrl-C ends it, and what is unfinished goes on at the next start`));
  }
  await interrupted(interrupts);
  if (!options.json) output.line('Ending …');
  await host.close();
  if (host.chaos !== undefined) {
    const figures = chaosFigures(host.chaos);
    output.line(options.json ? JSON.stringify({ chaos: figures }) : chaosLine(figures));
  }
  interrupts.release();
  return EXIT.ok;
}

async function interrupted({ signal }: Interrupts): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

function settingsOf(options: DevOptions, { cwd, output }: CliContext): HostSettings {
  const { port, tick, functions, app, chaos, seed } = options;
  return {
    port,
    dataDir: resolve(cwd, options.data),
    tickSeconds: tick,
    log: (line) => output.error(line),
    ...(functions !== undefined && { functionsDir: resolve(cwd, functions) }),
    ...(app !== undefined && { app: { command: app, cwd } }),
    ...(chaos !== undefined && { chaos }),
    ...(seed !== undefined && { seed }),
  };
}
