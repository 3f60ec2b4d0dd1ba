/** What users ask of a run: how it takes effect, and what they are answered. */
import { orderEnd } from './attempts.ts';
import { type Draft, decideRun, flightsOf } from './draft.ts';
import type { MarkCommand, RunCommand, UserCommand } from './facts.ts';
import type { CompiledNode, CompiledPipeline } from './graph.ts';
import { hasToEnd, MARK_CODES, settleMark, toMark } from './marks.ts';
import { isTerminal } from './node-status.ts';
import { isRunOver, type RunRecord } from './run.ts';

/**
 * Pauses a run, or goes on with it. A paused run starts nothing: what is ready stays QUEUED, what waits for a retry
 * waits on, what runs finishes. Time spent paused counts for nobody's limit of waiting, only for the run's own limit.
 */
export function applyPause(draft: Draft): void {
  const { command } = draft.facts;
  if (command?.kind === 'pause' && draft.state === 'RUNNING') {
    decideRun(draft, 'PAUSED', 'RunPaused', command.by);
    draft.queued.clear();
  } else if (command?.kind === 'resume' && draft.state === 'PAUSED') {
    decideRun(draft, 'RUNNING', 'Executing', command.by);
  }
}

/** Orders the deletion of a run that is over, or of any if that is forced: such a run is stopped first. */
export function applyDeletion(draft: Draft): void {
  const { command } = draft.facts;
  if (command?.kind !== 'delete' || draft.deleted) return;
  if (!command.isForced && !isRunOver(draft.state)) return;
  draft.deleted = { at: draft.now, ...(command.by !== undefined && { by: command.by }) };
  draft.taken = true;
  draft.changed = true;
}

/**
 * Decides an unfinished node by hand. What is under way of it is ended first; the mark stands from now on. Nothing
 * is marked in a run that is being stopped.
 */
export function applyMark(draft: Draft): void {
  const { command } = draft.facts;
  if (command?.kind !== 'mark' || draft.stop) return;
  const index = draft.pipeline.indexOf.get(command.node);
  if (index === undefined || isTerminal(draft.nodes[index] as number) || draft.marks.has(index)) return;
  // An answer that was committed first has decided it.
  if (draft.flights.get(index)?.answer) return;
  draft.marks.set(index, toMark(draft, draft.pipeline.nodes[index] as CompiledNode, command));
  draft.taken = true;
  draft.changed = true;
  for (const flight of flightsOf(draft, index)) {
    if (hasToEnd(draft, flight) && !flight.ending) orderEnd(draft, flight, 'Marked');
  }
  settleMark(draft, index);
}

/**
 * What became of a command. `over`: the run had ended before. `stopping`: it is being stopped, `queued`: it has not
 * begun, so it cannot be paused. `active`: it has not ended, so it is not deleted. `noNode`: there is no such node,
 * `nodeOver`: it is over, or decided already.
 */
export type CommandAnswer = 'accepted' | 'already' | 'over' | 'stopping' | 'queued' | 'active' | 'noNode' | 'nodeOver';

/** A command, and the run as its pass found it and as it left it. */
export interface CommandOutcome {
  readonly pipeline: CompiledPipeline;
  readonly before: RunRecord;
  readonly after: RunRecord;
  /** Whether a commit took it: what else that did, or what others did since, matters to nobody who asked. */
  readonly isTaken: boolean;
}

/** What to answer to a command. */
export function answerTo(command: UserCommand, outcome: CommandOutcome): CommandAnswer {
  const { before, after, isTaken } = outcome;
  switch (command.kind) {
    case 'delete':
      if (isTaken) return 'accepted';
      return before.deleted ? 'already' : 'active';
    case 'mark':
      return isTaken ? 'accepted' : answerToMark(command, outcome);
    case 'answer':
      return isTaken ? 'accepted' : 'nodeOver';
    default:
      return answerToRun(command, before, after);
  }
}

function answerToMark({ node, state }: MarkCommand, { pipeline, before, after }: CommandOutcome): CommandAnswer {
  const index = pipeline.indexOf.get(node);
  if (index === undefined) return 'noNode';
  const mark = before.marks?.find((one) => one.node === index);
  if (mark?.state === state || before.nodes.charAt(index) === MARK_CODES[state]) return 'already';
  const isOpen = !mark && !isTerminal(after.nodes.charCodeAt(index));
  return isOpen && after.stop ? 'stopping' : 'nodeOver';
}

function answerToRun(command: RunCommand, before: RunRecord, after: RunRecord): CommandAnswer {
  if (isRunOver(before.state)) return 'over';
  if (command.kind === 'stop') {
    if (before.stop) return 'already';
    return after.stop?.kind === 'user' ? 'accepted' : 'over';
  }
  if (before.stop) return 'stopping';
  if ((before.state === 'PAUSED') === (command.kind === 'pause')) return 'already';
  if (isRunOver(after.state)) return 'over';
  if (after.stop) return 'stopping';
  return command.kind === 'pause' && after.state === 'QUEUED' ? 'queued' : 'accepted';
}
