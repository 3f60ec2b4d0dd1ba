import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { unsupportedResource } from '#local/host-error.ts';
import type { LambdaFunctions } from '#local/lambda-functions.ts';
import type { QueueRecord, QueueService } from '#local/queues.ts';
import type { HostedResource } from '#local/template.ts';

const mapping = z.strictObject({
  EventSourceArn: z.string().regex(/^arn:aws:sqs:/, 'must be a queue'),
  FunctionName: z.string(),
  BatchSize: z.number().default(10),
  MaximumBatchingWindowInSeconds: z.literal(0, 'the development host runs a window of 0 seconds').default(0),
  FunctionResponseTypes: z.array(z.literal('ReportBatchItemFailures')).default([]),
  ScalingConfig: z.object({ MaximumConcurrency: z.number() }).optional(),
  Enabled: z.boolean().default(true),
  Tags: z.unknown().optional(),
});

/**
 * Invocations for one queue at a time, where the template allows more. On Lambda each has a core of its own; here more of
 * them than cores take memory (50 MB each) and end no sooner. Three keep the races of several that act at once.
 */
const mostInvocations = Math.max(3, availableParallelism() + 1);

/**
 * Starts an `AWS::Lambda::EventSourceMapping` from a queue to a function.
 * @throws {HostError} `UNSUPPORTED_RESOURCE` for other sources and for properties that the host does not know
 */
export function startQueueMapping(resource: HostedResource, queues: QueueService, functions: LambdaFunctions): void {
  const parsed = mapping.safeParse(resource.properties);
  if (!parsed.success) throw unsupportedResource(resource, z.prettifyError(parsed.error));
  const { EventSourceArn, FunctionName, BatchSize, FunctionResponseTypes, ScalingConfig, Enabled } = parsed.data;
  const functionName = functions.find(FunctionName);
  if (functionName === undefined) throw unsupportedResource(resource, `${FunctionName} is no function of the template`);
  if (!Enabled) return;
  const reportBatchItemFailures = FunctionResponseTypes.length > 0;
  const maximumConcurrency = Math.min(ScalingConfig?.MaximumConcurrency ?? mostInvocations, mostInvocations);
  queues.consume(
    EventSourceArn,
    { batchSize: BatchSize, reportBatchItemFailures, maximumConcurrency },
    async (records) => {
      const outcome = await functions.invoke(functionName, { event: JSON.stringify({ Records: records }) });
      if (!outcome.ok) throw new Error(`${outcome.error.errorType}: ${outcome.error.errorMessage}`);
      return { failures: reportBatchItemFailures ? failuresIn(outcome.payload, records) : [] };
    },
  );
}

const batchResponse = z.object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })).nullish() });

/** As on Lambda: no list means success, and a name that is no message of the batch fails the whole batch. */
function failuresIn(payload: string, records: readonly QueueRecord[]): string[] {
  const value: unknown = JSON.parse(payload);
  if (value === null) return [];
  const all = records.map(({ messageId }) => messageId);
  const parsed = batchResponse.safeParse(value);
  if (!parsed.success) return all;
  const failures = (parsed.data.batchItemFailures ?? []).map(({ itemIdentifier }) => itemIdentifier);
  return failures.every((id) => all.includes(id)) ? failures : all;
}
