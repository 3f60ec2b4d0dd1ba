import type { Command } from 'commander';
import { createApiClient } from './api-client.ts';
import {
  type PipelineLineShape,
  type PipelineShape,
  pageShape,
  pipelineLineShape,
  pipelineShape,
} from './api-shapes.ts';
import { addCommand } from './command-line.ts';
import type { CliContext } from './context.ts';
import { counted } from './counts-text.ts';
import { EXIT } from './exit-codes.ts';
import { type ListOptions, moreLine, withListOptions } from './list-options.ts';
import type { Screen } from './live-view.ts';
import { pipelinePath, withQuery } from './millrace-api.ts';
import { oneLine } from './one-line.ts';
import { screenOf } from './run-progress.ts';
import { serverUrl } from './server-url.ts';
import { tableLines } from './table.ts';
import { ago, localTime } from './time-text.ts';

const DEFAULT_LIMIT = 50;

/** Adds `millrace pipelines`. */
export function addPipelinesCommand(program: Command, context: CliContext): void {
  withListOptions(addCommand(program, 'pipelines [name]'), DEFAULT_LIMIT)
    .summary('list pipelines, or show one')
    .description('Lists the pipelines of a server by name; with a NAME, shows that one and whether it is ready.')
    .addHelpText(
      'after',
      `
Examples:
  millrace pipelines
  millrace pipelines etl --json`,
    )
    .action(async (name: string | undefined, options: ListOptions) => {
      await (name === undefined ? list(options, context) : show(name, options, context));
      context.exit(EXIT.ok);
    });
}

async function list({ url, json, limit, cursor }: ListOptions, context: CliContext): Promise<void> {
  const { output, env } = context;
  const api = createApiClient(serverUrl(url, env));
  const path = withQuery('/v1/pipelines', { limit, cursor });
  if (json) return output.line((await api.send({ path })).text);
  const { items, nextCursor } = await api.read(pageShape(pipelineLineShape), { path });
  for (const line of [...pipelineTable(items, screenOf(context)), ...moreLine(nextCursor)]) output.line(line);
}

async function show(name: string, { url, json }: ListOptions, context: CliContext): Promise<void> {
  const { output, env } = context;
  const api = createApiClient(serverUrl(url, env));
  const path = pipelinePath(name);
  if (json) return output.line((await api.send({ path })).text);
  for (const line of pipelineLines(await api.read(pipelineShape, { path }), screenOf(context))) output.line(line);
}

/** The list of pipelines. */
export function pipelineTable(pipelines: readonly PipelineLineShape[], { style, columns, now }: Screen): string[] {
  if (pipelines.length === 0) return ['No pipelines. `millrace run FILE --url …` puts one and runs it.'];
  return tableLines(
    [{ title: 'pipeline' }, { title: 'revision' }, { title: 'changed' }, { title: 'made' }, { title: '' }],
    pipelines.map(({ name, revision, updatedAt, createdAt, paused }) => [
      name,
      revision,
      ago(updatedAt, now),
      ago(createdAt, now),
      paused ? { text: 'paused', paint: style.yellow } : '',
    ]),
    { style, maxWidth: columns },
  );
}

/** One pipeline in sentences. */
export function pipelineLines(pipeline: PipelineShape, { style, now }: Screen): string[] {
  const { name, revision, updatedAt, paused, definition, conditions } = pipeline;
  const edges = definition.nodes.reduce((sum, { dependsOn }) => sum + dependsOn.length, 0);
  const engines = [...new Set(definition.nodes.map(({ engine = 'lambda' }) => engine))].sort();
  return [
    `${style.bold(name)}  revision ${revision}${paused ? style.yellow('  paused') : ''}`,
    ...(definition.description === undefined ? [] : [`  ${oneLine(definition.description)}`]),
    `  ${counted(definition.nodes.length, 'node')}, ${counted(edges, 'edge')}, ${engines.length === 1 ? 'engine' : 'engines'} ${engines.join(', ')}`,
    `  changed ${ago(updatedAt, now)} (${localTime(updatedAt)})`,
    ...conditions.map(({ type, status, reason, message }) => {
      const paint = status === 'True' ? style.green : style.yellow;
      return `  ${paint(`${type}=${status}`)} (${reason}): ${oneLine(message)}`;
    }),
  ];
}
