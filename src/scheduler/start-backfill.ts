import {
  type Backfill,
  type BackfillInstant,
  type BackfillRange,
  backfillId,
  backfillInstants,
  entryTimes,
  MAX_BACKFILL,
  MAX_BACKFILLS,
} from '#domain/backfill.ts';
import type { DefinitionError } from '#domain/definition.ts';
import { floorToTick } from '#domain/due.ts';
import { cursorsOf } from '#domain/pipeline-due.ts';
import type { PassDeps } from './deps.ts';
import { type PipelineReading, readPipeline } from './pipeline-reading.ts';
import { inputErrors } from './start-run.ts';

/** Changes of others that one request steps over, before it gives up. */
const MAX_TRIES = 10;

/** A backfill that is asked for. */
export interface BackfillRequest extends BackfillRange {
  readonly maxActiveRuns: number;
  readonly by?: string | undefined;
  /** Nothing is started. @default false */
  readonly isDryRun?: boolean | undefined;
}

/** What became of the request. */
export type BackfillAnswer =
  | { readonly kind: 'dryRun'; readonly instants: readonly BackfillInstant[] }
  | { readonly kind: 'accepted' | 'already'; readonly backfill: Backfill }
  | { readonly kind: 'missing' | 'busy' | 'noSchedule' | 'noInstant' | 'future' | 'tooManyBackfills' }
  | { readonly kind: 'tooMany'; readonly count: number }
  | { readonly kind: 'invalidInput'; readonly entry: string; readonly errors: readonly DefinitionError[] };

/**
 * Asks for the runs of a range of instants. It is answered once that is committed; passes over the pipeline carry it
 * out. A repeated request finds the first one, and the runs that it made.
 * @throws whatever a port throws; the request may then be repeated
 */
export async function startBackfill(deps: PassDeps, name: string, request: BackfillRequest): Promise<BackfillAnswer> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const reading = await readPipeline(deps, name);
    if (!reading || reading.head.deleting) return { kind: 'missing' };
    const planned = plan(deps, reading, request);
    if (planned.kind !== 'accepted') return planned;
    const { head } = reading;
    const backfills = [...(head.backfills ?? []), planned.backfill];
    if (backfills.length > MAX_BACKFILLS) return { kind: 'tooManyBackfills' };
    const dueAt = floorToTick(deps.clock.now(), deps.options);
    const next = { ...head, version: head.version + 1, backfills, dueAt };
    if ((await deps.pipelines.commitHead(next, head.version)) === 'conflict') continue;
    await deps.inbox.ringThing({ kind: 'pipeline', id: name });
    return planned;
  }
  return { kind: 'busy' };
}

function plan(deps: PassDeps, { head, pipeline }: PipelineReading, request: BackfillRequest): BackfillAnswer {
  const { from, to, direction, maxActiveRuns, by } = request;
  const now = deps.clock.now();
  if (pipeline.schedule.length === 0) return { kind: 'noSchedule' };
  if (to > now) return { kind: 'future' };
  const entries = entryTimes(pipeline.schedule, cursorsOf(head), head.createdAt);
  const instants = backfillInstants(pipeline, request, new Map(entries));
  if (instants.length > MAX_BACKFILL) return { kind: 'tooMany', count: instants.length };
  if (request.isDryRun) return { kind: 'dryRun', instants };
  if (instants.length === 0) return { kind: 'noInstant' };
  for (const { id, input } of pipeline.schedule) {
    const errors = inputErrors(pipeline, input);
    if (errors.length > 0) return { kind: 'invalidInput', entry: id, errors };
  }
  const id = backfillId(head.name, head.incarnation, head.revision, request);
  const known = head.backfills?.find((one) => one.id === id);
  if (known) return { kind: 'already', backfill: known };
  const order = { at: now, ...(by !== undefined && { by }) };
  const range = { from, to, direction, maxActiveRuns };
  const progress = { entries, total: instants.length, started: 0, active: [] };
  return { kind: 'accepted', backfill: { id, revision: head.revision, ...range, ...order, ...progress } };
}
