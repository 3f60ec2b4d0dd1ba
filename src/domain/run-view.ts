/** A run as the API shows it. */
import { STOPPED_FROM_OUTSIDE } from './attempt-view.ts';
import type { CompiledNode } from './graph.ts';
import { toIsoTime } from './iso-time.ts';
import type { Json } from './json.ts';
import { mapProgress } from './map-view.ts';
import { countInWords, errorInWords, inQuotes, listInWords } from './names-in-words.ts';
import { byteOf, isTerminal, type NodeState, statusOf } from './node-status.ts';
import type { Explanation, Reason } from './reasons.ts';
import type { AttemptReport } from './report.ts';
import { type ErrorInfo, isRunOver, type RunRecord, type RunStateName, type RunTrigger } from './run.ts';
import type { RunScope } from './run-scope.ts';
import { type Hold, holdOfIdle, holdOfRun, idleInWords, idleNodes, RESUME } from './waiting-for.ts';

/** The error of a run: what failed first, and in which node where it was one. */
export interface RunError extends ErrorInfo {
  readonly node?: string;
}

/** A run. Times are ISO 8601. */
export interface RunView {
  readonly id: string;
  readonly pipeline: string;
  readonly revision: string;
  readonly state: RunStateName;
  readonly reason: Reason;
  readonly message: string;
  /** Since when it has its state. */
  readonly since: string;
  readonly input: Json;
  readonly output?: Json;
  /** Address of the output where it is too large to be shown. */
  readonly outputRef?: string;
  readonly error?: RunError;
  readonly createdAt: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
  readonly trigger: RunTrigger;
  readonly tags: { readonly [key: string]: string };
  /** 0 to 1: the mean over its nodes; a map counts by the share of its items that are over, another node by its last report. */
  readonly progress: number;
  /** Nodes by state; states that no node has are left out. */
  readonly counts: { readonly [state in NodeState]?: number };
  readonly rev: number;
}

/** Makes the view of a run. */
export function viewRun(
  scope: RunScope,
  values: Pick<RunView, 'input' | 'output' | 'outputRef'> & {
    /** What nodes under way said of themselves, as far as that was read. */
    readonly reports?: readonly AttemptReport[];
  },
): RunView {
  const { run } = scope;
  const counts = countStates(run);
  const { reason, message } = explainRun(scope, counts);
  const error = errorOfRun(scope);
  return {
    id: run.id,
    pipeline: run.pipeline,
    revision: run.revision,
    state: run.state,
    reason,
    message,
    since: toIsoTime(run.since),
    input: values.input,
    ...(values.output !== undefined && { output: values.output }),
    ...(values.outputRef !== undefined && { outputRef: values.outputRef }),
    ...(error && { error }),
    createdAt: toIsoTime(run.createdAt),
    ...(run.startedAt !== undefined && { startedAt: toIsoTime(run.startedAt) }),
    ...(run.endedAt !== undefined && { endedAt: toIsoTime(run.endedAt) }),
    trigger: run.trigger,
    tags: Object.fromEntries(run.tags),
    progress: progressOf(scope, values.reports),
    counts: Object.fromEntries(counts),
    rev: run.rev,
  };
}

/** How many nodes are in which state. */
export function countStates(run: RunRecord): Map<NodeState, number> {
  const counts = new Map<NodeState, number>();
  for (let at = 0; at < run.nodes.length; at++) {
    const { state } = statusOf(run.nodes.charCodeAt(at));
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return counts;
}

function progressOf(scope: RunScope, reports: readonly AttemptReport[] = []): number {
  const { run } = scope;
  if (run.nodes.length === 0) return 1;
  const openMaps = (run.maps ?? []).filter((map) => !isTerminal(run.nodes.charCodeAt(map.node)));
  const inMaps = openMaps.reduce((sum, map) => sum + mapProgress(scope, map), 0);
  const underWay = reports.reduce((sum, { progress }) => sum + progress, 0);
  return (overCount(run) + inMaps + underWay) / run.nodes.length;
}

function overCount(run: RunRecord): number {
  let over = 0;
  for (let at = 0; at < run.nodes.length; at++) if (statusOf(run.nodes.charCodeAt(at)).standing !== 'open') over += 1;
  return over;
}

/** Why a run stands as it does, and what would move it where it waits as a whole. */
export interface RunExplanation extends Explanation {
  readonly movedBy?: string;
}

/** Why a run stands as it does. */
export function explainRun(
  scope: RunScope,
  counts: ReadonlyMap<NodeState, number> = countStates(scope.run),
): RunExplanation {
  const { run, pipeline } = scope;
  const total = countInWords(run.nodes.length, 'node');
  switch (run.state) {
    case 'QUEUED':
      return (
        toRunExplanation(holdOfRun(scope)) ?? { reason: run.reason, message: 'Waits for the scheduler to take it up.' }
      );
    case 'RUNNING':
    case 'PAUSED':
      return explainRunning(scope, counts);
    case 'STOPPING':
      return { reason: run.reason, message: stoppingMessage(scope) };
    case 'SUCCEEDED':
      return {
        reason: run.reason,
        message: `${run.nodes.length === 1 ? 'The only node is' : `All ${total} are`} over: ${countsInWords(counts)}.`,
      };
    case 'FAILED':
      return { reason: run.reason, message: firstBadInWords(scope) ?? 'A node failed.' };
    case 'TIMED_OUT': {
      const seconds = pipeline.timeoutMs === undefined ? '' : ` of ${pipeline.timeoutMs / 1000} s`;
      const bad = firstBadInWords(scope);
      return { reason: run.reason, message: `Its time${seconds} was over.${bad ? ` ${bad}` : ''}` };
    }
    case 'ABORTED':
      if (run.stop?.kind === 'overlap') return { reason: run.reason, message: 'Left out: another run was active.' };
      return { reason: run.reason, message: `Stopped${byInWords(run)}: ${countsInWords(counts)}.` };
  }
}

function toRunExplanation(hold: Hold | undefined): RunExplanation | undefined {
  return hold && { reason: hold.reason, message: hold.message, movedBy: hold.movedBy };
}

function explainRunning(scope: RunScope, counts: ReadonlyMap<NodeState, number>): RunExplanation {
  const { run } = scope;
  const idle = idleNodes(scope);
  const lacking = idle.filter(({ reason }) => reason === 'NoEngine').map(({ node }) => node);
  if (lacking.length > 0) {
    const engines = [...new Set(lacking.map((node) => node.engine))];
    const message = `no engines available to handle pipeline: ${listInWords(lacking.map(({ id }) => id))} ${lacking.length === 1 ? 'needs' : 'need'} ${listInWords(engines)}`;
    return { reason: 'NoEngine', message, movedBy: `An engine ${listInWords(engines)} that takes work.` };
  }
  const bad = firstBadInWords(scope);
  const paused = run.state === 'PAUSED' ? 'Paused: nothing starts until it is resumed. ' : '';
  const message = `${paused}${overCount(run)} of ${countInWords(run.nodes.length, 'node')} are over: ${countsInWords(counts)}.`;
  const told = bad ? `${message} ${bad}` : message;
  const [first] = idle;
  if (!first) return { reason: run.reason, message: told, ...(run.state === 'PAUSED' && { movedBy: RESUME }) };
  const hold = holdOfIdle(scope, first);
  return { reason: hold.reason, message: `${told} ${idleInWords(idle, hold)}`, movedBy: hold.movedBy };
}

function stoppingMessage(scope: RunScope): string {
  const { run } = scope;
  const why = {
    user: `Stopped${byInWords(run)}`,
    failFast: 'Stopped because a node failed and the pipeline fails fast',
    timeout: 'Stopped because its time was over',
    overlap: 'Left out because another run is active',
    fault: 'Ended because its record cannot be carried on',
  }[run.stop?.kind ?? 'user'];
  const ending = run.flights.filter(({ ending }) => ending).length;
  const cleanup = openCleanupNodes(scope);
  const left = [
    ...(ending > 0 || cleanup === 0 ? [countInWords(ending, 'execution')] : []),
    ...(cleanup > 0 ? [countInWords(cleanup, 'cleanup node')] : []),
  ];
  return `${why}; ${left.join(' and ')} still ${ending + cleanup === 1 ? 'has' : 'have'} to end.`;
}

function openCleanupNodes({ run, pipeline }: RunScope): number {
  const isOpen = ({ index }: CompiledNode) => statusOf(run.nodes.charCodeAt(index)).standing === 'open';
  return pipeline.nodes.filter((node) => node.cleanup && isOpen(node)).length;
}

function byInWords(run: RunRecord): string {
  return run.stop?.by === undefined ? '' : ` by ${run.stop.by}`;
}

function countsInWords(counts: ReadonlyMap<NodeState, number>): string {
  return [...counts].map(([state, count]) => `${count} ${state}`).join(', ');
}

/** What failed first, as a sentence that names it. */
function firstBadInWords(scope: RunScope): string | undefined {
  const error = firstError(scope);
  if (!error) return undefined;
  return error.node === undefined
    ? `The run itself failed: ${errorInWords(error)}`
    : `Node ${inQuotes(error.node)} failed: ${errorInWords(error)}`;
}

function errorOfRun(scope: RunScope): RunError | undefined {
  const { state } = scope.run;
  return isRunOver(state) && (state === 'FAILED' || state === 'TIMED_OUT') ? firstError(scope) : undefined;
}

function firstError({ run, pipeline }: RunScope): RunError | undefined {
  if (run.error) return run.error;
  if (!run.firstBad) return undefined;
  const { node, error } = run.firstBad;
  const known = run.nodes.charCodeAt(node) === byteOf('O') ? STOPPED_FROM_OUTSIDE : error;
  return { ...known, node: (pipeline.nodes[node] as CompiledNode).id };
}
