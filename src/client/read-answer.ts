/** Reads what came back: the value of an answer, or the error that it stands for. Nothing of it is used unread. */
import * as z from 'zod';
import { problemSchema } from '#http/problem-schema.ts';
import { AccessError, GatewayError, type MillraceError, NotMillraceError, toProblemError } from './errors.ts';

/** What came back. */
export interface Received {
  /** The request, in words: `GET https://… `. */
  readonly request: string;
  readonly status: number;
  readonly contentType: string | null;
  /** Seconds, or a date. */
  readonly retryAfter: string | null;
  readonly text: string;
}

/**
 * The JSON of an answer.
 * @throws MillraceError where it is none, or was refused
 */
export function readJson(received: Received): unknown {
  const json = parsed(received.text);
  if (received.status >= 200 && received.status < 300) {
    if (json.ok) return json.value;
    throw new NotMillraceError(
      `${received.request} answered ${received.status} with ${typeOf(received)}, not with JSON.`,
    );
  }
  throw refusalOf(received, json.ok ? json.value : undefined);
}

/**
 * Checks an answer by its schema, and gives it as it came. What a newer server says besides is let through: fields that the
 * schema does not know, and words of lists that are longer there.
 * @throws NotMillraceError
 */
export function checkAnswer<Answer>(schema: z.ZodType<Answer>, value: unknown, request: string): Answer {
  const read = schema.safeParse(value, { reportInput: true });
  const [wrong] = read.success ? [] : read.error.issues.filter((issue) => !isOfNewer(issue));
  if (!wrong) return value as Answer;
  const where = wrong.path.length === 0 ? '' : ` at ${wrong.path.join('.')}`;
  throw new NotMillraceError(`${request} answered something else than expected${where}: ${wrong.message}.`);
}

function isOfNewer(issue: z.core.$ZodIssue): boolean {
  if (issue.code === 'unrecognized_keys') return true;
  if (issue.code === 'invalid_value') return typeof issue.input === 'string';
  return issue.code === 'invalid_union' && issue.errors.some((branch) => branch.every(isOfNewer));
}

function parsed(text: string): { readonly ok: true; readonly value: unknown } | { readonly ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return { ok: false };
  }
}

/** Problems of a newer server may say more. */
const problem = problemSchema.loose().partial({ type: true, title: true, status: true, requestId: true });
/** Gateways of AWS write it one way or the other. */
const gatewayAnswer = z.union([
  z.object({ message: z.string() }),
  z.object({ Message: z.string() }).transform(({ Message }) => ({ message: Message })),
]);

function refusalOf(received: Received, value: unknown): MillraceError {
  const { request, status } = received;
  const retryAfterSeconds = secondsOf(received.retryAfter);
  const told = problem.safeParse(value).data;
  if (told) {
    const { type = '', title = '', requestId = '' } = told;
    return toProblemError({ ...told, type, title, requestId, status: told.status ?? status }, { retryAfterSeconds });
  }
  const gateway = gatewayAnswer.safeParse(value).data;
  const words = gateway && `${status}: ${gateway.message}`;
  if (status === 401 || status === 403) return new AccessError(status, `${request}: ${words ?? status}`);
  if (words) return new GatewayError(status, `${request}: ${words}`, { retryAfterSeconds });
  if (status >= 500)
    return new GatewayError(status, `${request}: ${status} with ${typeOf(received)}`, { retryAfterSeconds });
  return new NotMillraceError(`${request} answered ${status} with ${typeOf(received)}.`);
}

function typeOf({ contentType }: Received): string {
  return contentType ?? 'no type';
}

function secondsOf(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined;
  const seconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : (Date.parse(retryAfter) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
