/** What arrives in the inbox. Each message is parsed before it is used; none of them carries a state. */
import * as z from 'zod';
import { type AttemptKey, parseExecutionName } from '#domain/execution-name.ts';
import type { DueThing } from '#ports/index.ts';
import { type Completion, completionOf } from './completion.ts';

/** `about`: the name of an execution, of an attempt that is to be looked at though it is not due. */
const runRing = z.object({ kind: z.literal('ring'), run: z.string(), about: z.string().optional() });

/** Somebody looks at the run live. */
const watch = z.object({ kind: z.literal('watch'), run: z.string() });

const limitRing = z.object({ kind: z.literal('ring'), limit: z.string().regex(/^(?:engine|pool|pipeline)\//) });

const pipelineRing = z.object({ kind: z.literal('ring'), pipeline: z.string() });

/** Made by the rule on the default bus from `aws.states` events; an output too large for an event is not there. */
const execution = z.object({
  kind: z.literal('execution'),
  name: z.string(),
  status: z.enum(['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED']),
  output: z.string().nullish(),
  startDate: z.coerce.number(),
  stopDate: z.coerce.number(),
});

const message = z.union([runRing, limitRing, pipelineRing, watch, execution]);

/** An event of the installation's own bus, as EventBridge wraps it. */
const busEvent = z.object({ source: z.string(), 'detail-type': z.string(), detail: z.unknown() });

/** A message of the inbox, read. */
export type InboxMessage =
  | { readonly kind: 'ring'; readonly run: string; readonly about?: AttemptKey }
  /** Somebody looks at the run live. */
  | { readonly kind: 'watch'; readonly run: string }
  /** A ring of something that is no run. */
  | { readonly kind: 'thing'; readonly thing: DueThing }
  | { readonly kind: 'completion'; readonly run: string; readonly completion: Completion }
  /** Published by this very function: a rule let it through that should not have. */
  | { readonly kind: 'echo'; readonly detailType: string }
  | { readonly kind: 'change'; readonly detailType: string }
  /** An execution that only looks like one of ours. */
  | { readonly kind: 'foreign' };

/**
 * Reads a message.
 * @throws z.ZodError, SyntaxError for one that is none: it goes to the dead letters in the end
 */
export function parseInboxMessage(body: string, installation: string): InboxMessage {
  const value: unknown = JSON.parse(body);
  if (typeof value === 'object' && value !== null && 'detail-type' in value) {
    const event = busEvent.parse(value);
    const kind = event.source === 'millrace.scheduler' ? 'echo' : 'change';
    return { kind, detailType: event['detail-type'] };
  }
  const read = message.parse(value);
  if ('limit' in read) return { kind: 'thing', thing: { kind: 'limit', id: read.limit } };
  if ('pipeline' in read) return { kind: 'thing', thing: { kind: 'pipeline', id: read.pipeline } };
  if (read.kind === 'watch') return read;
  if (read.kind === 'ring') {
    const about = read.about === undefined ? undefined : parseExecutionName(installation, read.about);
    return { kind: 'ring', run: read.run, ...(about && { about }) };
  }
  const told = completionOf(installation, read.name, {
    status: read.status,
    ...(read.output && { output: read.output }),
    startedAt: read.startDate,
    endedAt: read.stopDate,
  });
  return told ? { kind: 'completion', ...told } : { kind: 'foreign' };
}
