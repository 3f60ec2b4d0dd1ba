import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EventBuses, openEventBuses } from '#local/event-bus.ts';
import { type CallOutcome, openWebhookCalls, type WebhookCalls } from '#local/webhook-calls.ts';
import { createWireLog } from '#local/wire-log.ts';
import { ManualClock } from './manual-clock.ts';
import { temporaryDisk } from './temporary-disk.ts';

const HOOK = 'arn:aws:events:us-east-1:000000000000:api-destination/hook';
const DEAD = 'arn:aws:sqs:us-east-1:000000000000:dead';

let storage: Awaited<ReturnType<typeof temporaryDisk>>;
let clock: ManualClock;
let buses: EventBuses;
let outcomes: CallOutcome[];
let dead: string[];
/** When calls were made (ms after the beginning). */
let calls: number[];
let began: number;

const webhooks: WebhookCalls = {
  has: (arn) => arn === HOOK,
  turn: () => 0,
  async call() {
    calls.push(clock.now() - began);
    return outcomes.shift() ?? { kind: 'taken' };
  },
};

const again = (waitMs = 0): CallOutcome => ({ kind: 'again', waitMs });

function open(around: WebhookCalls = webhooks): void {
  buses = openEventBuses({
    ...{ disk: storage.disk, wireLog: createWireLog(), clock, webhooks: around },
    sendToQueue: async (_arn, body) => void dead.push(body),
    invokeFunction: async () => {},
  });
}

beforeEach(async () => {
  storage = await temporaryDisk();
  clock = new ManualClock();
  [outcomes, dead, calls, began] = [[], [], [], clock.now()];
  open();
});
afterEach(async () => {
  await buses.close();
  await storage.remove();
});

async function publish(RetryPolicy?: object, Arn = HOOK): Promise<void> {
  const target = {
    Id: 'h',
    Arn,
    DeadLetterConfig: { Arn: DEAD },
    InputPath: '$.detail',
    ...(RetryPolicy && { RetryPolicy }),
  };
  const properties = { EventPattern: { source: ['shop'] }, Targets: [target] };
  buses.createRule({ name: 'r', arn: 'arn:aws:events:us-east-1:000000000000:rule/r' }, properties);
  await buses.publish('default', { source: 'shop', detailType: 'T', detail: { a: 1 } });
}

/** How often the one delivery that lies on disk was tried in vain. */
async function kept(): Promise<number | undefined> {
  for await (const [, { attempts }] of storage.disk.section<{ attempts: number }>('deliveries').entries())
    return attempts;
  return undefined;
}

/** Lets time pass, second by second, until so many calls were made or so much was given up. */
async function until(isReached: () => boolean): Promise<void> {
  await expect
    .poll(
      () => {
        clock.advance(1000);
        return isReached();
      },
      { interval: 1 },
    )
    .toBe(true);
}

describe('deliveries to a webhook', () => {
  it('are tried again after a second, then after twice as long each time', async () => {
    outcomes = [again(), again(), again(), again()];
    await publish();
    const waits = [0, 1000, 2000, 4000, 8000];
    for (const [at, wait] of waits.entries()) {
      clock.advance(wait);
      await expect.poll(() => calls.length).toBe(at + 1);
      // The next wait begins once it is on disk.
      await expect.poll(async () => (await kept()) === at + 1 || buses.counters().delivered === 1).toBe(true);
      await turn();
    }
    expect(calls).toEqual([0, 1000, 3000, 7000, 15_000]);
    expect(buses.counters()).toMatchObject({ delivered: 1, failed: 0 });
  });

  it('wait for as long as the receiver asks', async () => {
    outcomes = [again(90_000)];
    await publish();
    await until(() => calls.length === 2);
    expect(calls[1]).toBeGreaterThanOrEqual(90_000);
  });

  it.each([
    ['often', { MaximumRetryAttempts: 2 }, 3],
    ['never', { MaximumRetryAttempts: 0 }, 1],
    ['long', { MaximumEventAgeInSeconds: 60 }, 6],
  ])('end with a dead letter when they were tried %s enough', async (_name, policy, tries) => {
    outcomes = Array.from({ length: 20 }, () => again());
    await publish(policy);
    await until(() => dead.length > 0);
    expect(dead).toEqual(['{"a":1}']);
    expect(calls).toHaveLength(tries);
  });

  it('end at once where they will never be taken', async () => {
    outcomes = [{ kind: 'refused' }];
    await publish();
    await until(() => dead.length > 0);
    expect(calls).toHaveLength(1);
  });

  it('are not made to a destination that is not called', async () => {
    await publish(undefined, `${HOOK}-elsewhere`);
    clock.advance(1000);
    await turn();
    expect(calls).toEqual([]);
    expect(buses.counters()).toMatchObject({ delivered: 0, failed: 0 });
  });

  it('that are cut off by the end of the host are made by the next one', async () => {
    await buses.close();
    open({
      ...webhooks,
      call: (_arn, _body, signal) =>
        new Promise((resolve) => {
          calls.push(0);
          signal.addEventListener('abort', () => resolve(again()));
        }),
    });
    await publish({ MaximumRetryAttempts: 0 });
    clock.advance(0);
    await buses.close();
    expect(dead).toEqual([]);
    open();
    await buses.start();
    await until(() => buses.counters().delivered === 1);
    expect(calls).toHaveLength(2);
  });
});

describe('a call of a webhook', () => {
  let server: Server;
  let answer: { status: number; headers?: Record<string, string> };
  let url: string;
  beforeEach(async () => {
    server = createServer((_request, response) => response.writeHead(answer.status, answer.headers).end('no'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  });
  afterEach(() => void server.close());

  const call = (signal = new AbortController().signal) =>
    openWebhookCalls(new Map([[HOOK, { url, method: 'POST', headers: {}, ratePerSecond: 4 }]]), clock).call(
      HOOK,
      '{}',
      signal,
    );

  it.each([
    [200, 'taken'],
    [204, 'taken'],
    [301, 'refused'],
    [400, 'refused'],
    [401, 'again'],
    [404, 'refused'],
    [407, 'again'],
    [409, 'again'],
    [429, 'again'],
    [500, 'again'],
    [504, 'again'],
  ])('that is answered %i is %s', async (status, kind) => {
    answer = { status, headers: { location: 'http://127.0.0.1:1/' } };
    expect(await call()).toMatchObject({ kind });
  });

  it('heeds when the receiver wants to be asked again', async () => {
    const inAMinute = new Date(clock.now() + 60_000).toUTCString();
    for (const [status, value, waitMs] of [
      [429, '7', 7000],
      [503, inAMinute, 60_000],
      [503, 'soon', 0],
      [500, '7', 0],
    ] as const) {
      answer = { status, headers: { 'retry-after': value } };
      const outcome = await call();
      expect(outcome.kind === 'again' && Math.round(outcome.waitMs / 1000) * 1000).toBe(waitMs);
    }
  });

  it('that nobody answers, or that is cut off, is to be made again', async () => {
    answer = { status: 200 };
    expect(await call(AbortSignal.abort())).toEqual(again());
    server.close();
    expect(await call()).toEqual(again());
  });

  it('has its turn when the rate allows it', () => {
    const paced = openWebhookCalls(new Map([[HOOK, { url, method: 'POST', headers: {}, ratePerSecond: 4 }]]), clock);
    expect([1, 2, 3].map(() => paced.turn(HOOK))).toEqual([0, 250, 500]);
    clock.advance(10_000);
    expect([1, 2].map(() => paced.turn(HOOK))).toEqual([0, 250]);
  });
});
