import type { RunCommand } from '#domain/facts.ts';
import type { PassDeps } from './deps.ts';
import { type PassOutcome, runPass } from './pass.ts';

/**
 * Gives a run a command: it is a fact of a pass, so it is either committed or came too late (C41). Idempotent.
 * @param by who asked for it
 */
export function commandRun(deps: PassDeps, runId: string, kind: RunCommand['kind'], by?: string): Promise<PassOutcome> {
  return runPass(deps, runId, { command: { kind, ...(by !== undefined && { by }) } });
}
