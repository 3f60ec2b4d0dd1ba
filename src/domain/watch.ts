/** Runs that somebody looks at live: for a while, what becomes of their nodes is published too. */
import type { Draft } from './draft.ts';
import type { CompiledPipeline } from './graph.ts';
import { isRunOver, type RunRecord } from './run.ts';

/** How long a run is watched unless that is renewed (ms). */
export const WATCH_MS = 600_000;

/** Whether `RunChanged` is published node by node: the pipeline says so, or somebody watches the run. */
export function saysNodes(
  { definition }: CompiledPipeline,
  { watchedUntil }: { readonly watchedUntil?: number | undefined },
): boolean {
  return definition.events === 'nodes' || watchedUntil !== undefined;
}

/** When a run stops being watched (ms since the epoch); nothing where nobody watches it any more. */
export function openWatch({ watchedUntil }: RunRecord, now: number): number | undefined {
  return watchedUntil !== undefined && watchedUntil > now ? watchedUntil : undefined;
}

/** Takes note that somebody watches the run. A renewal is worth a commit once half of the time has gone. */
export function applyWatch(draft: Draft): void {
  if (!draft.facts.isWatched || isRunOver(draft.state) || draft.deleted) return;
  if ((draft.watchedUntil ?? 0) >= draft.now + WATCH_MS / 2) return;
  draft.watchedUntil = draft.now + WATCH_MS;
  draft.changed = true;
}
