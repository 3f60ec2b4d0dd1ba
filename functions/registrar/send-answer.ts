/** Answers CloudFormation: a PUT to the address that its request names. */
import type { ResourceRequest } from './resource-request.ts';

/** What became of a request. */
export interface ResourceAnswer {
  readonly Status: 'SUCCESS' | 'FAILED';
  readonly PhysicalResourceId: string;
  /** Why it failed. */
  readonly Reason?: string;
}

/** What an answer is sent with. */
export interface SendDeps {
  readonly fetch: (url: string, init: RequestInit) => Promise<Pick<Response, 'ok' | 'status'>>;
  /** Resolves after so many milliseconds. */
  readonly sleep: (ms: number) => Promise<void>;
}

const TRIES = 3;
/** How long one try may take (ms). */
const TRY_MS = 4_000;
const BETWEEN_TRIES_MS = 1_000;
/** https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/crpg-ref-responses.html */
const MAX_BYTES = 4_096;
/** Longest reason, in UTF-16 units; one of other scripts than Latin may have to be cut shorter. */
const MAX_REASON = 2_000;

/**
 * Sends an answer.
 * @throws Error where nobody took it; whoever repeats the invocation answers again
 */
export async function sendAnswer(deps: SendDeps, request: ResourceRequest, answer: ResourceAnswer): Promise<void> {
  const body = new TextEncoder().encode(answerText(request, answer));
  for (let tries = 1; ; tries++) {
    const fault = await put(deps, request.ResponseURL, body);
    if (fault === undefined) return;
    if (tries === TRIES) throw new Error(`CloudFormation did not take the answer: ${fault}`);
    await deps.sleep(BETWEEN_TRIES_MS);
  }
}

async function put({ fetch }: SendDeps, url: string, body: Uint8Array<ArrayBuffer>): Promise<string | undefined> {
  // The address was signed for an empty type.
  const init = { method: 'PUT', headers: { 'content-type': '' }, body, redirect: 'error' } as const;
  try {
    const { ok, status } = await fetch(url, { ...init, signal: AbortSignal.timeout(TRY_MS) });
    return ok ? undefined : `status ${status}`;
  } catch (error) {
    return String(error);
  }
}

function answerText(request: ResourceRequest, answer: ResourceAnswer): string {
  const { StackId, RequestId, LogicalResourceId } = request;
  for (let length = MAX_REASON; ; length = Math.floor(length / 2)) {
    const reason = answer.Reason === undefined ? {} : { Reason: answer.Reason.slice(0, length) };
    const text = JSON.stringify({ ...answer, ...reason, StackId, RequestId, LogicalResourceId });
    if (length === 0 || Buffer.byteLength(text) <= MAX_BYTES) return text;
  }
}
