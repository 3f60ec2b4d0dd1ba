/**
 * Keeps the calls of one instance below its share of a quota. A call that finds no token is not made: whoever asked gets
 * an answer that says "later", as from AWS itself.
 */
import { TokenBucket } from 'limiter';
import type { CallUrgency } from '#ports/index.ts';
import type { CallRate, CallRates, CountedCall } from './service-quotas.ts';

/** Part of a full bucket that sweeps leave to calls that others wait for. */
const RESERVE = 1 / 4;
/** How far AWS's throttling brings a rate down at most. */
const LEAST_RATE = 1 / 8;
/** Throttled calls within this time (ms) count once. */
const SAME_THROTTLE_MS = 1_000;
/** Without any for this time (ms), the rate is doubled again. */
const RECOVERY_MS = 60_000;

/** Who may call what, and when. */
export interface CallAllowance {
  /**
   * Takes a token for a call.
   * @param waitMs how long it may be waited for; a call that must not come late has to be made at once or not at all
   * @returns whether the call may be made
   */
  take(call: CountedCall, urgency: CallUrgency, waitMs?: number): Promise<boolean>;
  /** AWS throttled a call, since too many were made, by whomever. */
  throttled(call: CountedCall): void;
}

/** Lets every call through: for a Step Functions that has no quotas. */
export const UNLIMITED: CallAllowance = { take: async () => true, throttled: () => {} };

/** Makes the allowance of this process; its buckets are full. */
export function createCallAllowance(rates: CallRates): CallAllowance {
  const buckets = new Map<string, CallBucket>(
    Object.entries(rates).map(([call, rate]) => [call, new CallBucket(rate)]),
  );
  return {
    take: async (call, urgency, waitMs = 0) => (await buckets.get(call)?.take(urgency, waitMs)) ?? true,
    throttled: (call) => buckets.get(call)?.throttled(),
  };
}

class CallBucket {
  private readonly bucket: TokenBucket;
  private readonly rate: CallRate;
  private throttledAt = Number.NEGATIVE_INFINITY;
  private changedAt = 0;

  constructor(rate: CallRate) {
    this.rate = rate;
    this.bucket = new TokenBucket({ bucketSize: rate.burst, tokensPerInterval: rate.perSecond, interval: 'second' });
    this.bucket.content = rate.burst;
  }

  async take(urgency: CallUrgency, waitMs: number): Promise<boolean> {
    const until = performance.now() + waitMs;
    const left = urgency === 'sweep' ? Math.floor(this.rate.burst * RESERVE) : 0;
    for (;;) {
      this.recover();
      const missingMs = this.bucket.getWaitTime(1 + left);
      if (missingMs === 0) return this.bucket.tryRemoveTokens(1);
      if (performance.now() + missingMs > until) return false;
      await new Promise((resolve) => setTimeout(resolve, missingMs));
    }
  }

  /** The account has no token left, whatever ours say. */
  throttled(): void {
    const now = performance.now();
    this.bucket.drip();
    this.bucket.content = 0;
    if (now - this.throttledAt < SAME_THROTTLE_MS) return;
    this.throttledAt = now;
    this.changeTo(this.bucket.tokensPerInterval / 2);
  }

  private recover(): void {
    if (performance.now() - this.changedAt < RECOVERY_MS || this.bucket.tokensPerInterval >= this.rate.perSecond)
      return;
    this.changeTo(this.bucket.tokensPerInterval * 2);
  }

  private changeTo(perSecond: number): void {
    this.bucket.drip();
    const { perSecond: full } = this.rate;
    this.bucket.tokensPerInterval = Math.min(full, Math.max(full * LEAST_RATE, perSecond));
    this.changedAt = performance.now();
  }
}
