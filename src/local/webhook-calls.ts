import type { HostClock } from '#local/host-clock.ts';
import type { WebhookDestination } from '#local/webhook-template.ts';

/** What became of a request: somebody took it, it is to be tried again, or nobody will ever take it. */
export type CallOutcome =
  | { readonly kind: 'taken' }
  | { readonly kind: 'again'; readonly waitMs: number }
  | { readonly kind: 'refused' };

/** Posts what API destinations are sent. */
export type WebhookCalls = {
  /** Whether requests to a destination are made at all. */
  has(arn: string): boolean;
  /** Takes the next turn of a destination, so that its rate is held; gives how long it is until then (ms). */
  turn(arn: string): number;
  /** Makes a request, which ends after 5 s. `signal` ends it earlier: then it is to be tried again. */
  call(arn: string, body: string, signal: AbortSignal): Promise<CallOutcome>;
};

/** How long a receiver may take, as on AWS. */
const ANSWER_MS = 5000;
const TRIED_AGAIN: readonly number[] = [401, 407, 409, 429];
/** Answers whose `Retry-After` is heeded. */
const SAYS_WHEN: readonly number[] = [429, 503];

/** The calls of these destinations. */
export function openWebhookCalls(
  destinations: ReadonlyMap<string, WebhookDestination>,
  clock: HostClock,
): WebhookCalls {
  const nextTurn = new Map<string, number>();
  return {
    has: (arn) => destinations.has(arn),
    turn(arn) {
      const now = clock.now();
      const at = Math.max(now, nextTurn.get(arn) ?? 0);
      nextTurn.set(arn, at + 1000 / (destinations.get(arn)?.ratePerSecond ?? 1));
      return at - now;
    },
    async call(arn, body, signal) {
      const destination = destinations.get(arn);
      // An earlier host may have left it what this template does not have.
      if (!destination) return { kind: 'refused' };
      try {
        return outcomeOf(await request(destination, body, signal), clock);
      } catch {
        return { kind: 'again', waitMs: 0 };
      }
    },
  };
}

async function request({ url, method, headers }: WebhookDestination, body: string, signal: AbortSignal) {
  const response = await fetch(url, {
    method,
    headers: {
      'user-agent': 'Amazon/EventBridge/ApiDestinations',
      ...headers,
      'content-type': 'application/json; charset=utf-8',
    },
    body,
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]),
  });
  await response.body?.cancel();
  return response;
}

function outcomeOf({ status, ok, headers }: Response, clock: HostClock): CallOutcome {
  if (ok) return { kind: 'taken' };
  if (!TRIED_AGAIN.includes(status) && status < 500) return { kind: 'refused' };
  return { kind: 'again', waitMs: SAYS_WHEN.includes(status) ? retryAfterMs(headers.get('retry-after'), clock) : 0 };
}

/** In seconds, or a date. */
function retryAfterMs(value: string | null, clock: HostClock): number {
  if (value === null) return 0;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - clock.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}
