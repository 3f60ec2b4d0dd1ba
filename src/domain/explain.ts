/** Everything of a run that is unfinished: why, since when, and what would move it (DESIGN, "No silent waiting"). */
import { approvalMover } from './asked-view.ts';
import { deadlineOf, silentAt } from './due.ts';
import type { AttemptResult } from './facts.ts';
import type { CompiledNode } from './graph.ts';
import { withHeard } from './heard.ts';
import { toIsoTime } from './iso-time.ts';
import { holdOfMap, type MapView, tallyMap, viewMap } from './map-view.ts';
import { listInWords } from './names-in-words.ts';
import { explainNode, openUpstreams } from './node-reason.ts';
import { byteOf, type NodeState, statusOf } from './node-status.ts';
import type { NodeStory } from './node-story.ts';
import type { Reason } from './reasons.ts';
import { type AttemptReport, type ReportView, viewReport } from './report.ts';
import { type Flight, isUnderWay, type MapState } from './run.ts';
import { indexRun } from './run-index.ts';
import { executionOf, type RunScope } from './run-scope.ts';
import { type Hold, holdOfQueued, holdOfRun, NEXT_PASS, RESUME } from './waiting-for.ts';

/** Upstreams that one entry names; more are only counted in its message. */
const NAMED_UPSTREAMS = 20;

/** One unfinished node. */
export interface UnfinishedNode {
  readonly id: string;
  readonly state: NodeState;
  readonly reason: Reason;
  readonly message: string;
  readonly since: string;
  /** What would move it, as a sentence. */
  readonly movedBy: string;
  /** The upstreams that it waits for; at most 20. */
  readonly upstreams?: readonly string[];
  /** The engine that it waits for. */
  readonly engine?: string;
  /** The pool that it waits for. */
  readonly pool?: string;
  /** The execution that has to end. */
  readonly executionArn?: string;
  readonly childRunId?: string;
  /** When its next attempt starts. */
  readonly nextAttemptAt?: string;
  /**
   * When its attempt is ended, should it not end before; known once Step Functions has confirmed its start. Of a
   * QUEUED node, when it is given up, should it not start before.
   */
  readonly deadline?: string;
  /** The items of a map that has its list. */
  readonly map?: MapView;
  /** What the code of its attempt under way last said. */
  readonly report?: ReportView;
}

/** The unfinished nodes, in the order of the definition, each with its place there. */
export function listUnfinished({ run, pipeline }: RunScope): { readonly node: CompiledNode; readonly place: number }[] {
  return pipeline.definitionOrder
    .map((index, place) => ({ node: pipeline.nodes[index] as CompiledNode, place }))
    .filter(({ node }) => statusOf(run.nodes.charCodeAt(node.index)).standing === 'open');
}

/**
 * Explains one unfinished node; the items of a map are counted, and never named one by one.
 * `lastResult` is that of the attempt that failed, where it waits for the next one.
 */
export function explainUnfinished(
  scope: RunScope,
  node: CompiledNode,
  known: {
    readonly story: NodeStory;
    readonly lastResult?: AttemptResult | undefined;
    /** What its attempt under way last said. */
    readonly report?: AttemptReport | undefined;
  },
): UnfinishedNode {
  const { story, lastResult, report } = known;
  const { flights, maps } = indexRun(scope.run);
  const flight = flights.get(node.index);
  const map = maps.get(node.index);
  const error = flight && !isUnderWay(flight) ? (story.error ?? lastResult?.error) : undefined;
  const { reason, message } = explainNode(scope, node, { story, flight, error, report });
  const byte = scope.run.nodes.charCodeAt(node.index);
  return {
    id: node.id,
    state: statusOf(byte).state,
    reason,
    message,
    since: toIsoTime(flight?.ending ? flight.since : story.since),
    ...(map
      ? { ...mapMover(scope, node, map), map: viewMap(scope, map, story) }
      : moverOf(scope, node, flight && withHeard(flight, report?.at), byte)),
    ...(report && { report: viewReport(report) }),
  };
}

type Mover = Pick<
  UnfinishedNode,
  'movedBy' | 'upstreams' | 'engine' | 'pool' | 'executionArn' | 'childRunId' | 'nextAttemptAt' | 'deadline'
>;

function moverOf(scope: RunScope, node: CompiledNode, flight: Flight | undefined, byte: number): Mover {
  const isPaused = scope.run.state === 'PAUSED';
  if (flight?.phase === 'retry') return retryMover(flight, isPaused);
  if (flight && isUnderWay(flight)) return executionMover(scope, node, flight);
  if (statusOf(byte).state === 'QUEUED') {
    if (isPaused) return { movedBy: RESUME };
    return queueMover(scope, node);
  }
  const upstreams = byte === byteOf('p') ? openUpstreams(scope, node) : [];
  if (upstreams.length > 0) {
    const movedBy = `It is decided when ${listInWords(upstreams)} ${upstreams.length === 1 ? 'is' : 'are'} over.`;
    return { movedBy, upstreams: upstreams.slice(0, NAMED_UPSTREAMS) };
  }
  return { movedBy: holdOfRun(scope)?.movedBy ?? NEXT_PASS };
}

function queueMover(scope: RunScope, node: CompiledNode): Mover {
  const until = indexRun(scope.run).queued.get(node.index)?.until;
  return { ...moverOfHold(holdOfQueued(scope, node)), ...(until !== undefined && { deadline: toIsoTime(until) }) };
}

function moverOfHold({ movedBy, engine, pool }: Hold): Mover {
  return { movedBy, ...(engine !== undefined && { engine }), ...(pool !== undefined && { pool }) };
}

function mapMover(scope: RunScope, node: CompiledNode, map: MapState): Mover {
  const { underWay, nextAttemptAt } = tallyMap(scope, map);
  const hold = holdOfMap(scope, node, map);
  const mover = hold ? moverOfHold(hold) : { movedBy: NEXT_PASS };
  const ends = node.engine === 'approval' ? 'The answers to its items' : 'The ends of the executions of its items';
  if (underWay > 0) return { ...mover, movedBy: `${ends}.` };
  const isHeld = hold && hold.reason !== 'MapLimit' && hold.reason !== 'RunLimit';
  if (isHeld || nextAttemptAt === undefined) return mover;
  const next = toIsoTime(nextAttemptAt);
  return { movedBy: `The next attempt of an item starts by itself at ${next}.`, nextAttemptAt: next };
}

function retryMover(flight: Flight, isPaused: boolean): Mover {
  const nextAttemptAt = toIsoTime(flight.pollAt);
  if (isPaused) return { movedBy: RESUME, nextAttemptAt };
  return { movedBy: `Its next attempt starts by itself at ${nextAttemptAt}.`, nextAttemptAt };
}

function executionMover(scope: RunScope, node: CompiledNode, flight: Flight): Mover {
  const asked = approvalMover(scope, flight);
  if (asked) return asked;
  const place = executionOf(scope, node, flight, flight);
  if (flight.ending) return { movedBy: 'The end of its execution, which has been told to stop.', ...place };
  if (flight.throttled) {
    return {
      movedBy: `The start is asked for again at ${toIsoTime(flight.pollAt)}.`,
      nextAttemptAt: toIsoTime(flight.pollAt),
      ...place,
    };
  }
  const time = Math.min(deadlineOf(scope.pipeline, flight), silentAt(scope.pipeline, flight));
  if (!Number.isFinite(time)) return { movedBy: 'The end of its execution.', ...place };
  const deadline = toIsoTime(time);
  const unless =
    time < deadlineOf(scope.pipeline, flight) ? `, a report, or the time for that at` : `, or its deadline at`;
  return { movedBy: `The end of its execution${unless} ${deadline}.`, ...place, deadline };
}
