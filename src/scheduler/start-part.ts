/**
 * Partial starts: only some nodes of a pipeline run, with the ancestors that they need, and results of an earlier run
 * stand for those that need not run.
 */
import { beginFrom } from '#domain/beginning.ts';
import type { CompiledPipeline } from '#domain/graph.ts';
import { hashInput } from '#domain/run-id.ts';
import type { PassDeps } from './deps.ts';
import { copyBeginning, type EarlierRefusal, findRun, readEarlier, toIndices, unknownIds } from './earlier-run.ts';
import { type Begun, type StartOutcome, type StartRequest, startWith } from './start-run.ts';

/** A run to be started in part. */
export interface PartRequest extends StartRequest {
  /** Ids of nodes: these and the ancestors that they need run, the rest is skipped. @default all nodes */
  readonly only?: readonly string[] | undefined;
  /** Id of a run of the pipeline whose successes stand for nodes that need not run. @default none */
  readonly reuse?: string | undefined;
}

/**
 * Starts a run in part, or finds the one that the same request started before.
 * @throws whatever a port throws; the request may then be repeated
 */
export function startPart(deps: PassDeps, request: PartRequest): Promise<StartOutcome | EarlierRefusal> {
  const { input = {}, only, reuse } = request;
  const asked = { input, only: only ? [...new Set(only)].sort() : null, reuse: reuse ?? null };
  return startWith<EarlierRefusal>(deps, request, hashInput(asked), (pipeline, now) =>
    begin(deps, request, pipeline, now),
  );
}

async function begin(
  deps: PassDeps,
  { only, reuse }: PartRequest,
  pipeline: CompiledPipeline,
  now: number,
): Promise<Begun<EarlierRefusal> | EarlierRefusal> {
  const unknown = unknownIds(pipeline, only ?? []);
  if (unknown.length > 0) return { kind: 'unknownNodes', ids: unknown, pipeline };
  const earlier = reuse === undefined ? undefined : await findRun(deps, reuse);
  if (reuse !== undefined && !earlier) return { kind: 'noEarlierRun' };
  if (earlier && earlier.pipeline !== pipeline.name) return { kind: 'otherPipeline' };
  const chosen = only && toIndices(pipeline, only);
  const beginning = beginFrom(pipeline, {
    from: chosen ?? 'failed',
    only: chosen,
    earlier: earlier && (await readEarlier(deps, earlier)),
    now,
  });
  if (!beginning.hasOpenNodes) return { kind: 'nothingToRun' };
  return { beginning, store: (run) => copyBeginning(deps, run, beginning, earlier) };
}
