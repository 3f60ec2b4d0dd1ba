/** What every bus promises: what is published reaches who listens, as it was said. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { BusEvent, EventBus } from '#ports/index.ts';
import type { LiveFeed } from '#ports/live.ts';
import { ODD_TEXTS } from './sample-run.ts';

/** An event as EventBridge wraps it. */
export interface Envelope {
  readonly source: string;
  readonly 'detail-type': string;
  readonly detail: unknown;
}

/** A bus of which somebody hears everything. */
export interface EventBusHarness {
  readonly bus: EventBus;
  /** Takes so many events that arrived, once they are there; fewer, if no more come within some seconds. */
  take(count: number): Promise<Envelope[]>;
  close(): Promise<void>;
}

export function describeEventBus(backend: string, open: () => Promise<EventBusHarness>): void {
  describe(`EventBus on ${backend}`, () => {
    let harness: EventBusHarness;
    beforeAll(async () => {
      harness = await open();
    });
    afterAll(() => harness.close());
    const event = (detail: BusEvent['detail'], fields: Partial<BusEvent> = {}): BusEvent => ({
      source: 'millrace.scheduler',
      detailType: 'RunChanged',
      detail,
      ...fields,
    });

    it('carries source, type and detail', async () => {
      const detail = JSON.parse(
        `{"schemaVersion":1,"hops":0,"__proto__":{"a":1.5e-7},"odd":${JSON.stringify(ODD_TEXTS)}}`,
      );
      const sent = [
        event(detail),
        event({ hops: 1 }, { source: 'millrace.api', detailType: 'EngineChanged' }),
        event({ hops: 2 }, { source: 'millrace.intake', detailType: 'RunRejected' }),
      ];
      await harness.bus.publish(sent);
      const arrived = await harness.take(3);
      for (const { source, detailType, detail } of sent) {
        const found = arrived.find((one) => one['detail-type'] === detailType);
        expect(found).toMatchObject({ source });
        expect(JSON.stringify(found?.detail)).toBe(JSON.stringify(detail));
      }
    });

    it('carries many at once, each one', async () => {
      await harness.bus.publish([]);
      await harness.bus.publish(Array.from({ length: 23 }, (_, at) => event({ at })));
      const arrived = await harness.take(23);
      const places = arrived.map(({ detail }) => (detail as { at: number }).at);
      expect(places.sort((a, b) => a - b)).toEqual(Array.from({ length: 23 }, (_, at) => at));
    });

    it('carries events that fill a call by themselves, and refuses one that is too large for any', async () => {
      const long = 'ü'.repeat(120_000);
      await harness.bus.publish([event({ at: 1, long }), event({ at: 2, long })]);
      const arrived = await harness.take(2);
      expect(arrived.map(({ detail }) => (detail as { long: string }).long === long)).toEqual([true, true]);
      await expect(harness.bus.publish([event({}), event({ long: 'ü'.repeat(140_000) })])).rejects.toThrow(RangeError);
      await harness.bus.publish([event({ last: true })]);
      expect((await harness.take(1)).map(({ detail }) => detail)).toEqual([{ last: true }]);
    });
  });
}

/** What every feed promises: events come while it is open, and only then. */
export function describeLiveFeed(
  backend: string,
  open: () => Promise<EventBusHarness & { readonly feed: LiveFeed }>,
): void {
  describe(`LiveFeed on ${backend}`, () => {
    it('lets events pass from when it is opened until it is closed, and takes the same order twice', async () => {
      const { feed, bus, take, close } = await open();
      const publish = (at: number) =>
        bus.publish([{ source: 'millrace.scheduler', detailType: 'RunChanged', detail: { at } }]);
      for (const times of [0, 1]) {
        await feed.close();
        await feed.close();
        await publish(10 * times);
        await feed.open();
        await feed.open();
        await publish(10 * times + 1);
        expect((await take(1)).map(({ detail }) => detail)).toEqual([{ at: 10 * times + 1 }]);
      }
      await close();
    });
  });
}
