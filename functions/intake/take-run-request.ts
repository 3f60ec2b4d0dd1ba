/** `RunRequested`: one run an event and pipeline, so many a minute, and not without end out of one another. */
import type * as z from 'zod';
import { isRunId } from '#domain/execution-name.ts';
import type { Json } from '#domain/json.ts';
import type { RunRecord } from '#domain/run.ts';
import { DamagedRunError, NewerRunError } from '#domain/run-codec.ts';
import type { RunCause } from '#domain/run-id.ts';
import { MAX_HOPS, type runRequestedSchema } from '#http/event-schemas.ts';
import type { StartCounts } from '#ports/index.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { type StartByItself, startByItself } from '#scheduler/start-by-itself.ts';
import { inputErrorsInWords, type StartOutcome } from '#scheduler/start-run.ts';
import type { AskedRequest } from './take-message.ts';
import { refused, type Taken } from './taken.ts';

const MINUTE_MS = 60_000;

/** What requests are taken with. */
export interface IntakeDeps {
  readonly pass: PassDeps;
  readonly startCounts: StartCounts;
  /** Runs of one pipeline that events start in a minute. */
  readonly startsPerMinute: number;
}

type RunDetail = z.output<typeof runRequestedSchema>;

/**
 * Starts a run, or finds the one that the request started before.
 * @param sentAt when the message came into the queue (ms since the epoch): it counts in that minute, whenever it is read
 * @throws whatever a port throws; the message has to come again then
 */
export async function takeRunRequest(
  { pass, startCounts, startsPerMinute }: IntakeDeps,
  request: AskedRequest,
  detail: RunDetail,
  sentAt: number,
): Promise<Taken> {
  const { head } = request;
  const asking = await readAsking(pass, detail.causedBy?.run);
  const depth = Math.max(detail.hops, asking ? (asking.depth ?? 0) + 1 : 0);
  if (depth > MAX_HOPS) {
    return refused(head, 'TOO_MANY_HOPS', `${depth} runs and events led to this one; at most ${MAX_HOPS} may`);
  }
  const start = toStart(request, detail, { depth, from: request.heardRun ?? asking?.id });
  const minute = Math.floor(sentAt / MINUTE_MS);
  const outcome = await startByItself(pass, start, async (runId) => {
    const hasPlace = await startCounts.count(detail.pipeline, minute, runId, startsPerMinute);
    return hasPlace ? undefined : ({ kind: 'tooMany' } as const);
  });
  switch (outcome.kind) {
    case 'tooMany': {
      const started = `events started ${startsPerMinute} runs of the pipeline ${JSON.stringify(detail.pipeline)}`;
      return refused(head, 'TOO_MANY_STARTS', `${started} in this minute already`);
    }
    case 'paused':
      return refused(head, 'PIPELINE_PAUSED', `the pipeline ${JSON.stringify(detail.pipeline)} is paused`);
    default:
      return toTaken(request, detail, outcome);
  }
}

/**
 * The run whose node asks. One that is gone or cannot be read says nothing: it must not stop others, and the starts per
 * minute are limited all the same.
 */
async function readAsking(deps: PassDeps, runId: string | undefined): Promise<RunRecord | undefined> {
  if (runId === undefined || !isRunId(runId)) return undefined;
  try {
    return await deps.runs.readRun(runId);
  } catch (error) {
    if (error instanceof DamagedRunError || error instanceof NewerRunError) return undefined;
    throw error;
  }
}

function toStart(
  { head, cause = head.eventId }: AskedRequest,
  { pipeline, input, revision, tags, idempotencyKey }: RunDetail,
  { depth, from }: { readonly depth: number; readonly from: string | undefined },
): StartByItself {
  const by = head.trigger === undefined ? head.source : `${head.source}, trigger ${head.trigger}`;
  const named: RunCause =
    idempotencyKey === undefined ? { kind: 'event', eventId: cause } : { kind: 'key', key: idempotencyKey };
  return {
    pipeline,
    input: input as Json | undefined,
    revision,
    tags: Object.entries(tags ?? {}),
    cause: named,
    trigger: { type: 'event', ...(by !== undefined && { by }), ...(from !== undefined && { runId: from }) },
    depth,
  };
}

function toTaken({ head }: AskedRequest, detail: RunDetail, outcome: StartOutcome): Taken {
  const { pipeline, revision, idempotencyKey } = detail;
  switch (outcome.kind) {
    case 'started':
    case 'replayed':
      if (outcome.run.deleted && idempotencyKey !== undefined) {
        return { kind: 'again', head, message: 'the run that the key started is being deleted' };
      }
      return { kind: 'done', head, run: outcome.run.id };
    case 'conflict': {
      // Two triggers may make different inputs of one event: it starts one run of a pipeline, whichever comes first.
      if (head.trigger !== undefined) return { kind: 'done', head, run: outcome.run.id };
      const what = idempotencyKey === undefined ? 'this event' : `the key ${JSON.stringify(idempotencyKey)}`;
      return refused(head, 'IDEMPOTENCY_CONFLICT', `${what} started run ${outcome.run.id} with another input`);
    }
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
