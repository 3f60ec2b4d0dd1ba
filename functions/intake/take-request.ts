/** One request of another system: read strictly, carried out, or refused with a reason that its sender can use. */
import type * as z from 'zod';
import { isRunId } from '#domain/execution-name.ts';
import type { Json } from '#domain/json.ts';
import { MAX_HOPS, runRequestedSchema, stopRequestedSchema } from '#http/event-schemas.ts';
import { toFieldProblems } from '#http/field-problems.ts';
import { ApiProblem } from '#http/problem.ts';
import { refuseForbiddenKeys } from '#http/request-body.ts';
import { commandRun } from '#scheduler/command-run.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { type AskedRequest, type EventHead, readMessage } from './take-message.ts';
import { type IntakeDeps, takeRunRequest } from './take-run-request.ts';
import { refused, type Taken } from './taken.ts';

/** A message as the queue hands it over. */
export interface QueuedRequest {
  readonly messageId: string;
  readonly body: string;
  /** When it came into the queue (ms since the epoch), however often it is delivered. */
  readonly sentAt: number;
}

/**
 * Takes a request.
 * @throws whatever a port throws; the message has to come again then
 */
export async function takeRequest(deps: IntakeDeps, { body, messageId, sentAt }: QueuedRequest): Promise<Taken> {
  const message = readMessage(body, messageId);
  switch (message.kind) {
    case 'own':
    case 'refused':
      return message;
    case 'RunRequested': {
      const checked = checkDetail(runRequestedSchema, message);
      return 'refused' in checked ? checked.refused : takeRunRequest(deps, message, checked.detail, sentAt);
    }
    case 'StopRequested': {
      const checked = checkDetail(stopRequestedSchema, message);
      return 'refused' in checked ? checked.refused : takeStopRequest(deps.pass, message.head, checked.detail.runId);
    }
  }
}

async function takeStopRequest(deps: PassDeps, head: EventHead, runId: string): Promise<Taken> {
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

function checkDetail<T extends z.ZodObject>(schema: T, { head, detail }: AskedRequest): Checked<z.output<T>> {
  if (head.hops > MAX_HOPS) {
    return { refused: refused(head, 'TOO_MANY_HOPS', `${head.hops} events led to this one; at most ${MAX_HOPS} may`) };
  }
  try {
    refuseForbiddenKeys(detail);
  } catch (problem) {
    if (!(problem instanceof ApiProblem)) throw problem;
    return { refused: refused(head, problem.code, problem.message, problem.errors) };
  }
  const checked = schema.safeParse(detail);
  if (checked.success) return { detail: checked.data };
  return { refused: invalid(head, checked.error, detail, Object.keys(schema.shape)) };
}

function invalid(head: EventHead, error: z.ZodError, detail: Json, known: readonly string[]): Taken {
  const errors = toFieldProblems(error, detail, known);
  const [first] = errors;
  return refused(head, 'INVALID_REQUEST', `detail.${first?.path ?? ''}: ${first?.message}`, errors);
}
