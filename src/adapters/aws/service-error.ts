/**
 * What a failed call of an AWS service says about the call: that the service never judged it, or that it refused it.
 * Throttling comes in many clothes: as a code of its own, as HTTP 429 or 503, or as a text inside another code.
 */
import * as z from 'zod';

/**
 * `throttled`: too many calls, to be made again later. `unanswered`: no judgement at all, to be asked again. `refused`:
 * judged; asking again is no use.
 */
export interface ServiceFailure {
  readonly kind: 'throttled' | 'unanswered' | 'refused';
  /** The error's code, such as `ExecutionAlreadyExists`. */
  readonly code: string;
  readonly message: string;
}

/** Codes that are a judgement of the request itself, whatever words their message holds. */
const JUDGEMENTS: ReadonlySet<string> = new Set([
  'AccessDeniedException',
  'ExecutionAlreadyExists',
  'ExecutionDoesNotExist',
  'InvalidArn',
  'InvalidExecutionInput',
  'InvalidName',
  'KmsAccessDeniedException',
  'KmsInvalidStateException',
  'StateMachineDeleting',
  'StateMachineDoesNotExist',
  'StateMachineTypeNotSupported',
]);

/** Quotas, and trouble with our own credentials or clock: none of it is the fault of what was asked. */
const NO_JUDGEMENT =
  /throttl|toomanyrequests|limitexceeded|requestlimit|provisionedthroughput|slowdown|unavailable|internal(failure|server|service)|timeout|expiredtoken|requestexpired|signature|unrecognizedclient|invalidclienttoken|missingauthentication|credentials/i;

const THROTTLE_CODE = /throttl|toomanyrequests|requestlimit|provisionedthroughput|slowdown/i;
const THROTTLE_TEXT = /\brate exceeded\b|\btoo many requests\b|\bthrottl(ed|ing)\b|\bslow down\b/i;

const serviceError = z.object({
  name: z.string().catch('Error'),
  message: z.string().catch(''),
  // Set on what the service itself said, and on nothing else: an answer that cannot be read has a status, too.
  $fault: z.string().optional().catch(undefined),
  $metadata: z
    .object({ httpStatusCode: z.number().optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

/** Judges an error that a client threw. */
export function toServiceFailure(error: unknown): ServiceFailure {
  const parsed = serviceError.safeParse(error);
  if (!parsed.success) return { kind: 'unanswered', code: 'Error', message: String(error) };
  const { name, message, $fault, $metadata } = parsed.data;
  const status = $metadata?.httpStatusCode;
  const isJudged = $fault === 'client' && isRefusal(status) && isJudgement(name, message);
  const isThrottled = status === 429 || status === 503 || THROTTLE_CODE.test(name) || THROTTLE_TEXT.test(message);
  const kind = isJudged ? 'refused' : isThrottled ? 'throttled' : 'unanswered';
  return { kind, code: name, message: message || name };
}

function isRefusal(status: number | undefined): boolean {
  return status !== undefined && status >= 400 && status < 500 && status !== 429;
}

function isJudgement(code: string, message: string): boolean {
  return JUDGEMENTS.has(code) || !(NO_JUDGEMENT.test(code) || THROTTLE_TEXT.test(message));
}
