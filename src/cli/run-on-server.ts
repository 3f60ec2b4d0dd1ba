import type { PipelineDefinition } from '#authoring/index.ts';
import {
  isProblem,
  isRunOver,
  type MillraceClient,
  type Pipeline,
  type Run,
  type StartRequest,
} from '#client/index.ts';
import type { Json } from '#domain/json.ts';
import { CliError } from './cli-error.ts';
import { connect } from './connect.ts';
import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { followRun } from './follow-run.ts';
import { listenForInterrupts } from './interrupts.ts';
import { blankPicture, mapsOf } from './run-picture.ts';
import { createProgress, screenOf } from './run-progress.ts';
import { startedText, summaryLines } from './run-summary.ts';
import { toCliError } from './server-error.ts';

/** A run on a server that lives longer than the command. */
export interface ServerRun {
  /** Put first, where there is one. */
  readonly definition: PipelineDefinition | undefined;
  readonly name: string;
  readonly input: Json | undefined;
  readonly only: readonly string[] | undefined;
  readonly reuse: string | undefined;
  readonly json: boolean;
  readonly url: string | undefined;
  /** Whether to wait for its end. */
  readonly wait: boolean;
}

/** Time between two looks at the run, in milliseconds. */
const LOOK_EVERY_MS = 1000;

/** Starts a run on a server, and waits for its end if asked to. */
export async function runOnServer(job: ServerRun, context: CliContext): Promise<number> {
  const { definition, name, json, wait, url } = job;
  const { output, env } = context;
  const client = connect(url === undefined ? {} : { url }, env);
  try {
    const pipeline = await (definition === undefined
      ? client.pipelines.get(name)
      : client.pipelines.put(name, definition));
    const { text, value: run } = await client.call('startRun', { path: { name }, body: startOf(job) });
    if (wait) return await follow(client, pipeline, run, job, context);
    output.line(json ? text : startedText(run, output.style));
    return EXIT.ok;
  } catch (error) {
    // Which pipeline to run is said on the command line, so a wrong name is wrong usage here.
    if (!isProblem(error, 'PIPELINE_NOT_FOUND')) throw error;
    const { code, message, next } = toCliError(error);
    throw new CliError(code, message, { ...(next !== undefined && { next }), cause: error });
  }
}

/** What a start says. */
export function startOf({ input, only, reuse }: Pick<ServerRun, 'input' | 'only' | 'reuse'>): StartRequest {
  return { input, only, ...(reuse !== undefined && { reuse: { runId: reuse } }) };
}

async function follow(
  client: MillraceClient,
  pipeline: Pipeline,
  started: Run,
  { json }: ServerRun,
  context: CliContext,
): Promise<number> {
  const { output } = context;
  const definedNodes = pipeline.definition.nodes;
  const interrupts = listenForInterrupts();
  const progress = json ? undefined : createProgress(blankPicture(definedNodes, started.createdAt), context);
  if (!json) output.line(`${output.style.bold(started.pipeline)}: run ${started.id} on ${client.url}`);
  const run = await followRun(client, started.id, {
    everyMs: LOOK_EVERY_MS,
    history: progress?.history ?? false,
    maps: mapsOf(definedNodes),
    onLook: (...seen) => progress?.look(...seen),
    signal: interrupts.signal,
  }).finally(() => progress?.end());
  interrupts.release();
  if (!isRunOver(run)) {
    output.error(`The run goes on without this command; \`millrace stop ${run.id}\` stops it.`);
    return EXIT.interrupted;
  }
  const nodes = await client.nodes.list(run.id, { limit: 1000 }).all();
  if (json) {
    output.line(JSON.stringify({ ...run, nodes }, null, 2));
  } else {
    const upstreams = new Map(definedNodes.map(({ id, dependsOn = [] }) => [id, dependsOn]));
    const shown = { screen: screenOf(context), counters: undefined };
    for (const line of summaryLines(run, nodes, upstreams, shown)) output.line(line);
  }
  return run.state === 'SUCCEEDED' ? EXIT.ok : EXIT.failed;
}
