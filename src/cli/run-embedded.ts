import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PipelineDefinition } from '#authoring/index.ts';
import { createClient, type MillraceClient, type Run, type RunNode } from '#client/index.ts';
import type { Json } from '#domain/json.ts';
import type { Host } from '#local/host.ts';
import { CliError } from './cli-error.ts';
import type { CliContext } from './context.ts';
import { counted } from './counts-text.ts';
import { describeError } from './describe-error.ts';
import { type HostSettings, openHost } from './embedded-host.ts';
import { EXIT } from './exit-codes.ts';
import { followRun } from './follow-run.ts';
import { type Interrupts, listenForInterrupts } from './interrupts.ts';
import { DEFAULT_TICK } from './option-values.ts';
import { countersOf } from './run-counters.ts';
import { startOf } from './run-on-server.ts';
import { blankPicture, mapsOf } from './run-picture.ts';
import { createProgress, screenOf } from './run-progress.ts';
import { summaryLines } from './run-summary.ts';

/** A run on a host that lives as long as the command. */
export interface EmbeddedRun {
  readonly definition: PipelineDefinition;
  readonly input: Json | undefined;
  readonly only: readonly string[] | undefined;
  readonly reuse: string | undefined;
  readonly json: boolean;
  readonly functionsDir: string | undefined;
  readonly options: Pick<HostSettings, 'chaos' | 'seed'> & { readonly data?: string; readonly tick?: number };
}

/** Time between two looks at the run, in milliseconds: short enough for eyes, or sparing where nobody watches. */
const LOOK_EVERY_MS = { watched: 150, unwatched: 250 };
/** How a request is sent again where `--chaos` kills the function that was to answer it. */
const RETRIES = { limit: 100, longestDelayMs: 1000 };
/** What a run leaves to be published or cleared away when it has ended is counted with it, if it comes within this time. */
const SETTLE_MS = 500;

/** Runs a pipeline on a host of its own, and shows or prints what becomes of it. */
export async function runEmbedded(job: EmbeddedRun, context: CliContext): Promise<number> {
  const interrupts = listenForInterrupts();
  try {
    const { live, style } = context.output;
    if (!job.json) live?.draw(style.dim('Starting a development host …'));
    const opening = openHost(settingsOf(job, context)).finally(() => job.json || live?.clear());
    const { host } = await untilInterrupted(interrupts, opening);
    try {
      return await runOn(host, job, context, interrupts);
    } finally {
      await host.close();
    }
  } finally {
    interrupts.release();
  }
}

function settingsOf({ options, functionsDir }: EmbeddedRun, { cwd, output }: CliContext): HostSettings {
  const { chaos, seed, data, tick = DEFAULT_TICK.seconds } = options;
  return {
    port: 0,
    tickSeconds: tick,
    log: (line) => output.error(line),
    ...(data !== undefined && { dataDir: resolve(cwd, data) }),
    ...(functionsDir !== undefined && { functionsDir }),
    ...(chaos !== undefined && { chaos }),
    ...(seed !== undefined && { seed }),
  };
}

/** What Ctrl-C broke off is no error of its own. */
async function untilInterrupted<Result>(interrupts: Interrupts, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw interrupts.happened ? interrupted() : error;
  }
}

function interrupted(): CliError {
  return new CliError('INTERRUPTED', 'stopped before the run was started.', { exitCode: EXIT.interrupted });
}

async function runOn(host: Host, job: EmbeddedRun, context: CliContext, interrupts: Interrupts): Promise<number> {
  const { definition, json } = job;
  const { name, nodes: definedNodes } = definition;
  const { output } = context;
  const { client, requests } = countingClient(host.url);
  const { revision } = await client.pipelines.put(name, definition);
  if (interrupts.happened) throw interrupted();
  const before = { wire: host.wireLog.snapshot(), requests: requests() };
  const { id, createdAt } = await client.runs.start(name, startOf(job));
  interrupts.signal.addEventListener('abort', () => void stopPolitely(client, id, context));
  const progress = json ? undefined : createProgress(blankPicture(definedNodes, createdAt), context);
  if (!json) {
    output.line(`${output.style.bold(name)}: run ${id}, revision ${revision}, ${counted(definedNodes.length, 'node')}`);
  }
  const run = await followRun(client, id, {
    everyMs: json ? LOOK_EVERY_MS.unwatched : LOOK_EVERY_MS.watched,
    history: progress?.history ?? false,
    maps: mapsOf(definedNodes),
    onLook: (...seen) => progress?.look(...seen),
  }).finally(() => progress?.end());
  await settled(host);
  const figures = { wire: host.wireLog.since(before.wire), ownRequests: requests() - before.requests };
  const nodes = await client.nodes.list(id, { limit: 1000 }).all();
  tell(run, nodes, job, { ...figures, chaos: host.chaos }, context);
  return run.state === 'SUCCEEDED' ? EXIT.ok : EXIT.failed;
}

/** Says what became of the run. */
function tell(
  run: Run,
  nodes: readonly RunNode[],
  { definition, json }: EmbeddedRun,
  counts: Parameters<typeof countersOf>[3],
  context: CliContext,
): void {
  const upstreams = new Map(definition.nodes.map((node) => [node.id, node.dependsOn ?? []]));
  const counters = countersOf(run, nodes, upstreams, counts);
  const lines = json
    ? [JSON.stringify({ ...run, nodes, counters }, null, 2)]
    : summaryLines(run, nodes, upstreams, { screen: screenOf(context), counters });
  for (const line of lines) context.output.line(line);
}

/** A client of the host, and how many requests it has sent. */
function countingClient(url: string) {
  let sent = 0;
  const client = createClient({
    url,
    retries: RETRIES,
    fetch(input, init) {
      sent += 1;
      return fetch(input, init);
    },
  });
  return { client, requests: () => sent };
}

async function stopPolitely(client: MillraceClient, runId: string, { output }: CliContext): Promise<void> {
  output.error('Stopping the run; press Ctrl-C again to leave at once.');
  await client.runs.stop(runId).catch((error: unknown) => output.error(`millrace: ${describeError(error).text}`));
}

async function settled(host: Host): Promise<void> {
  const until = performance.now() + SETTLE_MS;
  while (!host.isIdle() && performance.now() < until) await sleep(10);
}
