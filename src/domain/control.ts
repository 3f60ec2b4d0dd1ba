/** What users ask of a run: how it takes effect, and what they are answered. */
import { type Draft, decideRun } from './draft.ts';
import type { UserCommand } from './facts.ts';
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

/**
 * What became of a command. `over`: the run had ended before. `stopping`: it is being stopped, `queued`: it has not
 * begun, so it cannot be paused.
 */
export type CommandAnswer = 'accepted' | 'already' | 'over' | 'stopping' | 'queued';

/** What to answer to a command, by the run as the pass found it and as it left it. */
export function answerTo(command: UserCommand, before: RunRecord, after: RunRecord): CommandAnswer {
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
