import type { Disk } from '#local/disk.ts';
import type { HostClock } from '#local/host-clock.ts';
import { QueueError } from '#local/queue-definition.ts';

/** What a target is still to be given, as it lies on disk. Times are milliseconds since 1970. */
export type Delivery = {
  readonly kind: 'queue' | 'function';
  readonly arn: string;
  readonly body: string;
  readonly deadLetterArn?: string;
  readonly dueAt: number;
  /** How often it was tried in vain. */
  readonly attempts: number;
};

/** What deliveries work with. */
export type DeliveryOptions = {
  readonly disk: Disk;
  readonly clock: HostClock;
  /** Sends to a queue. Resolves when the message is on disk. */
  readonly sendToQueue: (queueArn: string, body: string) => Promise<unknown>;
  /** Invokes a function. Resolves when it succeeded. */
  readonly invokeFunction: (functionArn: string, payload: string) => Promise<unknown>;
};

/** The waits before the second and third try of a function that is invoked asynchronously. */
const RETRY_MS = [60_000, 120_000];

/** Carries events to targets and forgets none: what cannot be handed over at once lies on disk until it is. */
export class EventDeliveries {
  readonly #options: DeliveryOptions;
  readonly #section;
  readonly #timers = new Map<string, () => void>();
  readonly #underWay = new Set<Promise<void>>();
  #isClosed = false;
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
    this.#isClosed = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    await Promise.allSettled(this.#underWay);
  }

  #schedule(key: string, delivery: Delivery): void {
    if (this.#isClosed) return;
    const cancel = this.#options.clock.after(delivery.dueAt - this.#options.clock.now(), () => {
      this.#timers.delete(key);
      const attempt = this.#attempt(key, delivery).finally(() => this.#underWay.delete(attempt));
      this.#underWay.add(attempt);
    });
    this.#timers.set(key, cancel);
  }

  async #attempt(key: string, delivery: Delivery): Promise<void> {
    if (delivery.kind === 'queue') {
      await this.#toQueue(delivery.arn, delivery.body);
      return this.#section.del(key);
    }
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

  async #retry(key: string, delivery: Delivery): Promise<void> {
    const waitMs = RETRY_MS[delivery.attempts];
    if (waitMs === undefined) {
      this.#failed++;
      if (delivery.deadLetterArn !== undefined) await this.#toQueue(delivery.deadLetterArn, delivery.body);
      return this.#section.del(key);
    }
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
