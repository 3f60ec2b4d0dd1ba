import { z } from 'zod';
import type { PipelineDefinition } from '#authoring/index.ts';
import type { Json } from '#domain/json.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import type { PipelineShape, RunShape } from './api-shapes.ts';
import { CliError } from './cli-error.ts';
import type { CliContext } from './context.ts';
import { EXIT } from './exit-codes.ts';
import { followRun } from './follow-run.ts';
import { listenForInterrupts } from './interrupts.ts';
import { putPipeline, readNodes, readPipeline, startRun } from './millrace-api.ts';
import { blankPicture, mapsOf } from './run-picture.ts';
import { createProgress, screenOf } from './run-progress.ts';
import { startedText, summaryLines } from './run-summary.ts';
import { isRunEnded } from './state-style.ts';

/** A run on a server that lives longer than the command. */
export interface ServerRun {
  /** Put first, where there is one. */
  readonly definition: PipelineDefinition | undefined;
  readonly name: string;
  readonly input: Json | undefined;
  readonly only: readonly string[] | undefined;
  readonly reuse: string | undefined;
  /** The idempotency key of its start. */
  readonly key: string;
  readonly json: boolean;
  readonly url: string;
  /** Whether to wait for its end. */
  readonly wait: boolean;
}

/** Time between two looks at the run, in milliseconds. */
const LOOK_EVERY_MS = 1000;

/** Starts a run on a server, and waits for its end if asked to. */
export async function runOnServer(job: ServerRun, context: CliContext): Promise<number> {
  const { definition, name, json, wait } = job;
  const { output } = context;
  const api = createApiClient(job.url);
  try {
    const pipeline = definition === undefined ? await readPipeline(api, name) : await putPipeline(api, definition);
    const { answer, run } = await startRun(api, name, job, job.key);
    if (wait) return await follow(api, pipeline, run, job, context);
    output.line(json ? answer.text : startedText(run, output.style));
    return EXIT.ok;
  } catch (error) {
    // Which pipeline to run is said on the command line, so a wrong name is wrong usage here.
    if (!(error instanceof CliError) || error.code !== 'PIPELINE_NOT_FOUND') throw error;
    throw new CliError(error.code, error.message, {
      ...(error.next !== undefined && { next: error.next }),
      cause: error,
    });
  }
}

async function follow(
  api: ApiClient,
  pipeline: PipelineShape,
  started: RunShape,
  { json }: ServerRun,
  context: CliContext,
): Promise<number> {
  const { output } = context;
  const definedNodes = pipeline.definition.nodes;
  const interrupts = listenForInterrupts();
  const progress = json ? undefined : createProgress(blankPicture(definedNodes, started.createdAt), context);
  if (!json) output.line(`${output.style.bold(started.pipeline)}: run ${started.id} on ${api.url}`);
  const { value, run } = await followRun(api, started.id, {
    everyMs: LOOK_EVERY_MS,
    history: progress?.history ?? false,
    maps: mapsOf(definedNodes),
    onLook: (...seen) => progress?.look(...seen),
    signal: interrupts.signal,
  });
  progress?.end();
  interrupts.release();
  if (!isRunEnded(run.state)) {
    output.error(`The run goes on without this command; \`millrace stop ${run.id}\` stops it.`);
    return EXIT.interrupted;
  }
  const { values, nodes } = await readNodes(api, run.id);
  if (json) {
    output.line(JSON.stringify({ ...z.record(z.string(), z.unknown()).parse(value), nodes: values }, null, 2));
  } else {
    const upstreams = new Map(definedNodes.map(({ id, dependsOn }) => [id, dependsOn]));
    const shown = { screen: screenOf(context), counters: undefined };
    for (const line of summaryLines(run, nodes, upstreams, shown)) output.line(line);
  }
  return run.state === 'SUCCEEDED' ? EXIT.ok : EXIT.failed;
}
