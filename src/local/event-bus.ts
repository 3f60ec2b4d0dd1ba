import type { Disk } from '#local/disk.ts';
import type { HostClock } from '#local/host-clock.ts';
import type { WireAnswer } from '#local/wire-answer.ts';
import type { WireLog } from '#local/wire-log.ts';

/** An event as a rule sees it. */
export type BusEvent = {
  readonly version: '0';
  readonly id: string;
  readonly 'detail-type': string;
  readonly source: string;
  readonly account: string;
  /** ISO 8601, whole seconds, UTC. */
  readonly time: string;
  readonly region: string;
  readonly resources: readonly string[];
  readonly detail: Readonly<Record<string, unknown>>;
};

/** An event to be put on a bus from inside the host; `aws.` sources are allowed here. */
export type NewEvent = {
  readonly source: string;
  readonly detailType: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly resources?: readonly string[];
  /** Milliseconds since 1970. @default now */
  readonly time?: number;
};

/** Where a rule sends what it matches. */
export type RuleTarget = { readonly id: string; readonly arn: string; readonly rule: string };

/** What chaos makes of one delivery: nothing arrives, so many copies arrive (1 is ordinary), or they arrive later. */
export type DeliveryFate = 'drop' | number | { readonly delayMs: number; readonly copies: number };

/** Asked before each delivery of an event to a target. */
export type DeliveryChaos = { deliver(event: BusEvent, target: RuleTarget): DeliveryFate };

/** What became of events since this host started. */
export type BusCounters = {
  /** Events put on any bus. */
  readonly events: number;
  /** Deliveries that a target took. */
  readonly delivered: number;
  /** Deliveries given up: the target does not exist, or every retry failed. */
  readonly failed: number;
};

/** EventBridge buses, rules and their deliveries. The bus `default` is always there. */
export type EventBuses = {
  /** Hosts an `AWS::Events::EventBus`. */
  createBus(name: string): void;
  /**
   * Hosts an `AWS::Events::Rule` with its resolved properties; a rule of the same bus and name is replaced.
   * @throws {EventRuleError} `INVALID_PATTERN`, `UNSUPPORTED_TARGET`, `UNSUPPORTED_RULE`, naming the part
   */
  createRule(address: { readonly arn: string; readonly name: string }, properties: unknown): void;
  /** Delivers what an earlier host left undelivered. Call it once, when every rule, queue and function is there. */
  start(): Promise<void>;
  /** Resolves when the event cannot be lost any more. An unknown bus drops it, as on AWS. */
  publish(busName: string, event: NewEvent): Promise<void>;
  counters(): BusCounters;
  /** One request of the wire protocol; `target` is the header, `AWSEvents.PutEvents`. */
  handle(target: string, body: Buffer): Promise<WireAnswer>;
  /** Ends retries and timers; what is undelivered stays on disk. */
  close(): Promise<void>;
};

/** What the buses need. */
export type EventBusOptions = {
  readonly disk: Disk;
  readonly wireLog: WireLog;
  /** Sends to a queue. Resolves when the message is on disk. */
  readonly sendToQueue: (queueArn: string, body: string) => Promise<unknown>;
  /** Invokes a function asynchronously. Resolves when it succeeded; a rejection is retried. */
  readonly invokeFunction: (functionArn: string, payload: string) => Promise<unknown>;
  /** @default '000000000000' */
  readonly account?: string;
  /** @default 'us-east-1' */
  readonly region?: string;
  readonly chaos?: DeliveryChaos;
  /** @default the machine's clock */
  readonly clock?: HostClock;
};

/** Opens the buses; the bus `default` is there at once. */
export declare function openEventBuses(options: EventBusOptions): EventBuses;
