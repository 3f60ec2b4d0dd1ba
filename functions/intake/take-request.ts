/** One request of another system: read strictly, carried out, or refused with a reason that its sender can use. */
import * as z from 'zod';
import { isRunId } from '#domain/execution-name.ts';
import type { Json } from '#domain/json.ts';
import { parseJsonStrict } from '#domain/json-text.ts';
import type { RunCause } from '#domain/run-id.ts';
import { MAX_HOPS, runRequestedSchema, stopRequestedSchema } from '#http/event-schemas.ts';
import { toFieldProblems } from '#http/field-problems.ts';
import { ApiProblem, type FieldProblem } from '#http/problem.ts';
import { refuseForbiddenKeys } from '#http/request-body.ts';
import { commandRun } from '#scheduler/command-run.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { startByItself } from '#scheduler/start-by-itself.ts';
import { inputErrorsInWords } from '#scheduler/start-run.ts';

/** Why a request was refused; for `RunRejected`. */
export interface Refusal {
  readonly code: string;
  readonly message: string;
  readonly errors?: readonly FieldProblem[];
}

/** What is known of the event, whatever is wrong with it. */
export interface EventHead {
  readonly eventId: string;
  readonly source?: string;
  readonly detailType?: string;
  readonly hops: number;
  readonly pipeline?: string;
  readonly runId?: string;
}

/** What became of a request. `again`: not now, but the same message may well be taken later. */
export type Taken =
  | { readonly kind: 'done'; readonly head: EventHead; readonly run?: string }
  | { readonly kind: 'own'; readonly head: EventHead }
  | { readonly kind: 'again'; readonly head: EventHead; readonly message: string }
  | { readonly kind: 'refused'; readonly head: EventHead; readonly refusal: Refusal };

const envelopeSchema = z.object({
  id: z.string().min(1),
  source: z.string(),
  'detail-type': z.enum(['RunRequested', 'StopRequested']),
  detail: z.record(z.string(), z.unknown()),
});

/** What can be told of an event that is no good. */
const headSchema = z.object({
  id: z.string().min(1).optional().catch(undefined),
  source: z.string().optional().catch(undefined),
  'detail-type': z.string().optional().catch(undefined),
  detail: z
    .object({
      hops: z.number().optional().catch(undefined),
      pipeline: z.string().optional().catch(undefined),
      runId: z.string().optional().catch(undefined),
    })
    .catch({}),
});

/**
 * Takes a request.
 * @param messageId names the event where it does not name itself
 * @throws whatever a port throws; the message has to come again then
 */
export async function takeRequest(deps: PassDeps, body: string, messageId: string): Promise<Taken> {
  const text = parseJsonStrict(body);
  const value = text.ok ? text.value : (text.value ?? null);
  const head = toHead(value, messageId);
  if (head.source?.startsWith('millrace.')) return { kind: 'own', head };
  if (!text.ok) {
    const [first] = text.errors;
    return refused(head, first?.code ?? 'INVALID_JSON', first?.message ?? 'the event is not JSON', text.errors);
  }
  const envelope = envelopeSchema.safeParse(value);
  if (!envelope.success) {
    const errors = toFieldProblems(envelope.error, value, []);
    return refused(head, 'INVALID_EVENT', 'this is no RunRequested or StopRequested event', errors);
  }
  if (head.hops > MAX_HOPS) {
    return refused(head, 'TOO_MANY_HOPS', `${head.hops} events led to this one; at most ${MAX_HOPS} may`);
  }
  const { detail } = envelope.data;
  return envelope.data['detail-type'] === 'RunRequested'
    ? takeRunRequested(deps, head, detail as Json)
    : takeStopRequested(deps, head, detail as Json);
}

function toHead(value: Json, messageId: string): EventHead {
  const known = headSchema.safeParse(value);
  if (!known.success) return { eventId: messageId, hops: 0 };
  const { id, source, 'detail-type': detailType, detail } = known.data;
  return {
    eventId: id ?? messageId,
    hops: detail.hops ?? 0,
    ...(source !== undefined && { source }),
    ...(detailType !== undefined && { detailType }),
    ...(detail.pipeline !== undefined && { pipeline: detail.pipeline }),
    ...(detail.runId !== undefined && { runId: detail.runId }),
  };
}

async function takeRunRequested(deps: PassDeps, head: EventHead, detail: Json): Promise<Taken> {
  const checked = checkDetail(runRequestedSchema, detail, head);
  if ('refused' in checked) return checked.refused;
  const { pipeline, input, revision, tags, idempotencyKey } = checked.detail;
  const cause: RunCause =
    idempotencyKey === undefined ? { kind: 'event', eventId: head.eventId } : { kind: 'key', key: idempotencyKey };
  const outcome = await startByItself(deps, {
    pipeline,
    input: input as Json | undefined,
    revision,
    tags: Object.entries(tags ?? {}),
    cause,
    trigger: { type: 'event', ...(head.source !== undefined && { by: head.source }) },
  });
  switch (outcome.kind) {
    case 'started':
    case 'replayed':
      if (outcome.run.deleted && idempotencyKey !== undefined) {
        return { kind: 'again', head, message: 'the run that the key started is being deleted' };
      }
      return { kind: 'done', head, run: outcome.run.id };
    case 'conflict': {
      const what = idempotencyKey === undefined ? 'this event' : `the key ${JSON.stringify(idempotencyKey)}`;
      return refused(head, 'IDEMPOTENCY_CONFLICT', `${what} started run ${outcome.run.id} with another input`);
    }
    case 'paused':
      return refused(head, 'PIPELINE_PAUSED', `the pipeline ${JSON.stringify(pipeline)} is paused`);
    case 'noPipeline':
      return refused(head, 'PIPELINE_NOT_FOUND', `there is no pipeline ${JSON.stringify(pipeline)}`);
    case 'noRevision':
      return refused(head, 'UNKNOWN_REVISION', `the pipeline has no revision ${JSON.stringify(revision)}`);
    case 'invalidInput':
      return refused(head, 'INVALID_INPUT', inputErrorsInWords(outcome.errors), outcome.errors);
    case 'invalidKey':
      return refused(head, 'INVALID_KEY', 'idempotencyKey has to be 1 to 255 printable characters');
  }
}

async function takeStopRequested(deps: PassDeps, head: EventHead, detail: Json): Promise<Taken> {
  const checked = checkDetail(stopRequestedSchema, detail, head);
  if ('refused' in checked) return checked.refused;
  const { runId } = checked.detail;
  const outcome = isRunId(runId) ? await commandRun(deps, runId, 'stop', head.source) : { kind: 'missing' as const };
  switch (outcome.kind) {
    case 'done':
      return { kind: 'done', head, run: runId };
    case 'missing':
      return refused(head, 'RUN_NOT_FOUND', `there is no run ${JSON.stringify(runId)}`);
    case 'damaged':
      return refused(head, 'DAMAGED_RUN', outcome.error.message);
    case 'newer':
      return { kind: 'again', head, message: outcome.error.message };
    case 'busy':
      return { kind: 'again', head, message: 'others keep changing this run' };
  }
}

type Checked<T> = { readonly detail: T } | { readonly refused: Taken };

function checkDetail<T extends z.ZodObject>(schema: T, detail: Json, head: EventHead): Checked<z.output<T>> {
  try {
    refuseForbiddenKeys(detail);
  } catch (problem) {
    if (!(problem instanceof ApiProblem)) throw problem;
    return { refused: refused(head, problem.code, problem.message, problem.errors) };
  }
  const checked = schema.safeParse(detail);
  if (checked.success) return { detail: checked.data };
  const errors = toFieldProblems(checked.error, detail, Object.keys(schema.shape));
  const [first] = errors;
  return { refused: refused(head, 'INVALID_REQUEST', `detail.${first?.path ?? ''}: ${first?.message}`, errors) };
}

function refused(head: EventHead, code: string, message: string, errors: readonly FieldProblem[] = []): Taken {
  return { kind: 'refused', head, refusal: { code, message, ...(errors.length > 0 && { errors }) } };
}
