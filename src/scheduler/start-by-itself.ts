import { deriveRunId, type RunCause } from '#domain/run-id.ts';
import type { PassDeps } from './deps.ts';
import { type StartOutcome, type StartRequest, startRun } from './start-run.ts';

/** A start that nobody makes by hand, and that may come again. */
export type StartByItself = Omit<StartRequest, 'cause' | 'child'> & { readonly cause: RunCause };

/**
 * Starts a run for an event or an instant: not while the pipeline is paused, unless the same start made its run
 * before that.
 * @throws whatever a port throws; the request may then be repeated
 */
export async function startByItself(
  deps: PassDeps,
  request: StartByItself,
): Promise<StartOutcome | { readonly kind: 'paused' }> {
  const head = await deps.pipelines.readHead(request.pipeline);
  if (head?.paused) {
    const known = await deps.runs.readRun(deriveRunId(head.name, head.incarnation, request.cause));
    if (!known) return { kind: 'paused' };
  }
  return startRun(deps, request);
}
