/** `millrace engines`: shows, registers, drains and removes engines. */
import type { Command } from 'commander';
import type { Engine, EngineLine } from '#client/index.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { type ListOptions, type ServerOptions, withListOptions, withServerOptions } from './list-options.ts';
import type { Screen } from './live-view.ts';
import { oneLine } from './one-line.ts';
import { collect, parseLabel, readInput, wholeNumberBetween } from './option-values.ts';
import type { Style } from './output.ts';
import { pageLines, printAnswer } from './printed-answers.ts';
import { slotLines } from './slot-lines.ts';
import { tableLines } from './table.ts';
import { ago } from './time-text.ts';

const DEFAULT_LIMIT = 50;

interface PutOptions extends ServerOptions {
  readonly arn: string;
  readonly maxConcurrent?: number;
  readonly heartbeatSeconds?: number;
  readonly label?: readonly string[];
  readonly paramsSchema?: string;
}

/** Adds `millrace engines` and what is below it. */
export function addEnginesCommand(program: Command, context: CliContext): void {
  const engines = addCommand(program, 'engines')
    .summary('show, register, drain or remove engines')
    .description('Shows the engines of a server; below it are the commands that register, drain and remove one.')
    .addHelpText(
      'after',
      `
Examples:
  millrace engines              all engines, as \`millrace engines show\`
  millrace engines spark        one of them, with who holds its slots`,
    );
  addShow(engines, context);
  addPut(engines, context);
  addDrain(engines, context);
  addRemove(engines, context);
}

function addShow(engines: Command, context: CliContext): void {
  const show = addCommand(engines, 'show [name]', { isDefault: true });
  withListOptions(show, DEFAULT_LIMIT)
    .summary('list engines, or show one')
    .description('Lists engines by name; with a NAME, shows that one, who holds its slots and who waits for it.')
    .addHelpText(
      'after',
      `
Examples:
  millrace engines show
  millrace engines show spark --json`,
    )
    .action(async (name: string | undefined, options: ListOptions) => {
      const { limit, cursor } = options;
      await (name === undefined
        ? printAnswer(context, options, ['listEngines', { query: { limit, cursor } }], pageLines(engineTable))
        : printAnswer(context, options, ['getEngine', { path: { name } }], engineLines));
      context.exit(EXIT.ok);
    });
}

function addPut(engines: Command, context: CliContext): void {
  withServerOptions(addCommand(engines, 'put <name>'))
    .summary('register an engine, or change it')
    .description(
      'Registers a state machine as an engine, or changes the one of that name. What is left out goes back to its default.',
    )
    .requiredOption('--arn <arn>', 'ARN of a STANDARD state machine of the server’s account and region')
    .option(
      '--max-concurrent <n>',
      'attempts that run on it at once, 1 to 1000 (default: no limit)',
      wholeNumberBetween(1, 1000),
    )
    .option('--label <key=value>', 'a label; may be given several times', (text, before?: readonly string[]) =>
      collect(parseLabel(text), before),
    )
    .option(
      '--heartbeat-seconds <n>',
      'how often its owner reports, 10 to 86400 (default: never)',
      wholeNumberBetween(10, 86_400),
    )
    .option('--params-schema <json>', 'JSON Schema of its nodes’ params, or @FILE (default: any)')
    .addHelpText(
      'after',
      `
Examples:
  millrace engines put spark --arn arn:aws:states:eu-central-1:111122223333:stateMachine:millrace-spark --max-concurrent 10
  millrace engines put spark --arn … --label team=data --heartbeat-seconds 60 --params-schema @params.schema.json`,
    )
    .action(async (name: string, options: PutOptions) => {
      await put(name, options, context);
      context.exit(EXIT.ok);
    });
}

async function put(name: string, options: PutOptions, context: CliContext): Promise<void> {
  const { arn, maxConcurrent, heartbeatSeconds, label, paramsSchema } = options;
  const body = {
    stateMachineArn: arn,
    ...(maxConcurrent !== undefined && { maxConcurrent }),
    ...(heartbeatSeconds !== undefined && { heartbeatSeconds }),
    ...(label && { labels: Object.fromEntries(label.map(splitLabel)) }),
    ...(paramsSchema !== undefined && { paramsSchema: await readInput(paramsSchema, context.cwd, '--params-schema') }),
  };
  await printAnswer(context, options, ['putEngine', { path: { name }, body }], inOneLine);
}

function inOneLine(engine: Engine, { style }: Screen): string[] {
  return [statusLine(engine, style)];
}

function splitLabel(label: string): [string, string] {
  const at = label.indexOf('=');
  return [label.slice(0, at), label.slice(at + 1)];
}

function addDrain(engines: Command, context: CliContext): void {
  withServerOptions(addCommand(engines, 'drain <name>'))
    .summary('let an engine take no new work')
    .description('Lets an engine take no new work until it is put again; what runs on it finishes.')
    .addHelpText('after', '\nExample:\n  millrace engines drain spark')
    .action(async (name: string, options: ServerOptions) => {
      await printAnswer(context, options, ['drainEngine', { path: { name } }], inOneLine);
      context.exit(EXIT.ok);
    });
}

function addRemove(engines: Command, context: CliContext): void {
  withServerOptions(addCommand(engines, 'remove <name>'))
    .summary('take an engine away')
    .description(
      'Takes an engine away; what runs on it finishes, and what waits for it waits for another one of its name.',
    )
    .addHelpText('after', '\nExample:\n  millrace engines remove spark')
    .action(async (name: string, options: ServerOptions) => {
      await printAnswer(context, options, ['removeEngine', { path: { name } }], (_nothing, { style }) => [
        `Engine ${style.bold(name)} is removed.`,
      ]);
      context.exit(EXIT.ok);
    });
}

/** The list of engines. */
export function engineTable(engines: readonly EngineLine[], { style, columns }: Screen): string[] {
  if (engines.length === 0) return ['No engines.'];
  return tableLines(
    [{ title: 'engine' }, { title: 'status' }, { title: 'running', align: 'right' }, { title: '' }],
    engines.map((engine) => [
      engine.name,
      { text: engine.status, paint: paintStatus(engine.status, style) },
      runningText(engine),
      engine.status === 'Available' ? aboutText(engine) : oneLine(engine.message),
    ]),
    { style, maxWidth: columns },
  );
}

function runningText({ running, maxConcurrent }: EngineLine): string {
  return maxConcurrent === undefined ? '' : `${running ?? 0} of ${maxConcurrent}`;
}

function aboutText({ builtIn, labels }: EngineLine): string {
  return builtIn ? 'built in' : oneLine(labelsText(labels));
}

function labelsText(labels: EngineLine['labels']): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ');
}

/** One engine in sentences, with who holds its slots. */
export function engineLines(engine: Engine, screen: Screen): string[] {
  const { builtIn, generation, stateMachineArn, labels, heartbeatSeconds, lastHeartbeatAt } = engine;
  const running = runningText(engine);
  return [
    statusLine(engine, screen.style),
    `  ${builtIn ? 'built in' : `generation ${generation}`}${running === '' ? '' : `, ${running} slots held`}`,
    ...(stateMachineArn === undefined ? [] : [`  state machine ${stateMachineArn}`]),
    ...(Object.keys(labels).length === 0 ? [] : [`  labels ${oneLine(labelsText(labels))}`]),
    ...(heartbeatSeconds === undefined
      ? []
      : [
          `  reports every ${heartbeatSeconds} s${lastHeartbeatAt === undefined ? '' : `, last ${ago(lastHeartbeatAt, screen.now)}`}`,
        ]),
    ...slotLines(engine, screen),
  ];
}

function statusLine({ name, status, message }: EngineLine, style: Style): string {
  return `Engine ${style.bold(name)} is ${paintStatus(status, style)(status)}: ${oneLine(message)}`;
}

function paintStatus(status: string, style: Style): (text: string) => string {
  if (status === 'Available') return style.green;
  return status === 'Draining' ? style.yellow : style.red;
}
