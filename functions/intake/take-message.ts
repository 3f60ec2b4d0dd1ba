/**
 * Reads a message of the requests queue: a request on the bus as EventBridge wraps it, or an event that the rule of a
 * trigger wraps with what it starts. Nobody can put the second kind on the bus: it has no envelope of EventBridge.
 */
import * as z from 'zod';
import type { Json } from '#domain/json.ts';
import { parseJsonStrict } from '#domain/json-text.ts';
import { toFieldProblems } from '#http/field-problems.ts';
import type { FieldProblem } from '#http/problem.ts';
import { refused } from './taken.ts';

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
  /** Name of the trigger whose rule brought it. */
  readonly trigger?: string;
  readonly hops: number;
  readonly pipeline?: string;
  readonly runId?: string;
}

/** A request, its `detail` not checked yet. */
export interface AskedRequest {
  readonly kind: 'RunRequested' | 'StopRequested';
  readonly head: EventHead;
  readonly detail: Json;
  /** What the run of an event that a trigger heard is named by. @default the event's id */
  readonly cause?: string;
  /** The run whose event a trigger heard. */
  readonly heardRun?: string;
}

/** A message, read. `own`: published by ourselves, so a rule is wrong. */
export type Message = AskedRequest | { readonly kind: 'own'; readonly head: EventHead } | ReturnType<typeof refused>;

const text = z.string().optional().catch(undefined);

/** What can be told of an event that is no good. */
const headSchema = z.object({
  id: z.string().min(1).optional().catch(undefined),
  source: text,
  'detail-type': text,
  detail: z
    .object({ hops: z.int().min(0).optional().catch(undefined), pipeline: text, runId: text, state: text })
    .catch({}),
});

const envelopeSchema = z.object({
  id: z.string().min(1),
  source: z.string(),
  'detail-type': z.enum(['RunRequested', 'StopRequested']),
  detail: z.record(z.string(), z.unknown()),
});

/** What the rule of a trigger makes of an event (`infra/constructs/trigger.ts`). */
const triggeredSchema = z.strictObject({
  trigger: z.strictObject({
    name: z.string(),
    pipeline: z.string(),
    revision: z.string().optional(),
    tags: z.record(z.string(), z.string()).optional(),
    input: z.unknown().optional(),
  }),
  event: z.looseObject({ id: z.string().min(1), source: z.string(), 'detail-type': z.string(), detail: z.unknown() }),
});

/**
 * Reads a message.
 * @param messageId names the event where it does not name itself
 */
export function readMessage(body: string, messageId: string): Message {
  const parsed = parseJsonStrict(body);
  const value = parsed.ok ? parsed.value : (parsed.value ?? null);
  const triggered = triggeredSchema.safeParse(value);
  const head = triggered.success ? toHeardHead(triggered.data) : toHead(value, messageId);
  if (isOwn(head)) return { kind: 'own', head };
  if (!parsed.ok) {
    const [first] = parsed.errors;
    return refused(head, first?.code ?? 'INVALID_JSON', first?.message ?? 'the event is not JSON', parsed.errors);
  }
  if (triggered.success) return toAskedByTrigger(head, triggered.data);
  const envelope = envelopeSchema.safeParse(value);
  if (!envelope.success) {
    const errors = toFieldProblems(envelope.error, value, []);
    return refused(head, 'INVALID_EVENT', 'this is no RunRequested or StopRequested event', errors);
  }
  return { kind: envelope.data['detail-type'], head, detail: envelope.data.detail as Json };
}

/**
 * A request from us is an echo. A trigger may listen to what the others of us publish, since hops end its loops, but
 * not to what this function answers.
 */
function isOwn({ source, trigger }: EventHead): boolean {
  return trigger === undefined ? source?.startsWith('millrace.') === true : source === 'millrace.intake';
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

type Triggered = z.output<typeof triggeredSchema>;

function toHeardHead({ trigger, event }: Triggered): EventHead {
  const { detail } = headSchema.parse(event);
  const { id: eventId, source, 'detail-type': detailType } = event;
  return { eventId, source, detailType, hops: detail.hops ?? 0, trigger: trigger.name, pipeline: trigger.pipeline };
}

function toAskedByTrigger(head: EventHead, { trigger, event }: Triggered): AskedRequest {
  const { pipeline, input = event.detail, revision, tags } = trigger;
  const detail = {
    pipeline,
    input: input as Json,
    hops: head.hops,
    ...(revision !== undefined && { revision }),
    ...(tags !== undefined && { tags }),
  };
  const { runId, state } = headSchema.parse(event).detail;
  const isOfRun = event.source === 'millrace.scheduler' && event['detail-type'] === 'RunChanged';
  if (!isOfRun || runId === undefined) return { kind: 'RunRequested', head, detail };
  // What a run comes to is published at least once, each time under another id; it starts one run all the same.
  return { kind: 'RunRequested', head, detail, heardRun: runId, cause: `${runId} ${state}` };
}
