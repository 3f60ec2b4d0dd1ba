/**
 * What a run's decisions tell about each of its nodes: when it came to stand as it does, how often it was tried, and
 * what ended it. One walk over the decisions, linear in the changes of status that they hold.
 */
import type { NodeCode } from './node-status.ts';
import { isTerminal } from './node-status.ts';
import type { Decision, ErrorInfo, RunRecord } from './run.ts';

/** One attempt, as decisions tell it. Times are of the commits (ms since the epoch). */
export interface AttemptStory {
  readonly attempt: number;
  /** Absent where its parameters failed, so that it never began. */
  readonly startedAt?: number;
  /** How it was settled; absent while it is under way. */
  readonly end?: {
    readonly at: number;
    readonly to: NodeCode;
    /** The error, where no result of an execution tells it. */
    readonly error?: ErrorInfo;
  };
}

/** One node, as decisions tell it. */
export interface NodeStory {
  /** Since when it stands as it does (ms since the epoch). */
  readonly since: number;
  /** In order; an attempt that was never begun nor failed is not there. */
  readonly attempts: readonly AttemptStory[];
  /** When it reached its final state (ms since the epoch). */
  readonly overAt?: number;
  /** The error of the last decision, where no result of an execution tells it. */
  readonly error?: ErrorInfo;
  /** Who asked for the last decision. */
  readonly by?: string;
}

interface Telling {
  since: number;
  attempts: AttemptStory[];
  overAt?: number;
  error?: ErrorInfo;
  by?: string;
}

/**
 * All decisions of a run, in order: the history, then those that the run still holds. A pass that died between the
 * two leaves decisions in both places; each is given once.
 */
export function mergeDecisions(history: readonly Decision[], run: RunRecord): Decision[] {
  const merged = new Map<string, Decision>();
  for (const decision of [...history, ...run.decisions]) {
    const { rev, to, attempt, nodes, state } = decision;
    merged.set(`${rev}/${to}/${attempt}/${nodes[0] ?? state}`, decision);
  }
  return [...merged.values()].sort((a, b) => a.rev - b.rev);
}

/** The stories of all nodes of a run, by index. */
export function tellStories(run: RunRecord, decisions: readonly Decision[]): readonly NodeStory[] {
  const stories = Array.from({ length: run.nodes.length }, (): Telling => ({ since: run.createdAt, attempts: [] }));
  for (const decision of decisions) {
    if (decision.to === 'run') continue;
    for (const node of decision.nodes) {
      const story = stories[node];
      if (story) tell(story, decision, decision.to);
    }
  }
  return stories;
}

function tell(story: Telling, decision: Decision, to: NodeCode): void {
  story.since = decision.at;
  delete story.error;
  delete story.by;
  if (decision.error) story.error = decision.error;
  if (decision.by !== undefined) story.by = decision.by;
  if (isTerminal(to)) story.overAt = decision.at;
  if (decision.attempt === 0) return;
  if (to === 'r') {
    story.attempts.push({ attempt: decision.attempt, startedAt: decision.at });
    return;
  }
  const end = { at: decision.at, to, ...(decision.error && { error: decision.error }) };
  const last = story.attempts.at(-1);
  if (last?.attempt === decision.attempt) story.attempts[story.attempts.length - 1] = { ...last, end };
  else story.attempts.push({ attempt: decision.attempt, end });
}
