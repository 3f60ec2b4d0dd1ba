/**
 * Puts a pipeline. Order of the writes: the definition under its revision, a row beside each engine that it names, the
 * head that names the revision, and then a pass over the pipeline, which publishes the change. What dies in between
 * leaves either nothing that anybody sees or a head that is due.
 */
import { enginesOf, readyCondition } from '#domain/conditions.ts';
import type { PipelineDefinition } from '#domain/definition.ts';
import { floorToTick } from '#domain/due.ts';
import { type CompiledPipeline, compilePipeline } from '#domain/graph.ts';
import { cursorsOf } from '#domain/pipeline-due.ts';
import type { PipelineHead } from '#domain/pipeline-head.ts';
import { carryCursors } from '#domain/schedule-cursor.ts';
import type { PassDeps } from './deps.ts';
import { readStandings } from './engine-standings.ts';
import { runPipelinePass } from './pipeline-pass.ts';

/** Changes of others that one put steps over, before it gives up. */
const MAX_TRIES = 5;

/** A definition to be put. */
export interface PutRequest {
  readonly definition: PipelineDefinition;
  /** Content hash of the definition. */
  readonly revision: string;
  /** Revisions one of which has to be the present one; `*` is any. @default no condition */
  readonly ifMatch?: readonly string[] | undefined;
}

/**
 * What became of it. `mismatch`: another revision is there than the one expected, or none. `deleting`: the pipeline of
 * this name is being deleted; `busy`: others keep changing it.
 */
export type PutOutcome =
  | { readonly kind: 'created' | 'changed' | 'unchanged'; readonly head: PipelineHead }
  | { readonly kind: 'mismatch'; readonly head?: PipelineHead }
  | { readonly kind: 'deleting' | 'busy' };

/**
 * Puts a definition under the name that it carries.
 * @throws whatever a port throws; the put may then be repeated
 */
export async function putPipeline(deps: PassDeps, request: PutRequest): Promise<PutOutcome> {
  const { definition, revision } = request;
  const pipeline = compilePipeline(definition, revision);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const head = await deps.pipelines.readHead(definition.name);
    if (head?.deleting) return { kind: 'deleting' };
    if (!isExpected(head, request.ifMatch)) return { kind: 'mismatch', ...(head && { head }) };
    if (head?.revision === revision) return { kind: 'unchanged', head: await passed(deps, head) };
    const next = await nextHead(deps, pipeline, head);
    await deps.pipelines.putDefinition(next.name, next.incarnation, revision, definition, next.updatedAt);
    for (const engine of enginesOf(pipeline, deps.engines)) {
      await deps.pipelines.putUse(engine, next.name, next.version);
    }
    if ((await deps.pipelines.commitHead(next, head?.version ?? 0)) === 'conflict') continue;
    return { kind: head ? 'changed' : 'created', head: await passed(deps, next) };
  }
  return { kind: 'busy' };
}

/** The head after a pass; where somebody has taken it away by now, as it was. */
async function passed(deps: PassDeps, head: PipelineHead): Promise<PipelineHead> {
  return (await runPipelinePass(deps, head.name, 'millrace.api')) ?? head;
}

function isExpected(head: PipelineHead | undefined, ifMatch: readonly string[] | undefined): boolean {
  if (!ifMatch) return true;
  return head !== undefined && (ifMatch.includes('*') || ifMatch.includes(head.revision));
}

async function nextHead(
  deps: PassDeps,
  pipeline: CompiledPipeline,
  before: PipelineHead | undefined,
): Promise<PipelineHead> {
  const now = deps.clock.now();
  const engines = await readStandings(deps, pipeline);
  const cursors = carryCursors(pipeline.schedule, cursorsOf(before), now);
  const { rejected: _rejected, ...known } = before ?? {};
  return {
    createdAt: now,
    ...known,
    name: pipeline.name,
    incarnation: before?.incarnation ?? deps.ids.nonce(),
    revision: pipeline.revision,
    version: (before?.version ?? 0) + 1,
    updatedAt: now,
    ready: readyCondition({ pipeline, engines, before: before?.ready, now }),
    tells: true,
    // Rows of engines that are named no more are taken away by the pass that follows.
    engines: [...new Set([...(before?.engines ?? []), ...engines.keys()])],
    cursors: [...cursors],
    dueAt: floorToTick(now, deps.options),
  };
}
