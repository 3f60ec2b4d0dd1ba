/** When the head of a pipeline has to be looked at (DESIGN, "Due"). */
import type { CompiledPipeline } from './graph.ts';
import type { PipelineHead } from './pipeline-head.ts';
import { nextDue, type ScheduleCursor } from './schedule-cursor.ts';
import type { ScheduleEntry } from './schedule-entry.ts';

/** The next instant of an entry. */
export interface NextInstant {
  readonly entry: ScheduleEntry;
  /** Milliseconds since the epoch. */
  readonly instant: number;
}

/** The next instant of each entry that has one, the soonest first; none while the pipeline is paused or goes. */
export function nextInstants(head: PipelineHead, { schedule }: Pick<CompiledPipeline, 'schedule'>): NextInstant[] {
  if (head.paused || head.deleting) return [];
  const cursors = cursorsOf(head);
  const found = schedule.flatMap((entry) => {
    const cursor = cursors.get(entry.id);
    const instant = cursor && nextDue(entry, cursor);
    return instant === undefined ? [] : [{ entry, instant }];
  });
  return found.sort((a, b) => a.instant - b.instant);
}

/** The cursors of a head by entry id. */
export function cursorsOf(head: Pick<PipelineHead, 'cursors'> | undefined): Map<string, ScheduleCursor> {
  return new Map(head?.cursors);
}

/**
 * The due time of a head, rounded down to the tick: within a tick where something is left to do, else at the next
 * instant of its schedule; nothing where neither is. Who looks at a head less than a tick before the instant rings it for
 * that, so it is due at the tick after the instant then, should the ring be lost: a look that finds the head so has
 * nothing to do, and rings nobody.
 */
export function headDueAt(
  head: PipelineHead,
  pipeline: Pick<CompiledPipeline, 'schedule'>,
  now: number,
  tickMs: number,
): number | undefined {
  const owes = head.tells || head.deleting || (head.backfills?.length && !head.paused);
  const exact = owes ? now + tickMs : nextInstants(head, pipeline)[0]?.instant;
  if (exact === undefined) return undefined;
  const dueAt = Math.floor(exact / tickMs) * tickMs;
  return dueAt <= now && now < exact ? dueAt + tickMs : dueAt;
}
