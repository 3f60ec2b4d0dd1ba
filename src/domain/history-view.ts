/**
 * What happened in a run, in order, as the API shows it, with the run's revision number: one entry a node and change;
 * items of a map that changed alike in one commit share an entry.
 */
import { type BranchView, viewBranch } from './branch-view.ts';
import type { CompiledNode } from './graph.ts';
import { toIsoTime } from './iso-time.ts';
import { type NodeState, statusOf } from './node-status.ts';
import type { Reason } from './reasons.ts';
import type { Decision, ErrorInfo, RunStateName } from './run.ts';
import type { RunScope } from './run-scope.ts';

/** One entry of the history. */
export interface HistoryEntry {
  readonly at: string;
  /** Revision number of the run that this change made. */
  readonly rev: number;
  /** Id of the node; absent where the run itself changed. */
  readonly node?: string;
  readonly state: NodeState | RunStateName;
  readonly reason: Reason;
  readonly attempt?: number;
  /** Indices of the items, where it is about items of a map. */
  readonly items?: readonly number[];
  /** What a branch chose, with its success. */
  readonly branch?: BranchView;
  readonly error?: ErrorInfo;
  readonly by?: string;
  /** What they said about it. */
  readonly note?: string;
  /** The run whose result it is, where this one took that over. */
  readonly reusedFrom?: string;
}

/**
 * The history from the creation of the run on.
 * @param withItems whether it tells of the items of maps @default true
 */
export function* viewHistory(
  scope: RunScope,
  decisions: readonly Decision[],
  withItems = true,
): Generator<HistoryEntry, void, undefined> {
  const { run } = scope;
  const by = run.trigger.by;
  yield { at: toIsoTime(run.createdAt), rev: 1, state: 'QUEUED', reason: 'Starting', ...(by !== undefined && { by }) };
  for (const decision of decisions) {
    if (decision.items && !withItems) continue;
    if (decision.to === 'run') yield runEntry(decision);
    else for (const node of decision.nodes) yield nodeEntry(scope, decision, decision.to, node);
  }
}

function runEntry(decision: Decision): HistoryEntry {
  const { at, rev, state = 'RUNNING', reason = 'Executing', by } = decision;
  return { at: toIsoTime(at), rev, state, reason, ...(by !== undefined && { by }) };
}

function nodeEntry(
  scope: RunScope,
  decision: Decision,
  to: Exclude<Decision['to'], 'run'>,
  node: number,
): HistoryEntry {
  const { at, rev, attempt, items, error, by, note, from } = decision;
  const { state, reason } = statusOf(to);
  const compiled = scope.pipeline.nodes[node] as CompiledNode;
  const branch = to === 'S' || to === 'M' ? viewBranch(scope, compiled) : undefined;
  return {
    at: toIsoTime(at),
    rev,
    node: compiled.id,
    state,
    reason,
    ...(attempt > 0 && { attempt }),
    ...(items && { items }),
    ...(branch && { branch }),
    ...(error && { error }),
    ...(by !== undefined && { by }),
    ...(note !== undefined && { note }),
    ...(from !== undefined && { reusedFrom: from }),
  };
}
