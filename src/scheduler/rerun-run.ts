/**
 * Starts a run again: a new run, linked to the one that it comes from, which takes over what needs not run again. The
 * order of the writes is that of any start.
 */
import { createHash } from 'node:crypto';
import { beginFrom } from '#domain/beginning.ts';
import type { CompiledPipeline } from '#domain/graph.ts';
import { canonicalJson, type Json } from '#domain/json.ts';
import { isRunOver, type MarkState, type NodeMark, type RunRecord } from '#domain/run.ts';
import { hashInput, isIdempotencyKey, rerunId } from '#domain/run-id.ts';
import type { PassDeps } from './deps.ts';
import { copyBeginning, type EarlierRefusal, findRun, readEarlier, toIndices, unknownIds } from './earlier-run.ts';
import { foundBefore, INPUT_KEY, placeRun, toNewRun } from './new-run.ts';
import { loadPipeline } from './pipelines.ts';
import { inputErrors, type StartOutcome } from './start-run.ts';

/** What a user makes of a node before the run begins. */
export interface RerunMark {
  readonly state: MarkState;
  /** Of a node that is marked SUCCEEDED. @default null */
  readonly output?: Json | undefined;
  readonly note?: string | undefined;
}

/** A run to be started again. */
export interface RerunRequest {
  readonly runId: string;
  /** What runs again: what neither succeeded nor was skipped, everything, or these nodes and all below them. */
  readonly from: 'failed' | 'all' | readonly string[];
  readonly revision: 'original' | 'latest';
  /** @default that of the earlier run */
  readonly input?: Json | undefined;
  /** By id of the node. */
  readonly marks?: ReadonlyMap<string, RerunMark> | undefined;
  /** Makes a repeated request find the first run. @default none: each request makes a run */
  readonly key?: string | undefined;
  /** Who asked for it. */
  readonly by?: string | undefined;
}

/**
 * What became of the request. `active`: the run is not over, so it cannot be started again. `pipelineGone`: its pipeline
 * was deleted.
 */
export type RerunOutcome =
  | StartOutcome
  | EarlierRefusal
  | { readonly kind: 'active' | 'pipelineGone'; readonly run: RunRecord };

/**
 * Starts a run again, or finds the run that the same request made before.
 * @throws DamagedRunError, NewerRunError; whatever a port throws: the request may then be repeated
 */
export async function rerunRun(deps: PassDeps, request: RerunRequest): Promise<RerunOutcome> {
  const { runId, key } = request;
  if (key !== undefined && !isIdempotencyKey(key)) return { kind: 'invalidKey' };
  const inputHash = hashRequest(request);
  const id = key === undefined ? deps.ids.runId() : rerunId(runId, key);
  const before = key === undefined ? undefined : await deps.runs.readRun(id);
  if (before) return foundBefore(deps, before, inputHash);
  const run = await findRun(deps, runId);
  if (!run) return { kind: 'noEarlierRun' };
  if (!isRunOver(run.state)) return { kind: 'active', run };
  const pipeline = await targetOf(deps, run, request.revision);
  if ('kind' in pipeline) return pipeline;
  return startAgain(deps, request, { id, inputHash, run, pipeline });
}

async function targetOf(
  deps: PassDeps,
  run: RunRecord,
  revision: RerunRequest['revision'],
): Promise<
  CompiledPipeline | { readonly kind: 'pipelineGone'; readonly run: RunRecord } | { readonly kind: 'noRevision' }
> {
  const head = await deps.pipelines.readHead(run.pipeline);
  if (!head || head.deleting) return { kind: 'pipelineGone', run };
  const wanted = revision === 'latest' ? head.revision : run.revision;
  return (await loadPipeline(deps.pipelines, head.name, wanted)) ?? { kind: 'noRevision' };
}

interface Again {
  readonly id: string;
  readonly inputHash: string;
  /** The earlier run. */
  readonly run: RunRecord;
  readonly pipeline: CompiledPipeline;
}

async function startAgain(deps: PassDeps, request: RerunRequest, again: Again): Promise<StartOutcome | EarlierRefusal> {
  const { run: before, pipeline, id, inputHash } = again;
  const { from, marks = new Map<string, RerunMark>(), by } = request;
  const unknown = unknownIds(pipeline, [...(typeof from === 'string' ? [] : from), ...marks.keys()]);
  if (unknown.length > 0) return { kind: 'unknownNodes', ids: unknown, pipeline };
  const known = (await deps.runs.readValue(before, INPUT_KEY)) ?? '{}';
  const input = request.input === undefined ? known : canonicalJson(request.input);
  const errors = inputErrors(pipeline, JSON.parse(input) as Json);
  if (errors.length > 0) return { kind: 'invalidInput', errors };
  const now = deps.clock.now();
  const given = [...marks].map(([node, mark]) => toNodeMark(pipeline.indexOf.get(node) as number, mark, now, by));
  const beginning = beginFrom(pipeline, {
    from: typeof from === 'string' ? from : toIndices(pipeline, from),
    marks: given.map(({ mark }) => mark),
    earlier: await readEarlier(deps, before),
    takesSkips: true,
    resumesMaps: input === known,
    now,
  });
  // Of a run whose own output could not be evaluated, that alone is left to do.
  if (!beginning.hasOpenNodes && given.length === 0 && !before.error) return { kind: 'nothingToRun' };
  const trigger = { ...sameInstant(before), type: 'rerun' as const, runId: before.id, ...(by !== undefined && { by }) };
  const run = toNewRun(deps, { id, pipeline, inputHash, trigger, tags: before.tags, beginning }, now);
  await deps.runs.putValue(run, INPUT_KEY, input);
  for (const { mark, text } of given) if (mark.output !== undefined) await deps.runs.putValue(run, mark.output, text);
  return (await copyBeginning(deps, run, beginning, before)) ?? placeRun(deps, run);
}

/** A mark as the run keeps it, and the text of its output, which is stored under a key that is named by what it says. */
function toNodeMark(
  node: number,
  { state, output = null, note }: RerunMark,
  at: number,
  by: string | undefined,
): { readonly mark: NodeMark; readonly text: string } {
  const text = canonicalJson(output);
  const key = `marked-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
  const mark = {
    node,
    state,
    at,
    ...(state === 'SUCCEEDED' && { output: key }),
    ...(by !== undefined && { by }),
    ...(note !== undefined && { note }),
  };
  return { mark, text };
}

function hashRequest({ from, revision, input, marks }: RerunRequest): string {
  const which = typeof from === 'string' ? from : [...from].sort();
  const given = [...(marks ?? [])].map(([node, { state, output = null }]) => [node, state, output]);
  return hashInput([which, revision, input === undefined ? [] : [input], given.sort()] as Json);
}

/** A run of a schedule stands for the same instant when it is run again. */
function sameInstant({ trigger }: RunRecord): Pick<RunRecord['trigger'], 'instant' | 'previousInstant' | 'entry'> {
  const { instant, previousInstant, entry } = trigger;
  return {
    ...(instant !== undefined && { instant }),
    ...(previousInstant !== undefined && { previousInstant }),
    ...(entry !== undefined && { entry }),
  };
}
