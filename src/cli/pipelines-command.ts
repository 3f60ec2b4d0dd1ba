import { type Command, Option } from 'commander';
import type { Pipeline, PipelineLine } from '#client/index.ts';
import { backfillLine } from './backfill-command.ts';
import { CliError } from './cli-error.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { counted } from './counts-text.ts';
import { EXIT } from './exit-codes.ts';
import { type ListOptions, withListOptions } from './list-options.ts';
import type { Screen } from './live-view.ts';
import { oneLine } from './one-line.ts';
import { pageLines, printAnswer } from './printed-answers.ts';
import { tableLines } from './table.ts';
import { ago, localTime } from './time-text.ts';

const DEFAULT_LIMIT = 50;

/** Adds `millrace pipelines`. */
export function addPipelinesCommand(program: Command, context: CliContext): void {
  withListOptions(addCommand(program, 'pipelines [name]'), DEFAULT_LIMIT)
    .summary('list, show, pause, resume or delete pipelines')
    .description(
      'Lists the pipelines of a server by name; with a NAME, shows that one, whether it is ready and when it runs next.',
    )
    .addOption(
      new Option('--pause', 'its schedule and events start nothing until it is resumed').conflicts([
        'resume',
        'delete',
      ]),
    )
    .addOption(new Option('--resume', 'goes on after a pause').conflicts(['delete']))
    .option('--delete', 'delete it')
    .option('--force', 'with --delete: stop and remove its active runs first')
    .addHelpText(
      'after',
      `
Examples:
  millrace pipelines
  millrace pipelines etl --json
  millrace pipelines etl --pause
  millrace pipelines etl --delete --force`,
    )
    .action(async (name: string | undefined, options: PipelinesOptions) => {
      if (name !== undefined) await (options.delete ? remove(name, options, context) : show(name, options, context));
      else if (orderOf(options) === undefined && !options.delete) await list(options, context);
      else throw new CliError('USAGE', 'pipelines takes a NAME with --pause, --resume or --delete.');
      context.exit(EXIT.ok);
    });
}

interface PipelinesOptions extends ListOptions {
  readonly pause?: true;
  readonly resume?: true;
  readonly delete?: true;
  readonly force?: true;
}

function orderOf({ pause, resume }: PipelinesOptions): 'pause' | 'resume' | undefined {
  if (pause) return 'pause';
  return resume ? 'resume' : undefined;
}

function remove(name: string, options: PipelinesOptions, context: CliContext): Promise<void> {
  const call = ['deletePipeline', { path: { name }, query: { force: options.force } }] as const;
  return printAnswer(context, options, call, (_nothing, { style }) => [
    `Pipeline ${style.bold(oneLine(name))} is deleted.`,
  ]);
}

function list(options: ListOptions, context: CliContext): Promise<void> {
  const { limit, cursor } = options;
  return printAnswer(context, options, ['listPipelines', { query: { limit, cursor } }], pageLines(pipelineTable));
}

/** Shows a pipeline, after what was ordered of it. */
function show(name: string, options: PipelinesOptions, context: CliContext): Promise<void> {
  const order = orderOf(options);
  const id = order === undefined ? 'getPipeline' : (`${order}Pipeline` as const);
  return printAnswer(context, options, [id, { path: { name } }], pipelineLines);
}

/** The list of pipelines. */
export function pipelineTable(pipelines: readonly PipelineLine[], { style, columns, now }: Screen): string[] {
  if (pipelines.length === 0) return ['No pipelines. `millrace run FILE --url …` puts one and runs it.'];
  return tableLines(
    [{ title: 'pipeline' }, { title: 'revision' }, { title: 'changed' }, { title: 'made' }, { title: '' }],
    pipelines.map(({ name, revision, updatedAt, createdAt, paused, conditions }) => {
      const unready = conditions.filter(({ status }) => status !== 'True').map(({ reason }) => reason);
      const notes = [...(paused ? ['paused'] : []), ...unready];
      return [
        name,
        revision,
        ago(updatedAt, now),
        ago(createdAt, now),
        notes.length > 0 ? { text: notes.join(', '), paint: style.yellow } : '',
      ];
    }),
    { style, maxWidth: columns },
  );
}

/** One pipeline in sentences. */
export function pipelineLines(pipeline: Pipeline, { style, now }: Screen): string[] {
  const { name, revision, updatedAt, paused, pausedBy, definition, conditions } = pipeline;
  const edges = definition.nodes.reduce((sum, { dependsOn = [] }) => sum + dependsOn.length, 0);
  const engines = [...new Set(definition.nodes.map(({ engine = 'lambda' }) => engine))].sort();
  return [
    `${style.bold(name)}  revision ${revision}${paused ? style.yellow(`  paused${pausedBy === undefined ? '' : ` by ${oneLine(pausedBy)}`}`) : ''}`,
    ...(definition.description === undefined ? [] : [`  ${oneLine(definition.description)}`]),
    `  ${counted(definition.nodes.length, 'node')}, ${counted(edges, 'edge')}, ${engines.length === 1 ? 'engine' : 'engines'} ${engines.join(', ')}`,
    `  changed ${ago(updatedAt, now)} (${localTime(updatedAt)})`,
    ...conditions.map(({ type, status, reason, message }) => {
      const paint = status === 'True' ? style.green : style.yellow;
      return `  ${paint(`${type}=${status}`)} (${reason}): ${oneLine(message)}`;
    }),
    ...(pipeline.nextInstants ?? []).map(({ entry, instant }) => `  next ${localTime(instant)} (${oneLine(entry)})`),
    ...(pipeline.rejectedStarts ?? []).map(({ entry, instant, message }) => {
      return style.yellow(`  refused ${localTime(instant)} (${oneLine(entry)}): ${oneLine(message)}`);
    }),
    ...(pipeline.backfills ?? []).map((backfill) => `  ${backfillLine(backfill)}`),
  ];
}
