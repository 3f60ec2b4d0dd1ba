/**
 * Backfills of a pipeline, carried on by its pass: so many runs at once, the next ones as they end. Runs are put first,
 * then the head counts them (H2): what is put twice has the same id, and was counted as active before.
 */
import pMap from 'p-map';
import { type Backfill, type BackfillInstant, backfillInstants } from '#domain/backfill.ts';
import type { PipelineHead } from '#domain/pipeline-head.ts';
import { isRunOver } from '#domain/run.ts';
import { DamagedRunError, NewerRunError } from '#domain/run-codec.ts';
import type { PassDeps } from './deps.ts';
import { instantFields } from './due-starts.ts';
import type { PipelineReading } from './pipeline-reading.ts';
import { loadPipeline } from './pipelines.ts';
import { startByItself } from './start-by-itself.ts';

const PARALLEL_READS = 10;
/** Runs that one commit counts. */
const MOST_STARTS = 25;

/** A head and when it was read: who sleeps after that for too long starts nothing. */
type HeadReading = Pick<PipelineReading, 'head' | 'readAt'>;

/** What carrying on came to. */
export interface BackfillOutcome {
  readonly head: PipelineHead;
  /** More could be started at once. */
  readonly hasMore: boolean;
}

/**
 * Carries all backfills of a pipeline on; not while it is paused.
 * @throws DecidedTooLongAgoError, and whatever a port throws: nothing is counted then
 */
export async function carryOnBackfills(deps: PassDeps, reading: HeadReading): Promise<BackfillOutcome> {
  const { head } = reading;
  const { backfills, ...rest } = head;
  if (!backfills || head.paused || head.deleting) return { head, hasMore: false };
  const left: Backfill[] = [];
  let hasMore = false;
  for (const backfill of backfills) {
    const next = await carryOn(deps, reading, backfill);
    if (next.started < next.total || next.active.length > 0) left.push(next);
    hasMore ||= next.started < next.total && next.active.length < next.maxActiveRuns;
  }
  return { head: left.length > 0 ? { ...head, backfills: left } : rest, hasMore };
}

async function carryOn(deps: PassDeps, reading: HeadReading, backfill: Backfill): Promise<Backfill> {
  const areActive = await pMap(backfill.active, (id) => isActive(deps, id), { concurrency: PARALLEL_READS });
  const active = backfill.active.filter((_id, at) => areActive[at]);
  const wanted = Math.min(MOST_STARTS, backfill.total - backfill.started, backfill.maxActiveRuns - active.length);
  if (wanted <= 0) return { ...backfill, active };
  const pipeline = await loadPipeline(deps.pipelines, reading.head.name, backfill.revision);
  const instants = pipeline ? backfillInstants(pipeline, backfill, new Map(backfill.entries)) : [];
  const starts = instants.slice(backfill.started, backfill.started + wanted);
  for (const start of starts) {
    const id = await startOne(deps, reading, backfill, start);
    if (id !== undefined) active.push(id);
  }
  return { ...backfill, started: backfill.started + wanted, active };
}

/** A run that cannot be read counts as active where newer code knows it, and as over where nobody does. */
async function isActive(deps: PassDeps, id: string): Promise<boolean> {
  try {
    const run = await deps.runs.readRun(id);
    return run !== undefined && !isRunOver(run.state);
  } catch (error) {
    if (error instanceof NewerRunError) return true;
    if (error instanceof DamagedRunError) return false;
    throw error;
  }
}

async function startOne(
  deps: PassDeps,
  { head, readAt }: HeadReading,
  { id, revision, by }: Backfill,
  { entry, instant, createdAt }: BackfillInstant,
): Promise<string | undefined> {
  const outcome = await startByItself(deps, {
    pipeline: head.name,
    incarnation: head.incarnation,
    decidedAt: readAt,
    revision,
    input: entry.input,
    cause: { kind: 'backfill', backfill: id, entry: entry.id, instant },
    trigger: {
      type: 'backfill',
      ...(by !== undefined && { by }),
      ...instantFields(entry, instant, createdAt),
      backfill: id,
    },
  });
  return 'run' in outcome ? outcome.run.id : undefined;
}
