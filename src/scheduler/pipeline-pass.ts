/**
 * The pass over a pipeline: brings its condition up to date, publishes what has changed, starts what is due, and keeps
 * the limit of its active runs as the newest revision says.
 *
 * Every commit is conditional on the version that was read. A commit that changes the condition leaves the head due,
 * and only one that was decided from engines read after that lets it go: so a change of an engine that meets a change
 * of the pipeline cannot leave a stale condition behind.
 */
import { enginesOf, readyCondition } from '#domain/conditions.ts';
import type { CompiledPipeline } from '#domain/graph.ts';
import { headDueAt, nextInstants } from '#domain/pipeline-due.ts';
import type { PipelineHead } from '#domain/pipeline-head.ts';
import type { BusEvent } from '#ports/index.ts';
import { carryOnBackfills } from './backfills.ts';
import type { PassDeps } from './deps.ts';
import { startDue } from './due-starts.ts';
import { readStandings } from './engine-standings.ts';
import { pipelineChanged } from './pipeline-changed.ts';
import { carryOnDeletion } from './pipeline-deletion.ts';
import { activeRunsRule, bringLimitUpToDate } from './pipeline-limit.ts';
import { type PipelineReading, readPipeline } from './pipeline-reading.ts';

/** Commits and lost races of one pass; more is left to the next one. */
const MAX_ROUNDS = 50;
/** Longest delay of a message. https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html */
const LONGEST_DELAY_MS = 900_000;

/** Others keep changing a pipeline. */
export class PipelineBusyError extends Error {
  constructor(name: string) {
    super(`others keep changing pipeline ${name}`);
    this.name = 'PipelineBusyError';
  }
}

/** What a pass makes of a reading. */
interface Decided {
  /** The same head where all is as it should be. */
  readonly head: PipelineHead;
  /** The next commit can go on at once. */
  readonly hasMore?: boolean;
  /** Nothing of a deleted pipeline is left but its head. */
  readonly isOver?: boolean;
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
  const until = deps.clock.now() + deps.options.passMs / 3;
  let hasCommitted = false;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const reading = await readPipeline(deps, name);
    if (!reading) return undefined;
    const { head } = reading;
    const decided = await decide(deps, reading, source);
    const outcome = await settle(deps, head, decided);
    if (outcome === 'conflict') continue;
    if (!outcome) return undefined;
    hasCommitted ||= outcome !== head;
    const isDone = (outcome === head || !outcome.tells) && !decided.hasMore;
    if (!isDone && deps.clock.now() < until) continue;
    await ringInTime(deps, { ...reading, head: outcome }, { hasCommitted, hasMore: !isDone });
    return outcome;
  }
  throw new PipelineBusyError(name);
}

/** Commits what was decided; gives the head as it is then, or nothing where it has gone. */
async function settle(
  deps: PassDeps,
  head: PipelineHead,
  { head: next, isOver }: Decided,
): Promise<PipelineHead | 'conflict' | undefined> {
  if (isOver) {
    const outcome = await deps.pipelines.removeHead(head.name, head.version);
    return outcome === 'conflict' ? outcome : undefined;
  }
  if (next === head) return head;
  const committed: PipelineHead = { ...next, version: head.version + 1 };
  const outcome = await deps.pipelines.commitHead(committed, head.version);
  return outcome === 'conflict' ? outcome : committed;
}

async function decide(deps: PassDeps, reading: PipelineReading, source: BusEvent['source']): Promise<Decided> {
  const { head, pipeline } = reading;
  await bringLimitUpToDate(deps, head.name, activeRunsRule(head, pipeline));
  if (head.deleting) {
    const told = await withoutTelling(deps, head, source);
    const { head: next, ...rest } = await carryOnDeletion(deps, told);
    return { ...rest, head: sameOr(head, withDue(deps, next, pipeline)) };
  }
  const checked = await withCondition(deps, reading, source);
  const due = await startDue(deps, { ...reading, head: checked }, source);
  const filled = await carryOnBackfills(deps, { head: due.head, readAt: reading.readAt });
  const cleared = await withoutOldUses(deps, filled.head, pipeline);
  return { head: sameOr(head, withDue(deps, cleared, pipeline)), hasMore: due.hasMore || filled.hasMore };
}

function sameOr(head: PipelineHead, next: PipelineHead): PipelineHead {
  return JSON.stringify(next) === JSON.stringify(head) ? head : next;
}

async function withCondition(
  deps: PassDeps,
  { head, pipeline }: PipelineReading,
  source: BusEvent['source'],
): Promise<PipelineHead> {
  const engines = await readStandings(deps, pipeline);
  const ready = readyCondition({ pipeline, engines, before: head.ready, now: deps.clock.now() });
  return ready === head.ready ? withoutTelling(deps, head, source) : { ...head, ready, tells: true };
}

/** Publishes a change that was committed. */
async function withoutTelling(deps: PassDeps, head: PipelineHead, source: BusEvent['source']): Promise<PipelineHead> {
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

/**
 * Rings the pipeline itself: at once where more is left to do, and in time for the next instant, which need not wait for
 * a tick. A pass that changed nothing rings for no instant: whoever changed the head has done so, and one message more
 * for each that comes twice would never come to an end.
 */
async function ringInTime(
  deps: PassDeps,
  { head, pipeline }: PipelineReading,
  { hasCommitted, hasMore }: { readonly hasCommitted: boolean; readonly hasMore: boolean },
): Promise<void> {
  const thing = { kind: 'pipeline', id: head.name } as const;
  if (hasMore) await deps.inbox.ringThing(thing);
  const next = hasCommitted ? nextInstants(head, pipeline)[0]?.instant : undefined;
  if (next === undefined) return;
  const wait = next - deps.clock.now();
  if (wait > LONGEST_DELAY_MS) return;
  await deps.inbox.ringThing(thing, Math.max(0, Math.ceil(wait / 1000)));
}
