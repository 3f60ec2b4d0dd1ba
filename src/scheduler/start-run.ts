/**
 * Starts a run. Order of the writes: the input under a new nonce, the run itself, its line in the list, a ring. A
 * crash between any two does no harm: an input without a run is nobody's, a run is due from its creation on, and
 * its first pass writes its line again.
 */
import type { DefinitionError } from '#domain/definition.ts';
import { floorToTick } from '#domain/due.ts';
import type { CompiledPipeline } from '#domain/graph.ts';
import { canonicalJson, type Json } from '#domain/json.ts';
import { type ParentAttempt, RUN_SCHEMA_VERSION, type RunRecord, type RunTrigger } from '#domain/run.ts';
import { childRunId, deriveRunId, hashInput, isIdempotencyKey, type RunCause } from '#domain/run-id.ts';
import type { PipelineHead } from '#ports/index.ts';
import { toHeader } from './announce.ts';
import type { PassDeps } from './deps.ts';
import { checkInput } from './input-check.ts';
import { loadPipeline } from './pipelines.ts';

/** Key of the stored value that is a run's input. */
export const INPUT_KEY = 'input';

/** A run to be started. */
export interface StartRequest {
  readonly pipeline: string;
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
}

/** What became of the request. `replayed`: the run that the first such request made. */
export type StartOutcome =
  | { readonly kind: 'started' | 'replayed'; readonly run: RunRecord }
  | { readonly kind: 'conflict'; readonly run: RunRecord }
  | { readonly kind: 'noPipeline' | 'noRevision' | 'invalidKey' }
  | {
      /** The input does not fit the schema of the pipeline; each error with its place in the input, a JSON pointer. */
      readonly kind: 'invalidInput';
      readonly errors: readonly DefinitionError[];
    };

/**
 * Starts a run, or finds the one that the same request started before.
 * @throws whatever a port throws; the request may then be repeated
 */
export async function startRun(deps: PassDeps, request: StartRequest): Promise<StartOutcome> {
  if (request.cause?.kind === 'key' && !isIdempotencyKey(request.cause.key)) return { kind: 'invalidKey' };
  const head = await deps.pipelines.readHead(request.pipeline);
  if (!head) return { kind: 'noPipeline' };
  const pipeline = await loadPipeline(deps.pipelines, head.name, request.revision ?? head.revision);
  if (!pipeline) return { kind: 'noRevision' };
  const input = request.input ?? {};
  const id = idOf(deps, request, head);
  const run = newRun(deps, request, { id, pipeline, input });
  const before = (request.cause || request.child) && (await deps.runs.readRun(id));
  if (before) return foundBefore(deps, before, run);
  const errors = inputErrors(pipeline, input);
  if (errors.length > 0) return { kind: 'invalidInput', errors };
  await deps.runs.putValue(run, INPUT_KEY, canonicalJson(input));
  const created = await deps.runs.createRun(run);
  if (!created.created && created.run.nonce !== run.nonce) return foundBefore(deps, created.run, run);
  await deps.runs.putHeader(toHeader(run));
  await deps.inbox.ring(run.id);
  return { kind: 'started', run };
}

function inputErrors({ definition }: CompiledPipeline, input: Json): readonly DefinitionError[] {
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

/** A repeated request rings too: the one before it may have died before it did. */
async function foundBefore(deps: PassDeps, known: RunRecord, asked: RunRecord): Promise<StartOutcome> {
  if (known.inputHash !== asked.inputHash) return { kind: 'conflict', run: known };
  if (known.state === 'QUEUED') await deps.inbox.ring(known.id);
  return { kind: 'replayed', run: known };
}

function newRun(
  deps: PassDeps,
  request: StartRequest,
  what: { readonly id: string; readonly pipeline: CompiledPipeline; readonly input: Json },
): RunRecord {
  const now = deps.clock.now();
  const { retainDays } = what.pipeline.definition;
  return {
    schemaVersion: RUN_SCHEMA_VERSION,
    id: what.id,
    pipeline: request.pipeline,
    revision: what.pipeline.revision,
    nonce: deps.ids.nonce(),
    secret: deps.ids.secret(),
    rev: 1,
    state: 'QUEUED',
    reason: 'Starting',
    since: now,
    createdAt: now,
    trigger: request.trigger,
    ...request.child,
    ...(retainDays !== undefined && { retainDays }),
    tags: request.tags ?? [],
    inputHash: hashInput(what.input),
    nodes: 'p'.repeat(what.pipeline.nodes.length),
    machines: [],
    flights: [],
    decisions: [],
    announced: { rev: 0, state: 'QUEUED' },
    dueAt: floorToTick(now, deps.options),
  };
}
