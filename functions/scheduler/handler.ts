/** The function behind the inbox and the tick: passes over the runs that messages name, rings for those that are due. */
import middy from '@middy/core';
import type { Context, SQSBatchResponse } from 'aws-lambda';
import * as z from 'zod';
import type { PassDeps } from '#scheduler/deps.ts';
import { workBatch } from '#scheduler/inbox-batch.ts';
import { measureLateness, runTick } from '#scheduler/tick.ts';

const tick = z.object({ kind: z.literal('tick') });
const batch = z.object({ Records: z.array(z.object({ messageId: z.string(), body: z.string() })) });
const eventSchema = z.union([batch, tick]);

/** Where the lines go. */
export interface SchedulerLog {
  info(message: string, fields: Readonly<Record<string, unknown>>): void;
  error(message: string, fields: Readonly<Record<string, unknown>>): void;
}

/** What the function works with. */
export interface SchedulerHandlerDeps {
  readonly pass: PassDeps;
  readonly logger: SchedulerLog;
  /** Counts something, as a metric. */
  readonly count: (name: string, by?: number) => void;
}

/** Makes the handler. */
export function createHandler({ pass, logger, count }: SchedulerHandlerDeps) {
  return middy<unknown, SQSBatchResponse, Error, Context>().handler(async (event) => {
    const work = eventSchema.parse(event);
    if ('kind' in work) {
      await tickOnce({ pass, logger, count });
      return { batchItemFailures: [] };
    }
    const outcome = await workBatch(pass, work.Records, (what, error) => logger.error(what, { error }));
    if (outcome.echoes > 0) count('OwnEventDropped', outcome.echoes);
    return { batchItemFailures: outcome.failures.map((itemIdentifier) => ({ itemIdentifier })) };
  });
}

/** The figures that alarms look at; what is 0 at rest is told only where it is more, since each metric has its price. */
async function tickOnce({ pass, logger, count }: SchedulerHandlerDeps): Promise<void> {
  const rung = await runTick(pass);
  const { oldestMs, stuck } = rung === 0 ? { oldestMs: 0, stuck: 0 } : await measureLateness(pass);
  logger.info('tick', { rung, oldestDueSeconds: oldestMs / 1000, stuck });
  count('OldestDueSeconds', oldestMs / 1000);
  if (rung > 0) count('DueRung', rung);
  if (stuck > 0) count('StuckDue', stuck);
}
