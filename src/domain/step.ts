/**
 * The pure heart of a pass: a run, what was learnt, and the time give the next state of the run and what to do.
 * Invariants: a terminal status never changes; nothing starts once a stop stands; a start is a command of the very
 * step that decided it; the outcome does not depend on the order of the facts.
 */
import { applyApproval } from './approvals.ts';
import { applyDeadlines, applyResult } from './attempts.ts';
import { applyDeletion, applyMark, applyPause } from './control.ts';
import { DEFAULT_STEP_OPTIONS, type Draft, decideRun, isSettled, type StepOptions, toDraft } from './draft.ts';
import { decideDueAt } from './due.ts';
import { type Command, evaluationKey, type Facts, type Wanted } from './facts.ts';
import type { CompiledNode, CompiledPipeline } from './graph.ts';
import { applyHeartbeats } from './heartbeats.ts';
import type { Json } from './json.ts';
import { applyAnswer, applyObservation } from './looks.ts';
import { settleMarks } from './marks.ts';
import { byteOf, isTerminal, statusOf } from './node-status.ts';
import {
  type BranchChoice,
  type Decision,
  isRunOver,
  type MapState,
  owesAnnouncement,
  type RunLimit,
  type RunRecord,
} from './run.ts';
import { leftRows, owesLimits, settleLimits } from './run-limits.ts';
import { lacksItsOutput } from './run-output.ts';
import { sweep } from './starts.ts';
import { carryOutStop, orderFailFast, orderStop } from './stop-orders.ts';
import { begin } from './turns.ts';
import { applyWatch, saysNodes } from './watch.ts';

/** What a step gives. */
export interface StepResult {
  /** The next state; the very record that was given where nothing changed. */
  readonly run: RunRecord;
  /** To be carried out after the commit. */
  readonly commands: readonly Command[];
  /** Evaluations without which some nodes stay as they are: evaluate, and step again from the same record. */
  readonly wanted: readonly Wanted[];
  /** Limits that have to be read before the step can decide: read them, and step again from the same record. */
  readonly unread: readonly string[];
  /**
   * Limits beside which rows of the run stand that ask for nothing any more: they have to go before the commit. A run knows of
   * one row at a limit, and may be about to wait again.
   */
  readonly leftRows: readonly string[];
  /** More could be decided at once, in another commit. */
  readonly again: boolean;
  /** Results whose attempts are still in flight, as an evaluation that they need could not be had now. */
  readonly unfolded: number;
  /** Lists of maps, by the keys under which they have to be stored before the commit. */
  readonly lists: ReadonlyMap<string, readonly Json[]>;
  /** JSON texts by the keys under which they have to be stored before the commit. */
  readonly values: ReadonlyMap<string, string>;
  /** The command took effect. */
  readonly taken: boolean;
  /** The run's output, decided in this step. */
  readonly output?: Json;
}

/**
 * Takes a run one commit further.
 * @param clock `readAt` was read before the facts, `now` after them (ms since the epoch)
 */
export function step(
  pipeline: CompiledPipeline,
  run: RunRecord,
  facts: Facts,
  clock: { readonly now: number; readonly readAt: number },
  options: StepOptions = DEFAULT_STEP_OPTIONS,
): StepResult {
  const draft = toDraft(pipeline, run, facts, clock, options);
  let output: Json | undefined;
  applyDeletion(draft);
  applyWatch(draft);
  if (!isRunOver(run.state)) {
    if (run.state === 'QUEUED' && facts.command?.kind !== 'stop' && !draft.deleted && !facts.fault) begin(draft);
    for (const result of facts.results ?? []) applyResult(draft, result);
    for (const observation of facts.observations ?? []) applyObservation(draft, observation);
    for (const answer of facts.answers ?? []) applyAnswer(draft, answer);
    applyApproval(draft);
    applyMark(draft);
    settleMarks(draft);
    applyDeadlines(draft);
    applyHeartbeats(draft);
    orderStop(draft);
    orderFailFast(draft);
    if (!draft.stop && draft.state !== 'QUEUED') {
      if (!isSettled(draft)) applyPause(draft);
      sweep(draft);
    }
    orderFailFast(draft);
    if (draft.stop) {
      carryOutStop(draft, draft.stop);
      sweep(draft);
    }
    output = finish(draft);
  }
  return toResult(draft, output);
}

/** Closes the run once nothing of it is open. Gives its output, where it has one. */
function finish(draft: Draft): Json | undefined {
  if (isRunOver(draft.state) || !isSettled(draft)) return undefined;
  if (draft.stop?.kind === 'timeout') {
    decideRun(draft, 'TIMED_OUT', 'TimedOut');
  } else if (draft.stop?.kind === 'fault') {
    decideRun(draft, 'FAILED', 'InternalError');
  } else if (draft.pipeline.nodes.some((node) => isBadForRun(draft, node))) {
    decideRun(draft, 'FAILED', 'NodeFailed');
  } else if (draft.stop) {
    decideRun(draft, 'ABORTED', draft.stop.kind === 'overlap' ? 'Overlap' : 'Stopped');
  } else return succeed(draft);
  return undefined;
}

/**
 * FAILED, TIMED_OUT or ABORTED from outside, unless that is allowed. UPSTREAM_FAILED adds nothing: somewhere above such
 * a node stands the failure behind it, and it is bad for the run unless it is allowed.
 */
function isBadForRun(draft: Draft, node: CompiledNode): boolean {
  const byte = draft.nodes[node.index] as number;
  return statusOf(byte).standing === 'bad' && byte !== byteOf('U') && !node.allowFailure;
}

function succeed(draft: Draft): Json | undefined {
  if (draft.pipeline.output === undefined || lacksItsOutput(draft.pipeline, draft.nodes)) {
    decideRun(draft, 'SUCCEEDED', 'Completed');
    return undefined;
  }
  const key = evaluationKey('output', -1, 1);
  const known = draft.facts.evaluations?.get(key);
  if (!known) {
    if (draft.facts.evaluationsClosed) draft.again = true;
    else draft.wanted.push({ key, what: 'output', node: -1, attempt: 1, at: draft.now });
    return undefined;
  }
  if (known.ok) {
    decideRun(draft, 'SUCCEEDED', 'Completed');
    return known.value;
  }
  draft.error = known.error;
  decideRun(draft, 'FAILED', known.error.name === 'Millrace.PayloadTooLarge' ? 'PayloadTooLarge' : 'ExpressionError');
  return undefined;
}

function toResult(draft: Draft, output: Json | undefined): StepResult {
  const limits = settleLimits(draft);
  const announced = draft.facts.announced
    ? { rev: draft.before.rev, state: draft.before.state }
    : draft.before.announced;
  // What an earlier commit owed and nobody has announced is owed still, though this one changes nothing to be told.
  const rev = draft.changed ? draft.before.rev + 1 : draft.before.rev;
  const owes = owesAnnouncement({ announced, state: draft.state, rev }, saysNodes(draft.pipeline, draft));
  const isLeaving = draft.deleted !== undefined && isRunOver(draft.state);
  const dueAt = decideDueAt(draft, owes || owesLimits(limits) || isLeaving);
  const isAnnounced =
    draft.facts.announced === true && owesAnnouncement(draft.before, saysNodes(draft.pipeline, draft.before));
  const acknowledged = isAnnounced || draft.hasAcknowledged;
  const { commands, wanted, again, unfolded, values, taken } = draft;
  const unread = [...draft.unread];
  const lists = new Map([...draft.lists].map(([node, list]) => [(draft.maps.get(node) as MapState).list, list]));
  const result = { commands, wanted, unread, leftRows: leftRows(draft), again, unfolded, lists, values, taken };
  if (!draft.changed && !acknowledged && dueAt === draft.before.dueAt) return { ...result, run: draft.before };
  const run = toRecord(draft, announced, dueAt, limits);
  return { ...result, run, again: again || isLeaving, ...(output !== undefined && { output }) };
}

function toRecord(
  draft: Draft,
  announced: RunRecord['announced'],
  dueAt: number | undefined,
  limits: readonly RunLimit[],
): RunRecord {
  const { dueAt: _past, queued: _waited, limits: _settled, marks: _decided, ...rest } = draft.before;
  const { watchedUntil: _seen, ...before } = rest;
  // An acknowledgement alone changes nothing that anybody was told about, so it takes no revision number of its own.
  const acknowledgedOnly = !draft.changed && (draft.facts.announced === true || draft.hasAcknowledged);
  const hasMoved = draft.state !== before.state;
  const over = hasMoved && isRunOver(draft.state);
  return {
    ...before,
    rev: acknowledgedOnly ? before.rev : before.rev + 1,
    state: draft.state,
    reason: draft.reason,
    ...(hasMoved && { since: draft.now }),
    ...(hasMoved && before.state === 'QUEUED' && { startedAt: draft.now }),
    ...(over && { endedAt: draft.now }),
    nodes: Buffer.from(draft.nodes).toString('latin1'),
    machines: draft.machines,
    flights: [...draft.flights.values()].sort((a, b) => a.node - b.node || (a.item ?? 0) - (b.item ?? 0)),
    ...(draft.maps.size > 0 && { maps: [...draft.maps.values()] }),
    ...(draft.branches.size > 0 && { branches: toChoices(draft) }),
    ...(draft.queued.size > 0 && { queued: [...draft.queued.values()] }),
    ...(limits.length > 0 && { limits }),
    ...(draft.marks.size > 0 && { marks: [...draft.marks.values()] }),
    ...(draft.stop && { stop: draft.stop }),
    ...(draft.deleted && { deleted: draft.deleted }),
    ...(draft.firstBad && { firstBad: draft.firstBad }),
    ...(draft.error && { error: draft.error }),
    ...(draft.watchedUntil !== undefined && { watchedUntil: draft.watchedUntil }),
    decisions: [...before.decisions, ...settledDecisions(draft)],
    announced,
    ...(dueAt !== undefined && { dueAt }),
  };
}

function toChoices(draft: Draft): BranchChoice[] {
  return [...draft.branches].map(([node, chosen]) => ({ node, chosen: [...chosen] }));
}

/**
 * What a node only passed through within this step (ready, then started) is not worth a line of history, except the
 * wait for a retry: nothing else tells that the attempt before it is over.
 */
function settledDecisions(draft: Draft): Decision[] {
  return [...draft.decisions.values()].flatMap((decision) => {
    const { to } = decision;
    if (to === 'run' || to === 'w' || isTerminal(to) || decision.items) return [decision];
    const nodes = decision.nodes.filter((node) => draft.nodes[node] === byteOf(to));
    return nodes.length > 0 ? [{ ...decision, nodes }] : [];
  });
}
