/** The queue before the intake of a world: what other systems ask for, handed over at least once, in any order. */

import { createMemoryStartCounts } from '#adapters/memory/memory-start-counts.ts';
import type { PassDeps } from '#scheduler/deps.ts';
import { createHandler } from '../../functions/intake/handler.ts';

/** Deliveries of a message after which it goes to the dead letters. */
const MOST_DELIVERIES = 10;
/** How soon a message comes again that is not settled (ms). */
const AGAIN_MS = 1_000;
/** Runs of one pipeline that events start in a minute. */
const STARTS_PER_MINUTE = 100;

interface Request {
  readonly id: string;
  readonly body: string;
  readonly sentAt: number;
  at: number;
  deliveries: number;
}

/** What requests are taken in. */
export interface RequestWorld {
  readonly now: number;
  invoke(
    of: { readonly what: string; readonly messages: readonly []; readonly onDeath: () => void },
    work: (deps: PassDeps) => Promise<unknown>,
  ): Promise<void>;
  onTrouble(what: string, error: unknown): void;
}

/** Makes an empty queue. */
export class Requests {
  /** Counted by the intake, by the metric's name. */
  readonly counts = new Map<string, number>();
  /** Messages that went to the dead letters. */
  dead = 0;
  private waiting: Request[] = [];
  private sent = 0;
  private readonly startCounts = createMemoryStartCounts();
  private readonly world: RequestWorld;

  constructor(world: RequestWorld) {
    this.world = world;
  }

  /** An event that the bus hands over so many times. */
  send(body: string, copies: number): void {
    const { now } = this.world;
    for (let copy = 0; copy < copies; copy++) {
      this.sent += 1;
      this.waiting.push({ id: `request${this.sent}`, body, sentAt: now, at: now, deliveries: 0 });
    }
  }

  isBusy(): boolean {
    return this.waiting.length > 0;
  }

  /** When the next one is handed over. */
  nextAt(): number {
    return Math.min(...this.waiting.map(({ at }) => at));
  }

  /** Hands those over whose time has come, each to an invocation of its own. */
  async act(): Promise<void> {
    for (const request of this.waiting.filter(({ at }) => at <= this.world.now)) await this.handOver(request);
  }

  private async handOver(request: Request): Promise<void> {
    request.at = Number.POSITIVE_INFINITY;
    request.deliveries += 1;
    const again = () => this.comesAgain(request);
    await this.world.invoke({ what: 'intake', messages: [], onDeath: again }, async (pass) => {
      const { id: messageId, body, sentAt } = request;
      const attributes = { SentTimestamp: String(sentAt) };
      const handler = createHandler({
        pass,
        startCounts: this.startCounts,
        startsPerMinute: STARTS_PER_MINUTE,
        count: (name, by = 1) => void this.counts.set(name, (this.counts.get(name) ?? 0) + by),
        logger: { info: () => {}, warn: () => {}, error: (what, { error }) => this.world.onTrouble(what, error) },
      });
      const taken = await handler({ Records: [{ messageId, body, attributes }] }, {} as never);
      if (taken && taken.batchItemFailures.length > 0) again();
      else this.waiting = this.waiting.filter((one) => one !== request);
    });
  }

  private comesAgain(request: Request): void {
    if (request.deliveries < MOST_DELIVERIES) {
      request.at = this.world.now + AGAIN_MS;
      return;
    }
    this.dead += 1;
    this.waiting = this.waiting.filter((one) => one !== request);
  }
}
