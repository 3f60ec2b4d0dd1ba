/**
 * The runs of a schedule. Runs are put first, then the cursor goes on (H2): whatever dies in between, the next pass
 * puts the same runs under the same ids, and finds them.
 */
import { toIsoTime } from '#domain/iso-time.ts';
import type { Json } from '#domain/json.ts';
import { cursorsOf } from '#domain/pipeline-due.ts';
import type { PipelineHead, RejectedStart } from '#domain/pipeline-head.ts';
import type { RunTrigger } from '#domain/run.ts';
import { previousInstant } from '#domain/schedule.ts';
import { instantsToStart } from '#domain/schedule-cursor.ts';
import type { ScheduleEntry } from '#domain/schedule-entry.ts';
import type { BusEvent } from '#ports/index.ts';
import type { PassDeps } from './deps.ts';
import type { PipelineReading } from './pipeline-reading.ts';
import { startByItself } from './start-by-itself.ts';
import { inputErrorsInWords } from './start-run.ts';

/** Runs of one entry that one commit settles. */
const MOST_STARTS = 50;

/** What came of the instants that were due. */
export interface DueOutcome {
  readonly head: PipelineHead;
  /** Some are left for the next commit. */
  readonly hasMore: boolean;
}

/**
 * Starts the runs of all instants that are due, and gives the head that settles them.
 * @throws whatever a port throws: nothing is settled then
 */
export async function startDue(
  deps: PassDeps,
  reading: PipelineReading,
  source: BusEvent['source'],
): Promise<DueOutcome> {
  const { head, pipeline } = reading;
  if (head.paused || head.deleting || pipeline.schedule.length === 0) return { head, hasMore: false };
  const moment = { now: deps.clock.now(), tickMs: deps.options.tickMs, limit: MOST_STARTS };
  const cursors = cursorsOf(head);
  const rejected = new Map(head.rejected?.map((one) => [one.entry, one]));
  let hasMore = false;
  for (const entry of pipeline.schedule) {
    const known = cursors.get(entry.id);
    if (!known) continue;
    const due = instantsToStart(entry, known, moment);
    for (const instant of due.instants) {
      const refusal = await startOne(deps, reading, source, { entry, instant, createdAt: known.createdAt });
      if (refusal) rejected.set(entry.id, refusal);
    }
    cursors.set(entry.id, due.cursor);
    hasMore ||= due.hasMore;
  }
  const settled = { ...head, cursors: [...cursors], ...(rejected.size > 0 && { rejected: [...rejected.values()] }) };
  return { head: settled, hasMore };
}

/**
 * Starts one; gives why the pipeline refuses it, which is published. The schedule goes on.
 * @throws Error where the reading is too old: its head may have been paused or deleted since
 */
async function startOne(
  deps: PassDeps,
  { head, readAt }: PipelineReading,
  source: BusEvent['source'],
  {
    entry,
    instant,
    createdAt,
  }: { readonly entry: ScheduleEntry; readonly instant: number; readonly createdAt: number },
): Promise<RejectedStart | undefined> {
  const outcome = await startByItself(deps, {
    pipeline: head.name,
    incarnation: head.incarnation,
    decidedAt: readAt,
    input: entry.input,
    cause: { kind: 'schedule', entry: entry.id, instant },
    trigger: { type: 'schedule', ...instantFields(entry, instant, createdAt) },
  });
  if (outcome.kind !== 'invalidInput') return undefined;
  const message = `the input of entry ${JSON.stringify(entry.id)} is not valid: ${inputErrorsInWords(outcome.errors)}`;
  const rejected: RejectedStart = { entry: entry.id, instant, code: 'INVALID_INPUT', message };
  const detail: Json = { schemaVersion: 1, hops: 1, pipeline: head.name, ...rejected, instant: toIsoTime(instant) };
  await deps.bus.publish([{ source, detailType: 'RunRejected', detail }]);
  return rejected;
}

/** What the trigger of a run says of the instant that it stands for. */
export function instantFields(
  entry: ScheduleEntry,
  instant: number,
  createdAt: number,
): Pick<RunTrigger, 'entry' | 'instant' | 'previousInstant'> {
  const before = previousInstant(entry, instant, createdAt);
  return {
    entry: entry.id,
    instant: toIsoTime(instant),
    ...(before !== undefined && { previousInstant: toIsoTime(before) }),
  };
}
