/**
 * What a run's decisions tell about each of its nodes, and about each item of a map: when it came to stand as it does,
 * how often it was tried, and what ended it. One walk over the decisions, linear in the changes that they hold.
 */
import type { NodeCode } from './node-status.ts';
import { isTerminal } from './node-status.ts';
import { type Decision, type ErrorInfo, MARKED_ATTEMPT, type MapState, type RunRecord } from './run.ts';

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
    /** Who decided it, and what they said about it. */
    readonly by?: string;
    readonly note?: string;
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
  /** Who asked for the last decision, and what they said about it. */
  readonly by?: string;
  readonly note?: string;
  /** When a map got its list (ms since the epoch). */
  readonly listedAt?: number;
  /** How many items of a map are over, by their final status. */
  readonly itemEnds?: ReadonlyMap<NodeCode, number>;
  /** The run whose result it is, where a re-run took that over. */
  readonly from?: string;
  /** When a map that was taken over began and ended there (ms since the epoch). */
  readonly times?: Decision['times'];
  /** Its last status; absent where nothing was decided yet, as for an item that was never taken off its list. */
  readonly code?: NodeCode;
}

/** One item of a map, as decisions tell it. */
export type ItemStory = NodeStory;

/** The number of the attempt that decided it: one of its own for an output of an earlier run, or one given by hand. */
export function decidingAttempt(story: NodeStory): number | undefined {
  const { code, from, attempts } = story;
  if (code === 'C' || from !== undefined) return 0;
  return code === 'M' ? MARKED_ATTEMPT : attempts.at(-1)?.attempt;
}

interface Telling {
  since: number;
  attempts: AttemptStory[];
  overAt?: number;
  error?: ErrorInfo;
  by?: string;
  note?: string;
  listedAt?: number;
  itemEnds?: Map<NodeCode, number>;
  from?: string;
  times?: Decision['times'];
  code?: NodeCode;
  /** Revision number that began the last attempt. */
  begunIn?: number;
}

/**
 * All decisions up to a run's revision, in order: the history, then those that the run still holds. A pass that died
 * between the two leaves decisions in both places; each is given once. A history that was read after the run may know
 * later decisions, which would not fit to it.
 */
export function mergeDecisions(history: readonly Decision[], run: RunRecord): Decision[] {
  const merged = new Map<string, Decision>();
  for (const decision of [...history, ...run.decisions]) {
    const { rev, to, attempt, nodes, items, state } = decision;
    if (rev <= run.rev) merged.set(`${rev}/${to}/${attempt}/${nodes[0] ?? state}/${items?.[0] ?? ''}`, decision);
  }
  return [...merged.values()].sort((a, b) => a.rev - b.rev);
}

/** The stories of all nodes of a run, by index. */
export function tellStories(run: RunRecord, decisions: readonly Decision[]): readonly NodeStory[] {
  const stories = Array.from({ length: run.nodes.length }, (): Telling => ({ since: run.createdAt, attempts: [] }));
  for (const decision of decisions) {
    const { to, items } = decision;
    if (to === 'run') continue;
    for (const node of decision.nodes) {
      const story = stories[node];
      if (!story) continue;
      if (items) countEnds(story, to, items.length);
      else tell(story, decision, to);
    }
  }
  return stories;
}

function countEnds(story: Telling, to: NodeCode, items: number): void {
  if (!isTerminal(to)) return;
  story.itemEnds ??= new Map();
  story.itemEnds.set(to, (story.itemEnds.get(to) ?? 0) + items);
}

/** The stories of all items of a map, by index. */
export function tellItems(map: MapState, story: NodeStory, decisions: readonly Decision[]): readonly ItemStory[] {
  const since = story.listedAt ?? story.since;
  const items = Array.from({ length: map.total }, (): Telling => ({ since, attempts: [] }));
  for (const decision of decisions) {
    const { to } = decision;
    if (to === 'run' || !decision.items || decision.nodes[0] !== map.node) continue;
    for (const item of decision.items) {
      const itemStory = items[item];
      if (itemStory) tell(itemStory, decision, to);
    }
  }
  return items;
}

function tell(story: Telling, decision: Decision, to: NodeCode): void {
  story.code = to;
  story.since = decision.at;
  delete story.error;
  delete story.by;
  delete story.note;
  delete story.from;
  delete story.times;
  if (decision.from !== undefined) story.from = decision.from;
  if (decision.times) story.times = decision.times;
  if (decision.error) story.error = decision.error;
  if (decision.by !== undefined) story.by = decision.by;
  if (decision.note !== undefined) story.note = decision.note;
  if (to === 'm') story.listedAt = decision.at;
  if (isTerminal(to)) story.overAt = decision.at;
  if (decision.attempt > 0) tellAttempt(story, decision, to);
}

function tellAttempt(story: Telling, decision: Decision, to: NodeCode): void {
  const { attempt, at, rev } = decision;
  if (to === 'r') {
    story.attempts.push({ attempt, startedAt: at });
    story.begunIn = rev;
    return;
  }
  const last = story.attempts.at(-1);
  if (last?.attempt !== attempt) {
    if (!isNoEnd(to)) story.attempts.push({ attempt, end: toEnd(decision, to) });
  } else if (story.begunIn === rev) {
    // A start is carried out after its commit: one that the same commit took back was never made.
    story.attempts.pop();
  } else if (!last.end) {
    story.attempts[story.attempts.length - 1] = { ...last, end: toEnd(decision, to) };
  }
}

/** What ends an item or a node between two attempts, or before the first, ends no attempt. */
function isNoEnd(to: NodeCode): boolean {
  return to === 'A' || to === 'f' || to === 'd';
}

function toEnd({ at, error, by, note }: Decision, to: NodeCode): NonNullable<AttemptStory['end']> {
  return { at, to, ...(error && { error }), ...(by !== undefined && { by }), ...(note !== undefined && { note }) };
}
