/**
 * What a new run takes over from an earlier one: read, decided by the domain, and copied before the new run is made, so
 * that what becomes of the earlier one later harms nothing. Results are copied as they are stored, a page at a time: a
 * run of thousands of them is copied within one call.
 */
import pMap from 'p-map';
import { type Beginning, type EarlierRun, placeKey } from '#domain/beginning.ts';
import type { CompiledPipeline } from '#domain/graph.ts';
import { mergeDecisions } from '#domain/node-story.ts';
import type { RunRecord } from '#domain/run.ts';
import { DamagedRunError } from '#domain/run-codec.ts';
import type { PassDeps } from './deps.ts';
import { copyList } from './map-lists.ts';
import { loadPipeline } from './pipelines.ts';

/** Lists that are copied at the same time. */
const PARALLEL_LISTS = 10;

/** Why nothing can be taken over from a run, or nothing is left to run. */
export type EarlierRefusal =
  /** `noEarlierRun`: the run is not there, `otherPipeline`: it is another pipeline's. */
  | { readonly kind: 'noEarlierRun' | 'otherPipeline' }
  /** Every node is decided already. */
  | { readonly kind: 'nothingToRun' }
  | { readonly kind: 'unknownNodes'; readonly ids: readonly string[]; readonly pipeline: CompiledPipeline };

/** The ids that are no nodes of a pipeline. */
export function unknownIds(pipeline: CompiledPipeline, ids: readonly string[]): string[] {
  return ids.filter((id) => !pipeline.indexOf.has(id));
}

/** The indices of the nodes that are there. */
export function toIndices(pipeline: CompiledPipeline, ids: readonly string[]): ReadonlySet<number> {
  return new Set(ids.flatMap((id) => pipeline.indexOf.get(id) ?? []));
}

/** Reads a run, unless it is not there or being deleted. */
export async function findRun(deps: PassDeps, runId: string): Promise<RunRecord | undefined> {
  const run = await deps.runs.readRun(runId);
  return run?.deleted ? undefined : run;
}

/**
 * Reads all that decides what can be taken over from a run.
 * @throws DamagedRunError where its revision is not there
 */
export async function readEarlier(deps: PassDeps, run: RunRecord): Promise<EarlierRun> {
  const [pipeline, history] = await Promise.all([
    loadPipeline(deps.pipelines, run.pipeline, run.revision),
    deps.runs.listHistory(run, run.createdAt),
  ]);
  if (!pipeline) {
    throw new DamagedRunError(run.id, `revision ${run.revision} of pipeline ${run.pipeline} cannot be found`);
  }
  return { pipeline, run, decisions: mergeDecisions(history, run) };
}

/**
 * Stores what a new run begins with, under its own nonce.
 * @returns a refusal where the earlier run was not there until all was copied: a deletion takes its parts one by one
 * @throws DamagedRunError where a part of an earlier run that is there cannot be found
 */
export async function copyBeginning(
  deps: PassDeps,
  run: RunRecord,
  beginning: Beginning,
  earlier: RunRecord | undefined,
): Promise<{ readonly kind: 'noEarlierRun' } | undefined> {
  const { results, lists, decisions } = beginning;
  if (decisions.length > 0) await deps.runs.putHistory(run, run.rev, decisions, run.createdAt);
  if (!earlier) return undefined;
  if (results.size > 0) await deps.runs.copyResults(earlier, run, (place) => results.get(placeKey(place)));
  const gaps = await pMap(lists, (list) => copyList(deps, earlier, run, list), { concurrency: PARALLEL_LISTS });
  const now = await findRun(deps, earlier.id);
  if (now?.nonce !== earlier.nonce) return { kind: 'noEarlierRun' };
  const gap = gaps.find((piece) => piece !== undefined);
  if (gap !== undefined) throw new DamagedRunError(earlier.id, `the list ${gap} cannot be found`);
  return undefined;
}
