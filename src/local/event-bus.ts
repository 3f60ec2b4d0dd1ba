import { randomUUID } from 'node:crypto';
import type { Disk } from '#local/disk.ts';
import { type Delivery, EventDeliveries } from '#local/event-deliveries.ts';
import { type EventRule, eventRuleOf, type RuleTarget } from '#local/event-rule.ts';
import { type HostClock, systemClock } from '#local/host-clock.ts';
import { type EventEntry, type RefusedEntry, readPutEvents } from '#local/put-events.ts';
import { switchRule } from '#local/rule-switch.ts';
import type { WebhookCalls } from '#local/webhook-calls.ts';
import { type WireAnswer, WireError, wireAnswer, wireFailure } from '#local/wire-answer.ts';
import type { WireLog } from '#local/wire-log.ts';

/** An event as a rule sees it. */
type BusEvent = {
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

/** What chaos makes of one delivery: nothing arrives, so many copies arrive (1 is ordinary), or they arrive later. */
export type DeliveryFate = 'drop' | number | { readonly delayMs: number; readonly copies: number };

/** Asked before each delivery of an event to a target. */
export type DeliveryChaos = { deliver(event: BusEvent, target: RuleTarget): DeliveryFate };

/** What became of events since this host started. */
type BusCounters = {
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
   * @throws {EventRuleError} naming the rule and the part
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
  /** Sends to a queue. Resolves when the message is on disk. A `QueueError` loses the event, as a missing target does on AWS. */
  readonly sendToQueue: (queueArn: string, body: string) => Promise<unknown>;
  /** Invokes a function with JSON text. Resolves when it succeeded; a rejection is retried twice, after one and two minutes. */
  readonly invokeFunction: (functionArn: string, payload: string) => Promise<unknown>;
  /** Posts to API destinations. @default nothing is posted */
  readonly webhooks?: WebhookCalls;
  /** @default '000000000000' */
  readonly account?: string;
  /** @default 'us-east-1' */
  readonly region?: string;
  readonly chaos?: DeliveryChaos;
  /** @default the machine's clock */
  readonly clock?: HostClock;
};

/** Opens the buses; the bus `default` is there at once. */
export function openEventBuses(options: EventBusOptions): EventBuses {
  const { wireLog, chaos, account = '000000000000', region = 'us-east-1', clock = systemClock } = options;
  const deliveries = new EventDeliveries({ ...options, clock });
  const buses = new Map<string, Map<string, EventRule>>([['default', new Map()]]);
  let events = 0;

  async function put(entry: Omit<EventEntry, 'bytes'>): Promise<string> {
    const id = randomUUID();
    const event: BusEvent = {
      version: '0',
      id,
      'detail-type': entry.detailType,
      source: entry.source,
      account,
      time: new Date(entry.time ?? clock.now()).toISOString().replace(/\.\d+/, ''),
      region,
      resources: entry.resources,
      detail: entry.detail,
    };
    const { detail: _, ...head } = event;
    const text = `${JSON.stringify(head).slice(0, -1)},"detail":${entry.detailText}}`;
    events++;
    const rules = [...(buses.get(entry.bus)?.values() ?? [])].filter((rule) => rule.isEnabled && rule.matches(event));
    const wanted = rules.flatMap((rule) =>
      rule.targets.flatMap((target): Delivery[] => {
        const { kind, arn, deadLetterArn, retry } = target;
        if (kind === 'destination' && !options.webhooks?.has(arn)) return [];
        const { copies, delayMs } = fateOf(chaos, event, target);
        const dueAt = clock.now() + delayMs;
        const delivery = {
          ...{ kind, arn, body: target.inputOf({ event, text }), dueAt, attempts: 0 },
          ...(deadLetterArn && { deadLetterArn }),
          ...(retry && { until: { at: clock.now() + retry.maxAgeMs, retries: retry.retries } }),
        };
        return Array.from({ length: copies }, () => delivery);
      }),
    );
    await deliveries.add(id, wanted);
    return id;
  }

  return {
    createBus(name) {
      if (!buses.has(name)) buses.set(name, new Map());
    },
    createRule(address, properties) {
      const rule = eventRuleOf(address, properties);
      const rules = buses.get(rule.bus) ?? new Map<string, EventRule>();
      buses.set(rule.bus, rules.set(rule.name, rule));
    },
    start: () => deliveries.load(),
    async publish(bus, { source, detailType, detail, resources = [], time }) {
      const detailText = JSON.stringify(detail);
      if (!source.startsWith('aws.')) wireLog.count('events', chunks(Buffer.byteLength(detailText)));
      await put({ bus, source, detailType, detail, detailText, resources, time });
    },
    counters: () => ({ events, ...deliveries.counters() }),
    handle: async (target, body) => {
      const api = target.slice(target.indexOf('.') + 1);
      if (api !== 'EnableRule' && api !== 'DisableRule') return answer(wireLog, put, target, body);
      wireLog.call('events', api);
      try {
        switchRule(buses, api === 'EnableRule', body);
        return { status: 200, body: '' };
      } catch (error) {
        return wireFailure('1.1', error);
      }
    },
    close: () => deliveries.close(),
  };
}

function fateOf(chaos: DeliveryChaos | undefined, event: BusEvent, target: RuleTarget) {
  const fate = chaos?.deliver(event, { id: target.id, arn: target.arn, rule: target.rule }) ?? 1;
  if (fate === 'drop') return { copies: 0, delayMs: 0 };
  return typeof fate === 'number' ? { copies: fate, delayMs: 0 } : fate;
}

/** How many events EventBridge bills for that many bytes. */
function chunks(bytes: number): number {
  return Math.max(1, Math.ceil(bytes / 65_536));
}

async function answer(
  wireLog: WireLog,
  put: (entry: EventEntry) => Promise<string>,
  target: string,
  body: Buffer,
): Promise<WireAnswer> {
  try {
    const api = target.slice(target.indexOf('.') + 1);
    if (api !== 'PutEvents') throw new WireError('UnsupportedOperation', `${api} is not hosted`);
    wireLog.call('events', api);
    const entries = readPutEvents(body.toString());
    const Entries = await Promise.all(
      entries.map(async (entry): Promise<RefusedEntry | { EventId: string }> => {
        if ('ErrorCode' in entry) return entry;
        wireLog.count('events', chunks(entry.bytes));
        return { EventId: await put(entry) };
      }),
    );
    return wireAnswer('1.1', {
      FailedEntryCount: Entries.filter((entry) => 'ErrorCode' in entry).length,
      Entries,
    });
  } catch (error) {
    return wireFailure('1.1', error);
  }
}
