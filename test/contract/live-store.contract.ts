/** What every store of tickets and subscriptions promises. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LiveStore, LiveTopic } from '#ports/live.ts';
import { CREATED, nextId } from './sample-run.ts';

/** A fresh, empty store, and what ends it. */
export interface LiveStoreHarness {
  readonly store: LiveStore;
  close(): Promise<void>;
}

/** API Gateway's connection ids are base64: `/`, `+` and `=` are in them. */
const CONNECTIONS = ['L0SM9cOFvHcCIhw=', 'L0SM9cOFvHcCIhw', 'a/b+c==', 'a/b', '__proto__'];

export function describeLiveStore(backend: string, open: () => Promise<LiveStoreHarness>): void {
  describe(`LiveStore on ${backend}`, () => {
    let harness: LiveStoreHarness;
    let store: LiveStore;
    beforeEach(async () => {
      harness = await open();
      store = harness.store;
    });
    afterEach(() => harness.close());
    const until = CREATED + 60_000;
    const topic: LiveTopic = `run/${nextId()}`;

    describe('tickets', () => {
      it('are given once, as they were put', async () => {
        await store.putTicket('digest-1', { until, by: 'ada 🚀' });
        await store.putTicket('digest-2', { until });
        expect(await store.takeTicket('digest-1', CREATED)).toEqual({ until, by: 'ada 🚀' });
        expect(await store.takeTicket('digest-1', CREATED)).toBeUndefined();
        expect(await store.takeTicket('digest-2', CREATED)).toEqual({ until });
        expect(await store.takeTicket('digest-3', CREATED)).toBeUndefined();
      });

      it('are worth nothing from the end of their time on', async () => {
        await store.putTicket('digest', { until });
        expect(await store.takeTicket('digest', until)).toBeUndefined();
        expect(await store.takeTicket('digest', CREATED)).toBeUndefined();
      });

      it('are given to one of many that ask at once', async () => {
        await store.putTicket('digest', { until });
        const asked = await Promise.all(Array.from({ length: 8 }, () => store.takeTicket('digest', CREATED)));
        expect(asked.filter((ticket) => ticket !== undefined)).toEqual([{ until }]);
      });
    });

    describe('subscriptions', () => {
      it('are found by connection and by topic, and keep both apart', async () => {
        const other: LiveTopic = 'pipeline/etl';
        for (const connection of CONNECTIONS) await store.subscribe(connection, topic, until);
        await store.subscribe('a/b', other, until);
        await store.subscribe('a/b', other, until);
        expect(await store.subscribersOf(topic, CREATED)).toEqual([...CONNECTIONS].sort());
        expect(await store.subscribersOf(other, CREATED)).toEqual(['a/b']);
        expect(await store.subscribersOf('pipeline/et', CREATED)).toEqual([]);
        for (const connection of CONNECTIONS) {
          const topics = connection === 'a/b' ? [other, topic] : [topic];
          expect(await store.topicsOf(connection)).toEqual(topics);
        }
      });

      it('end one by one, and may end twice', async () => {
        await store.subscribe('a', topic, until);
        await store.subscribe('b', topic, until);
        await store.unsubscribe('a', topic);
        await store.unsubscribe('a', topic);
        expect(await store.subscribersOf(topic, CREATED)).toEqual(['b']);
        expect(await store.topicsOf('a')).toEqual([]);
        expect(await store.isAnybodyThere(CREATED)).toBe(true);
        await store.unsubscribe('b', topic);
        expect(await store.isAnybodyThere(CREATED)).toBe(false);
      });

      it('count for nothing once no connection of their age can be open', async () => {
        expect(await store.isAnybodyThere(CREATED)).toBe(false);
        await store.subscribe('a', topic, until);
        expect(await store.subscribersOf(topic, until - 1)).toEqual(['a']);
        expect(await store.subscribersOf(topic, until)).toEqual([]);
        expect(await store.isAnybodyThere(until - 1)).toBe(true);
        expect(await store.isAnybodyThere(until)).toBe(false);
        await store.subscribe('a', topic, until + 1);
        expect(await store.subscribersOf(topic, until)).toEqual(['a']);
      });

      it('are all found where there are many, those that are over among them', async () => {
        const names = Array.from({ length: 120 }, (_, at) => `c${String(at).padStart(3, '0')}`);
        await Promise.all(names.map((name, at) => store.subscribe(name, topic, at < 100 ? CREATED : until)));
        expect(await store.subscribersOf(topic, CREATED)).toEqual(names.slice(100));
        expect(await store.isAnybodyThere(CREATED)).toBe(true);
      });
    });
  });
}
