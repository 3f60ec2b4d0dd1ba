import type { Disk } from '#local/disk.ts';
import type { HostClock } from '#local/host-clock.ts';
import { QueueError } from '#local/queue-definition.ts';
import type { WebhookCalls } from '#local/webhook-calls.ts';

/** What a target is still to be given, as it lies on disk. Times are milliseconds since 1970. */
export type Delivery = {
  readonly kind: 'queue' | 'function' | 'destination';
  readonly arn: string;
  readonly body: string;
  readonly deadLetterArn?: string;
  readonly dueAt: number;
  /** How often it was tried in vain. */
  readonly attempts: number;
  /** Of a destination: when it is given up, and how often it is tried again before. */
  readonly until?: { readonly at: number; readonly retries: number };
};

/** What deliveries work with. */
export type DeliveryOptions = {
  readonly disk: Disk;
  readonly clock: HostClock;
  /** Sends to a queue. Resolves when the message is on disk. */
  readonly sendToQueue: (queueArn: string, body: string) => Promise<unknown>;
  /** Invokes a function. Resolves when it succeeded. */
  readonly invokeFunction: (functionArn: string, payload: string) => Promise<unknown>;
  /** @default no destination is called */
  readonly webhooks?: WebhookCalls;
};

/** The waits before the second and third try of a function that is invoked asynchronously. */
const RETRY_MS = [60_000, 120_000];
/** The longest wait between two tries of a destination, where it does not ask for a longer one. */
const LONGEST_RETRY_MS = 60_000;

/** Carries events to targets and forgets none: what cannot be handed over at once lies on disk until it is. */
export class EventDeliveries {
  readonly #options: DeliveryOptions;
  readonly #section;
  readonly #timers = new Map<string, () => void>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  #delivered = 0;
  #failed = 0;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#section = options.disk.section<Delivery>('deliveries');
  }

  /** Takes up what an earlier host left. */
  async load(): Promise<void> {
    for await (const [key, delivery] of this.#section.entries()) this.#schedule(key, delivery);
  }

  /**
   * Hands deliveries over. Resolves when none can be lost: those to queues are there, the others and the late ones on disk.
   * @param id unique to the event
   */
  async add(id: string, deliveries: readonly Delivery[]): Promise<void> {
    const now = this.#options.clock.now();
    const isDirect = (delivery: Delivery) => delivery.kind === 'queue' && delivery.dueAt <= now;
    const kept = deliveries
      .filter((delivery) => !isDirect(delivery))
      .map((delivery, index) => [`${id}/${index}`, delivery] as const);
    if (kept.length > 0) {
      await this.#options.disk.batch(kept.map(([key, delivery]) => this.#section.putting(key, delivery)));
    }
    await Promise.all(deliveries.filter(isDirect).map((delivery) => this.#toQueue(delivery.arn, delivery.body)));
    for (const [key, delivery] of kept) this.#schedule(key, delivery);
  }

  counters(): { readonly delivered: number; readonly failed: number } {
    return { delivered: this.#delivered, failed: this.#failed };
  }

  /** Calls off what waits and lets what is under way end. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    await Promise.allSettled(this.#underWay);
  }

  #schedule(key: string, delivery: Delivery): void {
    if (this.#closing.signal.aborted) return;
    this.#after(key, delivery.dueAt - this.#options.clock.now(), () => {
      const waitMs = delivery.kind === 'destination' ? (this.#options.webhooks?.turn(delivery.arn) ?? 0) : 0;
      if (waitMs > 0) this.#after(key, waitMs, () => this.#begin(key, delivery));
      else this.#begin(key, delivery);
    });
  }

  #after(key: string, ms: number, run: () => void): void {
    const cancel = this.#options.clock.after(ms, () => {
      this.#timers.delete(key);
      run();
    });
    this.#timers.set(key, cancel);
  }

  #begin(key: string, delivery: Delivery): void {
    const attempt = this.#attempt(key, delivery).finally(() => this.#underWay.delete(attempt));
    this.#underWay.add(attempt);
  }

  async #attempt(key: string, delivery: Delivery): Promise<void> {
    if (delivery.kind === 'queue') {
      await this.#toQueue(delivery.arn, delivery.body);
      return this.#section.del(key);
    }
    if (delivery.kind === 'destination') return this.#post(key, delivery);
    const isTaken = await this.#options.invokeFunction(delivery.arn, delivery.body).then(
      () => true,
      () => false,
    );
    if (isTaken) {
      this.#delivered++;
      return this.#section.del(key);
    }
    return this.#retry(key, delivery);
  }

  async #post(key: string, delivery: Delivery): Promise<void> {
    const { webhooks, clock } = this.#options;
    const { arn, body, attempts, until } = delivery;
    if (!webhooks || (until && clock.now() > until.at)) return this.#giveUp(key, delivery);
    const outcome = await webhooks.call(arn, body, this.#closing.signal);
    if (outcome.kind === 'taken') {
      this.#delivered++;
      return this.#section.del(key);
    }
    // It was cut off, and goes on at the next start.
    if (this.#closing.signal.aborted) return;
    if (outcome.kind === 'refused') return this.#giveUp(key, delivery);
    const waitMs = Math.max(outcome.waitMs, Math.min(LONGEST_RETRY_MS, 1000 * 2 ** Math.min(attempts, 16)));
    const isLast = until && (attempts >= until.retries || clock.now() + waitMs > until.at);
    return isLast ? this.#giveUp(key, delivery) : this.#again(key, delivery, waitMs);
  }

  async #retry(key: string, delivery: Delivery): Promise<void> {
    const waitMs = RETRY_MS[delivery.attempts];
    return waitMs === undefined ? this.#giveUp(key, delivery) : this.#again(key, delivery, waitMs);
  }

  async #giveUp(key: string, { deadLetterArn, body }: Delivery): Promise<void> {
    this.#failed++;
    if (deadLetterArn !== undefined) await this.#toQueue(deadLetterArn, body);
    return this.#section.del(key);
  }

  async #again(key: string, delivery: Delivery, waitMs: number): Promise<void> {
    const again = { ...delivery, attempts: delivery.attempts + 1, dueAt: this.#options.clock.now() + waitMs };
    await this.#section.put(key, again);
    this.#schedule(key, again);
  }

  /** A target that does not exist loses the event, as on AWS. */
  async #toQueue(queueArn: string, body: string): Promise<void> {
    try {
      await this.#options.sendToQueue(queueArn, body);
      this.#delivered++;
    } catch (error) {
      if (!(error instanceof QueueError)) throw error;
      this.#failed++;
    }
  }
}
