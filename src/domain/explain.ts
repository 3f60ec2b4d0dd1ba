/** Everything of a run that is unfinished: why, since when, and what would move it (DESIGN, "No silent waiting"). */
import { deadlineOf } from './due.ts';
import type { AttemptResult } from './facts.ts';
import type { CompiledNode } from './graph.ts';
import { toIsoTime } from './iso-time.ts';
import { inQuotes, listInWords } from './names-in-words.ts';
import { explainNode, openUpstreams } from './node-reason.ts';
import { byteOf, type NodeState, statusOf } from './node-status.ts';
import type { NodeStory } from './node-story.ts';
import type { Reason } from './reasons.ts';
import type { Flight } from './run.ts';
import { executionArnOf, type RunScope } from './run-scope.ts';

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
  /** The execution that has to end. */
  readonly executionArn?: string;
  /** When its next attempt starts. */
  readonly nextAttemptAt?: string;
  /** When its attempt is ended, should it not end before; known once Step Functions has confirmed its start. */
  readonly deadline?: string;
}

/** The unfinished nodes, in the order of the definition, each with its place there. */
export function listUnfinished({ run, pipeline }: RunScope): { readonly node: CompiledNode; readonly place: number }[] {
  return pipeline.definitionOrder
    .map((index, place) => ({ node: pipeline.nodes[index] as CompiledNode, place }))
    .filter(({ node }) => statusOf(run.nodes.charCodeAt(node.index)).standing === 'open');
}

/** Explains one unfinished node. `lastResult` is that of the attempt that failed, where it waits for the next one. */
export function explainUnfinished(
  scope: RunScope,
  node: CompiledNode,
  known: {
    readonly story: NodeStory;
    readonly flight?: Flight | undefined;
    readonly lastResult?: AttemptResult | undefined;
  },
): UnfinishedNode {
  const { story, flight, lastResult } = known;
  const error = flight?.phase === 'retry' ? (story.error ?? lastResult?.error) : undefined;
  const { reason, message } = explainNode(scope, node, { story, flight, error });
  const byte = scope.run.nodes.charCodeAt(node.index);
  return {
    id: node.id,
    state: statusOf(byte).state,
    reason,
    message,
    since: toIsoTime(flight?.ending ? flight.since : story.since),
    ...moverOf(scope, node, flight, byte),
  };
}

type Mover = Pick<UnfinishedNode, 'movedBy' | 'upstreams' | 'engine' | 'executionArn' | 'nextAttemptAt' | 'deadline'>;

function moverOf(scope: RunScope, node: CompiledNode, flight: Flight | undefined, byte: number): Mover {
  if (flight?.phase === 'retry') return retryMover(flight);
  if (flight) return executionMover(scope, node, flight);
  if (byte === byteOf('n')) {
    const movedBy = `Register an engine named ${inQuotes(node.engine)}, or stop the run.`;
    return { movedBy, engine: node.engine };
  }
  const upstreams = byte === byteOf('p') ? openUpstreams(scope, node) : [];
  if (upstreams.length > 0) {
    const movedBy = `It is decided when ${listInWords(upstreams)} ${upstreams.length === 1 ? 'is' : 'are'} over.`;
    return { movedBy, upstreams: upstreams.slice(0, NAMED_UPSTREAMS) };
  }
  return { movedBy: 'The next pass takes it on; that is at most one tick away.' };
}

function retryMover(flight: Flight): Mover {
  const nextAttemptAt = toIsoTime(flight.pollAt);
  return { movedBy: `Its next attempt starts by itself at ${nextAttemptAt}.`, nextAttemptAt };
}

function executionMover(scope: RunScope, node: CompiledNode, flight: Flight): Mover {
  const executionArn = executionArnOf(scope, node, flight.attempt, flight);
  const arn = executionArn === undefined ? {} : { executionArn };
  if (flight.ending) return { movedBy: 'The end of its execution, which has been told to stop.', ...arn };
  if (flight.throttled) {
    return {
      movedBy: `The start is asked for again at ${toIsoTime(flight.pollAt)}.`,
      nextAttemptAt: toIsoTime(flight.pollAt),
      ...arn,
    };
  }
  const time = deadlineOf(scope.pipeline, flight);
  if (!Number.isFinite(time)) return { movedBy: 'The end of its execution.', ...arn };
  const deadline = toIsoTime(time);
  return { movedBy: `The end of its execution, or its deadline at ${deadline}.`, ...arn, deadline };
}
