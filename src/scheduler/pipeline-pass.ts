/**
 * The pass over a pipeline: brings its condition up to date, publishes what has changed, and keeps the limit of its
 * active runs as the newest revision says.
 *
 * Every commit is conditional on the version that was read. A commit that changes the condition leaves the head due,
 * and only one that was decided from engines read after that lets it go: so a change of an engine that meets a change
 * of the pipeline cannot leave a stale condition behind.
 */
import { enginesOf, readyCondition } from '#domain/conditions.ts';
import type { CompiledPipeline } from '#domain/graph.ts';
import { headDueAt } from '#domain/pipeline-due.ts';
import type { PipelineHead } from '#domain/pipeline-head.ts';
import { DamagedPipelineError } from '#domain/pipeline-head-codec.ts';
import type { BusEvent } from '#ports/index.ts';
import type { PassDeps } from './deps.ts';
import { readStandings } from './engine-standings.ts';
import { pipelineChanged } from './pipeline-changed.ts';
import { bringLimitUpToDate } from './pipeline-limit.ts';
import { loadPipeline } from './pipelines.ts';

/** Commits and lost races of one pass; more is left to the next one. */
const MAX_ROUNDS = 20;

/** Others keep changing a pipeline. */
export class PipelineBusyError extends Error {
  constructor(name: string) {
    super(`others keep changing pipeline ${name}`);
    this.name = 'PipelineBusyError';
  }
}

/** A head and its newest revision, as they were read. */
export interface PipelineReading {
  readonly head: PipelineHead;
  readonly pipeline: CompiledPipeline;
}

/**
 * Runs a pass over a pipeline; gives its head as it is afterwards, or nothing where there is none.
 * @param source who publishes what has changed
 * @throws PipelineBusyError, DamagedPipelineError, and whatever a port throws: the head stays due
 */
export async function runPipelinePass(
  deps: PassDeps,
  name: string,
  source: BusEvent['source'] = 'millrace.scheduler',
): Promise<PipelineHead | undefined> {
  let head = await deps.pipelines.readHead(name);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (!head) return undefined;
    const next = await decide(deps, { head, pipeline: await newestOf(deps, head) }, source);
    if (next === head) return head;
    const committed: PipelineHead = { ...next, version: head.version + 1 };
    const outcome = await deps.pipelines.commitHead(committed, head.version);
    head = outcome === 'committed' ? committed : await deps.pipelines.readHead(name);
  }
  throw new PipelineBusyError(name);
}

async function newestOf(deps: PassDeps, { name, revision }: PipelineHead): Promise<CompiledPipeline> {
  const pipeline = await loadPipeline(deps.pipelines, name, revision);
  if (!pipeline) throw new DamagedPipelineError(name, `its revision ${revision} cannot be found`);
  return pipeline;
}

/** What the head is to be; the same one where all is as it should be. */
async function decide(deps: PassDeps, reading: PipelineReading, source: BusEvent['source']): Promise<PipelineHead> {
  const { head, pipeline } = reading;
  await bringLimitUpToDate(deps, reading);
  let next = await withCondition(deps, reading, source);
  next = await withoutOldUses(deps, next, pipeline);
  next = withDue(deps, next, pipeline);
  return JSON.stringify(next) === JSON.stringify(head) ? head : next;
}

async function withCondition(
  deps: PassDeps,
  { head, pipeline }: PipelineReading,
  source: BusEvent['source'],
): Promise<PipelineHead> {
  const engines = await readStandings(deps, pipeline);
  const ready = readyCondition({ pipeline, engines, before: head.ready, now: deps.clock.now() });
  if (ready !== head.ready) return { ...head, ready, tells: true };
  if (!head.tells) return head;
  await deps.bus.publish([pipelineChanged(head, source)]);
  const { tells: _told, ...rest } = head;
  return rest;
}

/** Takes away the rows of engines that the newest revision does not name. */
async function withoutOldUses(deps: PassDeps, head: PipelineHead, pipeline: CompiledPipeline): Promise<PipelineHead> {
  const engines = enginesOf(pipeline, deps.engines);
  const old = (head.engines ?? []).filter((engine) => !engines.includes(engine));
  if (old.length === 0) return head;
  for (const engine of old) await deps.pipelines.removeUse(engine, head.name, head.version);
  return { ...head, engines };
}

function withDue(deps: PassDeps, head: PipelineHead, pipeline: CompiledPipeline): PipelineHead {
  const { dueAt: _before, ...rest } = head;
  const dueAt = headDueAt(head, pipeline, deps.clock.now(), deps.options.tickMs);
  return dueAt === undefined ? rest : { ...rest, dueAt };
}
