/** When a failed attempt is tried again, and after how long (SEMANTICS, "Attempts, retries, timeouts"; C31, C32). */
import type { RetryDefinition } from './definition.ts';

const MAX_DELAY_SECONDS = 24 * 3600;

/** A retry policy with its defaults filled in. */
export interface RetryPolicy {
  /** Attempts in all, the first included. */
  readonly maxAttempts: number;
  readonly intervalSeconds: number;
  readonly backoffRate: number;
  readonly maxDelaySeconds: number;
  readonly jitter: 'full' | 'none';
  readonly on: readonly string[];
  readonly notOn: readonly string[];
}

/** Fills in the defaults of a policy; without one, a node has a single attempt. */
export function toRetryPolicy(retry: RetryDefinition | undefined): RetryPolicy {
  return {
    maxAttempts: retry?.maxAttempts ?? 1,
    intervalSeconds: retry?.intervalSeconds ?? 1,
    backoffRate: retry?.backoffRate ?? 2,
    maxDelaySeconds: retry?.maxDelaySeconds ?? MAX_DELAY_SECONDS,
    jitter: retry?.jitter ?? 'none',
    on: retry?.on ?? ['States.ALL'],
    notOn: retry?.notOn ?? [],
  };
}

/** Errors of an output that is too large. `Function.ResponseSizeTooLarge` is Lambda's, for more than 6 MB. */
const TOO_LARGE: ReadonlySet<string> = new Set([
  'Millrace.PayloadTooLarge',
  'States.DataLimitExceeded',
  'Function.ResponseSizeTooLarge',
]);

/** Whether an error says that a payload or an output is too large (C64). */
export function isTooLarge(errorName: string): boolean {
  return TOO_LARGE.has(errorName);
}

/** Errors that no second attempt makes better (C64, C65, C67). */
function isFinal(errorName: string): boolean {
  return isTooLarge(errorName) || FINAL.has(errorName);
}

/** What cannot be carried at all, and what somebody refused: to ask again would only ask again. */
const FINAL: ReadonlySet<string> = new Set([
  'Millrace.InvalidOutput',
  'Millrace.UnserializableOutput',
  'Millrace.ApprovalDenied',
]);

/** Whether an attempt that failed with this error is followed by another one. */
export function isRetried(policy: RetryPolicy, attempt: number, errorName: string): boolean {
  if (attempt >= policy.maxAttempts || isFinal(errorName)) return false;
  if (policy.notOn.some((name) => matchesError(name, errorName))) return false;
  return policy.on.some((name) => matchesError(name, errorName));
}

/**
 * Matches error names as ASL does: `States.ALL` matches every error, `States.TaskFailed` every one but a timeout.
 * https://docs.aws.amazon.com/step-functions/latest/dg/concepts-error-handling.html
 */
function matchesError(pattern: string, errorName: string): boolean {
  if (pattern === 'States.ALL') return true;
  if (pattern === 'States.TaskFailed') return errorName !== 'States.Timeout';
  return pattern === errorName;
}

/**
 * Milliseconds to wait after a failed attempt.
 * The power is capped as it grows, so that no attempt number overflows it (C32).
 * @param attempt number of the attempt that failed, from 1
 * @param draw where full jitter falls, 0 (no wait) to 1; ignored without jitter
 */
export function retryDelayMs(policy: RetryPolicy, attempt: number, draw: number): number {
  const cap = Math.min(policy.maxDelaySeconds, MAX_DELAY_SECONDS);
  const raw = policy.intervalSeconds * policy.backoffRate ** (attempt - 1);
  const seconds = Number.isFinite(raw) ? Math.min(raw, cap) : cap;
  return Math.round(seconds * 1000 * (policy.jitter === 'full' ? draw : 1));
}
