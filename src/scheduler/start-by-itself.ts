import { deriveRunId, hashInput, type RunCause } from '#domain/run-id.ts';
import type { PassDeps } from './deps.ts';
import { type Refusal, type StartOutcome, type StartRequest, startWith } from './start-run.ts';

/** A start that nobody makes by hand, and that may come again. */
export type StartByItself = Omit<StartRequest, 'cause' | 'child'> & { readonly cause: RunCause };

/**
 * Starts a run for an event or an instant: not while the pipeline is paused, unless the same start made its run
 * before that.
 * @param hinder asked once all else is right and the run has to be made, with its id; gives what hinders it
 * @throws DecidedTooLongAgoError, and whatever a port throws; the request may then be repeated
 */
export async function startByItself<R extends Refusal = never>(
  deps: PassDeps,
  request: StartByItself,
  hinder?: (runId: string) => Promise<R | undefined>,
): Promise<StartOutcome | { readonly kind: 'paused' } | R> {
  const decidedAt = request.decidedAt ?? deps.clock.now();
  const head = await deps.pipelines.readHead(request.pipeline);
  if (!head) return { kind: 'noPipeline' };
  const runId = deriveRunId(head.name, head.incarnation, request.cause);
  if (head.paused && !(await deps.runs.readRun(runId))) return { kind: 'paused' };
  const fresh = { ...request, decidedAt };
  return startWith<R>(deps, fresh, hashInput(request.input ?? {}), async () => (await hinder?.(runId)) ?? {});
}
