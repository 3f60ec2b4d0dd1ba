import { createHash, randomUUID } from 'node:crypto';
import type { Disk, Section } from '#local/disk.ts';
import type { HostClock } from '#local/host-clock.ts';
import type { QueueDefinition } from '#local/queue-definition.ts';

/** A message as it lies on disk. Times are milliseconds since 1970. */
type StoredMessage = {
  readonly id: string;
  readonly body: string;
  readonly sentAt: number;
  /** When it may be received; kept only for messages that wait. */
  readonly visibleAt: number;
  /** How often it had been received when it was last written. */
  readonly receives: number;
};

/** A message in memory. */
type Message = StoredMessage & { readonly key: string; readonly firstReceivedAt?: number };

/** A message that was received: it is deleted, or comes back. */
export type ReceivedMessage = {
  /** What deletes it or brings it back. */
  readonly handle: string;
  readonly id: string;
  readonly body: string;
  readonly sentAt: number;
  readonly firstReceivedAt: number;
  readonly receives: number;
};

/** How many messages a queue holds. */
export type QueueCounters = {
  /** Ready to be received. */
  readonly depth: number;
  /** Received and not yet deleted. */
  readonly inFlight: number;
  /** Not yet visible: sent with a delay, or waiting to be tried again. */
  readonly delayed: number;
  /** Moved to its dead-letter queue since this host started. */
  readonly dead: number;
};

/** What a queue works with. */
export type MessageQueueOptions = {
  readonly name: string;
  readonly disk: Disk;
  readonly clock: HostClock;
  /** The dead-letter queue of that ARN, if it is hosted. */
  readonly queueOf: (arn: string) => MessageQueue | undefined;
};

/**
 * One standard queue. A message is on disk from before `send` resolves until it is deleted; that it was received is
 * not, so that a host that died has it ready again at once. How often it was received is written when it comes back.
 */
export class MessageQueue {
  readonly name: string;
  definition: QueueDefinition;
  readonly #disk: Disk;
  readonly #clock: HostClock;
  readonly #queueOf: MessageQueueOptions['queueOf'];
  readonly #section: Section<StoredMessage>;
  readonly #ready = new Map<string, Message>();
  readonly #inFlight = new Map<string, Message>();
  readonly #timers = new Map<string, () => void>();
  readonly #readyListeners = new Set<() => void>();
  readonly #writes = new Set<Promise<void>>();
  #delayed = 0;
  #dead = 0;
  #sequence = 0;
  #receipts = 0;

  constructor(definition: QueueDefinition, options: MessageQueueOptions) {
    this.name = options.name;
    this.definition = definition;
    this.#disk = options.disk;
    this.#clock = options.clock;
    this.#queueOf = options.queueOf;
    this.#section = options.disk.section<StoredMessage>('messages');
  }

  /** Takes up the messages that an earlier host left. Call it once, before anything else. */
  async load(): Promise<void> {
    for await (const [key, stored] of this.#section.entries({ gt: `${this.name}/`, lt: `${this.name}0` })) {
      this.#sequence = Math.max(this.#sequence, Number(key.slice(this.name.length + 1)));
      this.#admit({ ...stored, key });
    }
  }

  /** Resolves with the message's id when it is on disk. */
  async send(body: string, delaySeconds = this.definition.delaySeconds): Promise<string> {
    const message = this.#newMessage(body, delaySeconds * 1000);
    await this.#section.put(message.key, stored(message));
    this.#admit(message);
    return message.id;
  }

  /** Takes up to `limit` ready messages. They are in flight until {@link delete} or {@link release}. */
  receive(limit: number): ReceivedMessage[] {
    const received: ReceivedMessage[] = [];
    const now = this.#clock.now();
    for (const message of this.#ready.values()) {
      if (received.length >= limit) break;
      this.#ready.delete(message.key);
      if (message.sentAt + this.definition.retentionSeconds * 1000 <= now) {
        void this.#track(this.#section.del(message.key));
        continue;
      }
      const handle = `${message.key}#${++this.#receipts}`;
      const taken = { ...message, receives: message.receives + 1, firstReceivedAt: message.firstReceivedAt ?? now };
      this.#inFlight.set(handle, taken);
      const { id, body, sentAt, receives, firstReceivedAt } = taken;
      received.push({ handle, id, body, sentAt, receives, firstReceivedAt });
    }
    return received;
  }

  /** Brings a message in flight back after `delayMs` if it is still in flight then. */
  expireAfter(handle: string, delayMs: number): boolean {
    if (!this.#inFlight.has(handle)) return false;
    this.#timers.get(handle)?.();
    const cancel = this.#clock.after(delayMs, () => {
      this.#timers.delete(handle);
      void this.#track(this.release(handle, 0));
    });
    this.#timers.set(handle, cancel);
    return true;
  }

  /** Deletes messages in flight. A handle that is not in flight any more is ignored, as SQS does. Resolves when it is on disk. */
  async delete(handles: readonly string[]): Promise<void> {
    const messages = handles.map((handle) => this.#take(handle)).filter((message) => message !== undefined);
    if (messages.length === 0) return;
    await this.#track(this.#disk.batch(messages.map(({ key }) => this.#section.deleting(key))));
  }

  /** Makes a message in flight visible again after `delayMs`, or moves it to the dead-letter queue if it was received too often. */
  async release(handle: string, delayMs: number): Promise<void> {
    const message = this.#take(handle);
    if (message === undefined) return;
    const { redrive } = this.definition;
    const deadLetters = redrive && this.#queueOf(redrive.deadLetterArn);
    if (redrive && deadLetters && message.receives >= redrive.maxReceiveCount) {
      this.#dead++;
      await deadLetters.#adopt(message, this.#section.deleting(message.key));
      return;
    }
    const back = { ...message, visibleAt: this.#clock.now() + delayMs };
    await this.#track(this.#section.put(back.key, stored(back)));
    this.#admit(back);
  }

  /** Calls `listener` whenever a message becomes ready. @returns what ends it */
  onReady(listener: () => void): () => void {
    this.#readyListeners.add(listener);
    return () => this.#readyListeners.delete(listener);
  }

  counters(): QueueCounters {
    return { depth: this.#ready.size, inFlight: this.#inFlight.size, delayed: this.#delayed, dead: this.#dead };
  }

  /** Calls off all timers and waits for writes under way. */
  async close(): Promise<void> {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#readyListeners.clear();
    await Promise.allSettled(this.#writes);
  }

  #newMessage(body: string, delayMs: number): Message {
    const key = `${this.name}/${String(++this.#sequence).padStart(15, '0')}`;
    const now = this.#clock.now();
    return { key, id: randomUUID(), body, sentAt: now, visibleAt: now + delayMs, receives: 0 };
  }

  /** Takes a message of another queue, as it is but never received, in one write with its deletion there. */
  async #adopt(message: Message, deletion: Parameters<Disk['batch']>[0][number]): Promise<void> {
    const { key, visibleAt } = this.#newMessage(message.body, 0);
    const adopted = { key, id: message.id, body: message.body, sentAt: message.sentAt, visibleAt, receives: 0 };
    await this.#track(this.#disk.batch([deletion, this.#section.putting(key, stored(adopted))]));
    this.#admit(adopted);
  }

  #admit(message: Message): void {
    const waitMs = message.visibleAt - this.#clock.now();
    if (waitMs <= 0) {
      this.#ready.set(message.key, message);
      for (const listener of [...this.#readyListeners]) listener();
      return;
    }
    this.#delayed++;
    const cancel = this.#clock.after(waitMs, () => {
      this.#timers.delete(message.key);
      this.#delayed--;
      this.#admit({ ...message, visibleAt: this.#clock.now() });
    });
    this.#timers.set(message.key, cancel);
  }

  #take(handle: string): Message | undefined {
    const message = this.#inFlight.get(handle);
    this.#inFlight.delete(handle);
    this.#timers.get(handle)?.();
    this.#timers.delete(handle);
    return message;
  }

  #track(write: Promise<void>): Promise<void> {
    this.#writes.add(write);
    const done = () => this.#writes.delete(write);
    write.then(done, done);
    return write;
  }
}

function stored({ id, body, sentAt, visibleAt, receives }: Message): StoredMessage {
  return { id, body, sentAt, visibleAt, receives };
}

/** The checksum that SQS answers and clients compare. */
export function md5OfBody(body: string): string {
  return createHash('md5').update(body).digest('hex');
}
