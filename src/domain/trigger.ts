/**
 * The nine trigger rules over direct upstreams (SEMANTICS, "Trigger rules").
 * A rule decides only when no later completion could change what it says (C16, C20).
 */
import type { TriggerRule } from './definition.ts';

/** How many direct upstreams of a node stand how. `stopped` ones only occur in a run that starts nothing more. */
export interface UpstreamCounts {
  readonly total: number;
  readonly success: number;
  readonly skipped: number;
  readonly bad: number;
  readonly stopped: number;
}

/** What a rule says: not yet, run the node, skip it, or fail it for its upstreams. */
export type TriggerDecision = 'wait' | 'run' | 'skip' | 'upstreamFailed';

/** Whether a rule may skip a node before all its upstreams are over, so that which of them are depends on their order. */
export function skipsEarly(rule: TriggerRule): boolean {
  return rule === 'none_skipped' || rule === 'all_failed';
}

/** Applies a rule. A root (no upstreams) runs whatever its rule. */
export function decideTrigger(rule: TriggerRule, counts: UpstreamCounts): TriggerDecision {
  if (counts.total === 0) return 'run';
  const terminal = counts.success + counts.skipped + counts.bad + counts.stopped;
  const done = terminal === counts.total;
  switch (rule) {
    case 'always':
      return 'run';
    case 'all_done':
      return done ? 'run' : 'wait';
    case 'all_success':
      if (counts.success === counts.total) return 'run';
      return whenNoSuccessIsPossible(counts, done);
    case 'one_success':
      if (counts.success > 0) return 'run';
      if (!done) return 'wait';
      return counts.bad > 0 ? 'upstreamFailed' : 'skip';
    case 'one_failed':
      if (counts.bad > 0) return 'run';
      return done ? 'skip' : 'wait';
    case 'all_failed':
      if (counts.bad === counts.total) return 'run';
      return counts.bad < terminal ? 'skip' : 'wait';
    case 'none_failed':
      if (counts.bad > 0) return 'upstreamFailed';
      return done ? 'run' : 'wait';
    case 'none_failed_min_one_success':
      if (counts.bad > 0) return 'upstreamFailed';
      if (!done) return 'wait';
      return counts.success > 0 ? 'run' : 'skip';
    case 'none_skipped':
      if (counts.skipped > 0) return 'skip';
      return done ? 'run' : 'wait';
  }
}

/**
 * all_success once it cannot run: a bad upstream settles it at once; a skipped one only when all are terminal,
 * for a later failure would still turn "skipped" into "upstream failed".
 */
function whenNoSuccessIsPossible(counts: UpstreamCounts, done: boolean): TriggerDecision {
  if (counts.bad > 0) return 'upstreamFailed';
  return done ? 'skip' : 'wait';
}
