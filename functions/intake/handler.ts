/**
 * The function behind the requests queue: requests of other systems, as EventBridge hands them over. A request that
 * is no good is answered on the bus and never comes again; one that could not be stored now does.
 */
import middy from '@middy/core';
import type { Context, SQSBatchResponse } from 'aws-lambda';
import pMap from 'p-map';
import * as z from 'zod';
import type { Json } from '#domain/json.ts';
import { MAX_HOPS } from '#http/event-schemas.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import type { EventHead, Refusal } from './take-message.ts';
import { type QueuedRequest, takeRequest } from './take-request.ts';
import type { IntakeDeps } from './take-run-request.ts';

/** Requests that are carried out at the same time. */
const PARALLEL_REQUESTS = 5;
/** Hops after which a refusal is not even answered: something makes requests of the answers. */
const MAX_ANSWERED_HOPS = 2 * MAX_HOPS;
/** Field problems that one answer holds. */
const MAX_ERRORS = 20;

const batchSchema = z.object({
  Records: z.array(
    z.object({
      messageId: z.string(),
      body: z.string(),
      attributes: z.object({ SentTimestamp: z.coerce.number().int().nonnegative() }).optional(),
    }),
  ),
});

/** Where the lines go. */
export interface IntakeLog {
  info(message: string, fields: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields: Readonly<Record<string, unknown>>): void;
  error(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** What the function works with. */
export interface IntakeHandlerDeps extends IntakeDeps {
  readonly logger: IntakeLog;
  /** Counts something, as a metric. */
  readonly count: (name: string, by?: number) => void;
}

/** Makes the handler. */
export function createHandler(deps: IntakeHandlerDeps) {
  return middy<unknown, SQSBatchResponse, Error, Context>().handler(async (event) => {
    const { Records: records } = batchSchema.parse(event);
    const requests = records.map(({ messageId, body, attributes }) => ({
      messageId,
      body,
      sentAt: attributes?.SentTimestamp ?? deps.pass.clock.now(),
    }));
    const taken = await pMap(requests, (request) => take(deps, request), { concurrency: PARALLEL_REQUESTS });
    const failed = records.filter((_record, at) => !taken[at]);
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  });
}

/** Takes one message; tells whether it is settled. */
async function take(deps: IntakeHandlerDeps, request: QueuedRequest): Promise<boolean> {
  try {
    const taken = await takeRequest(deps, request);
    switch (taken.kind) {
      case 'done':
        deps.logger.info('request taken', { ...taken.head, run: taken.run });
        return true;
      case 'own':
        // The rule leaves our own events out, so one that is here came by a rule that is wrong.
        deps.count('OwnEventDropped');
        deps.logger.warn('event of our own dropped', { ...taken.head });
        return true;
      case 'again':
        deps.logger.warn('request put off', { ...taken.head, why: taken.message });
        return false;
      case 'refused':
        if (taken.head.hops <= MAX_ANSWERED_HOPS) await publishRefusal(deps.pass, taken.head, taken.refusal);
        deps.count('RequestRefused');
        deps.logger.info('request refused', { ...taken.head, code: taken.refusal.code, why: taken.refusal.message });
        return true;
    }
  } catch (error) {
    deps.logger.error('request not taken', { messageId: request.messageId, error });
    return false;
  }
}

async function publishRefusal(deps: PassDeps, head: EventHead, refusal: Refusal): Promise<void> {
  const { eventId, hops, source, detailType, trigger, pipeline, runId } = head;
  const detail: Json = {
    schemaVersion: 1,
    hops: hops + 1,
    eventId,
    ...(source !== undefined && { source }),
    ...(detailType !== undefined && { detailType }),
    ...(trigger !== undefined && { trigger }),
    ...(pipeline !== undefined && { pipeline }),
    ...(runId !== undefined && { runId }),
    code: refusal.code,
    message: refusal.message,
    ...(refusal.errors && {
      errors: refusal.errors.slice(0, MAX_ERRORS).map(({ path, code, message }) => ({ path, code, message })),
    }),
  };
  await deps.bus.publish([{ source: 'millrace.intake', detailType: 'RunRejected', detail }]);
}
