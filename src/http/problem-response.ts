import { DamagedLimitError, NewerLimitError } from '#domain/limit-codec.ts';
import { DamagedPipelineError, NewerPipelineError } from '#domain/pipeline-head-codec.ts';
import { DamagedRunError, NewerRunError } from '#domain/run-codec.ts';
import { LimitBusyError } from '#scheduler/limit-pass.ts';
import { PipelineBusyError } from '#scheduler/pipeline-pass.ts';
import type { ApiResponse } from './api-message.ts';
import { ApiProblem, PROBLEM_PAGES, PROBLEMS } from './problem.ts';
import { boundErrors, cutText } from './problem-size.ts';

const THROTTLES = /Throttl|TooManyRequests|ProvisionedThroughputExceeded|RequestLimitExceeded/;

/** Records that this version cannot read: damaged ones for good, those of newer code until that is here again. */
const UNREADABLE = [
  [DamagedRunError, 'DAMAGED_RUN'],
  [DamagedLimitError, 'DAMAGED_LIMIT'],
  [DamagedPipelineError, 'DAMAGED_PIPELINE'],
  [NewerRunError, 'NEWER_RUN'],
  [NewerLimitError, 'NEWER_LIMIT'],
  [NewerPipelineError, 'NEWER_PIPELINE'],
] as const;

/** The problem that an error is for the client. What is nobody's fault but ours tells no detail of itself. */
export function toProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  const unreadable = UNREADABLE.find(([type]) => error instanceof type);
  if (unreadable && error instanceof Error) {
    const code = unreadable[1];
    const headers = PROBLEMS[code].status === 503 ? { 'retry-after': '60' } : {};
    return new ApiProblem(code, error.message, { cause: error, headers });
  }
  if (error instanceof PipelineBusyError || error instanceof LimitBusyError) {
    return new ApiProblem('BUSY', `${error.message}; try again`, { cause: error, headers: { 'retry-after': '1' } });
  }
  if (error instanceof Error && THROTTLES.test(error.name)) {
    const detail = 'AWS did not take the request now; try again.';
    return new ApiProblem('THROTTLED', detail, { cause: error, headers: { 'retry-after': '1' } });
  }
  const detail = 'The request could not be carried out. The log has the reason under the id of this request.';
  return new ApiProblem('INTERNAL_ERROR', detail, { cause: error });
}

/** Writes a problem as the answer to a request. */
export function problemResponse(problem: ApiProblem, requestId: string): ApiResponse {
  const { status, title } = PROBLEMS[problem.code];
  const body = {
    type: `${PROBLEM_PAGES}${problem.code}`,
    title,
    status,
    code: problem.code,
    detail: cutText(problem.message),
    ...(problem.errors.length > 0 && { errors: boundErrors(problem.errors) }),
    requestId,
  };
  return {
    status,
    headers: { ...problem.headers, 'content-type': 'application/problem+json' },
    body: JSON.stringify(body),
  };
}
