/**
 * Starts a run. Order of the writes: the input, and what is taken over from an earlier run, under a new nonce; the run
 * itself; its line in the list; a ring. A crash between any two does no harm: values without a run are nobody's, a run
 * is due from its creation on, and its first pass writes its line again.
 */
import type { Beginning } from '#domain/beginning.ts';
import type { DefinitionError } from '#domain/definition.ts';
import type { CompiledPipeline } from '#domain/graph.ts';
import { canonicalJson, type Json } from '#domain/json.ts';
import type { ParentAttempt, RunRecord, RunTrigger } from '#domain/run.ts';
import { childRunId, deriveRunId, hashInput, isIdempotencyKey, type RunCause } from '#domain/run-id.ts';
import type { PipelineHead } from '#ports/index.ts';
import type { PassDeps } from './deps.ts';
import { checkInput } from './input-check.ts';
import { foundBefore, INPUT_KEY, type PlacedRun, placeRun, toNewRun } from './new-run.ts';
import { loadPipeline } from './pipelines.ts';

/** A run to be started. */
export interface StartRequest {
  readonly pipeline: string;
  /** That of the pipeline for which the run is meant; one made anew under its name is another one. @default any */
  readonly incarnation?: string | undefined;
  /** @default {} */
  readonly input?: Json | undefined;
  /** @default the pipeline's newest */
  readonly revision?: string | undefined;
  readonly tags?: readonly (readonly [string, string])[] | undefined;
  /** Makes a repeated request find the first run. @default none: each request makes a run */
  readonly cause?: RunCause | undefined;
  readonly trigger: RunTrigger;
  /** Makes the run the child of an attempt, whose repeated start finds it. */
  readonly child?: { readonly parent: ParentAttempt; readonly depth: number } | undefined;
  /** How many runs led to this one, by events. @default 0 */
  readonly depth?: number | undefined;
  /** When what decided it was read (ms since the epoch): longer ago than a pass may last, and nothing is made. @default at any time */
  readonly decidedAt?: number | undefined;
}

/** A run was to be made by a process that slept since this was decided. */
export class DecidedTooLongAgoError extends Error {
  constructor(pipeline: string) {
    super(`that a run of ${pipeline} starts was decided too long ago`);
    this.name = 'DecidedTooLongAgoError';
  }
}

/** What became of the request. */
export type StartOutcome =
  | PlacedRun
  | { readonly kind: 'noPipeline' | 'noRevision' | 'invalidKey' }
  | {
      /** The input does not fit the schema of the pipeline; each error with its place in the input, a JSON pointer. */
      readonly kind: 'invalidInput';
      readonly errors: readonly DefinitionError[];
    };

/** Why nothing can be begun as it was asked. */
export type Refusal = { readonly kind: string };

/** What a run begins with, where it does not begin with nothing. */
export interface Begun<R extends Refusal> {
  readonly beginning?: Beginning;
  /** Stores what the beginning takes over, under the nonce of the new run; gives what hinders it. */
  readonly store?: (run: RunRecord) => Promise<R | undefined>;
}

/**
 * Starts a run, or finds the one that the same request started before.
 * @throws whatever a port throws; the request may then be repeated
 */
export function startRun(deps: PassDeps, request: StartRequest): Promise<StartOutcome> {
  return startWith<never>(deps, request, hashInput(request.input ?? {}), async () => ({}));
}

/**
 * Starts a run with a beginning of its own.
 * @throws DecidedTooLongAgoError, and whatever a port throws; the request may then be repeated
 * @param inputHash tells a repeated request from another one under the same key
 * @param begin asked once it is known that the run has to be made, and when that is (ms since the epoch)
 */
export async function startWith<R extends Refusal>(
  deps: PassDeps,
  request: StartRequest,
  inputHash: string,
  begin: (pipeline: CompiledPipeline, now: number) => Promise<Begun<R> | R>,
): Promise<StartOutcome | R> {
  if (request.cause?.kind === 'key' && !isIdempotencyKey(request.cause.key)) return { kind: 'invalidKey' };
  const head = await deps.pipelines.readHead(request.pipeline);
  if (!head || head.deleting) return { kind: 'noPipeline' };
  if (request.incarnation !== undefined && request.incarnation !== head.incarnation) return { kind: 'noPipeline' };
  const pipeline = await loadPipeline(deps.pipelines, head.name, request.revision ?? head.revision);
  if (!pipeline) return { kind: 'noRevision' };
  const { input = {}, tags, trigger, child, depth } = request;
  const id = idOf(deps, request, head);
  const before = (request.cause || child) && (await deps.runs.readRun(id));
  if (before) return foundBefore(deps, before, inputHash);
  const errors = inputErrors(pipeline, input);
  if (errors.length > 0) return { kind: 'invalidInput', errors };
  const now = deps.clock.now();
  const begun = await begin(pipeline, now);
  if ('kind' in begun) return begun;
  const { beginning } = begun;
  const run = toNewRun(deps, { id, pipeline, inputHash, tags, trigger, child, depth, beginning }, now);
  await deps.runs.putValue(run, INPUT_KEY, canonicalJson(input));
  const hindrance = await begun.store?.(run);
  if (hindrance) return hindrance;
  checkFresh(deps, request);
  return placeRun(deps, run);
}

/**
 * A process that slept may not act on what it knew before: the pipeline may have been paused, or have another schedule;
 * the run of a child may have come to its end, and been deleted.
 */
function checkFresh({ clock, options }: PassDeps, { pipeline, decidedAt }: StartRequest): void {
  if (decidedAt === undefined || clock.now() - decidedAt <= options.passMs) return;
  throw new DecidedTooLongAgoError(pipeline);
}

/** What is wrong with an input for a pipeline. */
export function inputErrors({ definition }: CompiledPipeline, input: Json): readonly DefinitionError[] {
  return definition.input ? checkInput(definition.input.schema, input) : [];
}

/** What is wrong with an input in a sentence: the first error, and how many there are. */
export function inputErrorsInWords(errors: readonly DefinitionError[]): string {
  const [first] = errors;
  const more = errors.length > 1 ? `, and ${errors.length - 1} more` : '';
  return `${first?.path ? `${first.path}: ` : ''}${first?.message}${more}`;
}

function idOf(deps: PassDeps, request: StartRequest, head: PipelineHead): string {
  if (request.child) return childRunId(request.child.parent);
  return request.cause ? deriveRunId(head.name, head.incarnation, request.cause) : deps.ids.runId();
}
