/** A pipeline is paused and resumed: one commit of its head, then a pass, which publishes it and tells the limit. */
import { floorToTick } from '#domain/due.ts';
import { cursorsOf } from '#domain/pipeline-due.ts';
import type { PipelineHead } from '#domain/pipeline-head.ts';
import { instantsToStart } from '#domain/schedule-cursor.ts';
import type { PassDeps } from './deps.ts';
import { runPipelinePass } from './pipeline-pass.ts';
import { type PipelineReading, readPipeline } from './pipeline-reading.ts';

/** Changes of others that one order steps over, before it gives up. */
const MAX_TRIES = 10;

/** What became of an order. `already`: nothing was to be changed. `busy`: others keep changing the pipeline. */
export type OrderOutcome =
  | { readonly kind: 'accepted' | 'already'; readonly head: PipelineHead }
  | { readonly kind: 'missing' | 'busy' };

/**
 * Pauses a pipeline: from the commit on neither its schedule nor events start runs.
 * @param by who asked for it
 * @throws whatever a port throws; the order may then be repeated
 */
export function pausePipeline(deps: PassDeps, name: string, by?: string): Promise<OrderOutcome> {
  return order(deps, name, ({ head }, now) => {
    if (head.paused) return undefined;
    return { ...head, paused: { at: now, ...(by !== undefined && { by }) } };
  });
}

/**
 * Resumes a pipeline. What its schedule passed over meanwhile is settled: it is never due later (C76).
 * @throws whatever a port throws; the order may then be repeated
 */
export function resumePipeline(deps: PassDeps, name: string): Promise<OrderOutcome> {
  return order(deps, name, ({ head, pipeline }, now) => {
    if (!head.paused) return undefined;
    const { paused: _over, ...rest } = head;
    const cursors = cursorsOf(head);
    for (const entry of pipeline.schedule) {
      const cursor = cursors.get(entry.id);
      if (!cursor) continue;
      const moment = { now, tickMs: deps.options.tickMs, isPaused: true };
      cursors.set(entry.id, instantsToStart(entry, cursor, moment).cursor);
    }
    return { ...rest, cursors: [...cursors] };
  });
}

async function order(
  deps: PassDeps,
  name: string,
  change: (reading: PipelineReading, now: number) => PipelineHead | undefined,
): Promise<OrderOutcome> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const reading = await readPipeline(deps, name);
    if (!reading || reading.head.deleting) return { kind: 'missing' };
    const { head } = reading;
    const now = deps.clock.now();
    const changed = change(reading, now);
    if (changed) {
      const dueAt = floorToTick(now, deps.options);
      const next: PipelineHead = { ...changed, version: head.version + 1, updatedAt: now, tells: true, dueAt };
      if ((await deps.pipelines.commitHead(next, head.version)) === 'conflict') continue;
    }
    const passed = await runPipelinePass(deps, name, 'millrace.api');
    return passed ? { kind: changed ? 'accepted' : 'already', head: passed } : { kind: 'missing' };
  }
  return { kind: 'busy' };
}
