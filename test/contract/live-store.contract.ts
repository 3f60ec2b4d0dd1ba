import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LiveStore } from '#ports/live.ts';
import { CREATED } from './sample-run.ts';

/** A backend under test. */
interface LiveStoreBackend {
  readonly store: LiveStore;
  close(): Promise<void>;
}

const UNTIL = CREATED + 1_000;

/** What every store of live updates does. Each test has topics and connections of its own. */
export function describeLiveStore(backend: string, open: () => Promise<LiveStoreBackend>): void {
  describe(`who looks at what, on ${backend}`, () => {
    let live: LiveStoreBackend;
    beforeAll(async () => {
      live = await open();
    });
    afterAll(() => live.close());

    it('knows nobody at first', async () => {
      expect(await live.store.isAnybodyThere(CREATED)).toBe(false);
      expect(await live.store.topicsOf('c')).toEqual([]);
      expect(await live.store.subscribersOf('run/r', CREATED)).toEqual([]);
    });

    it('finds subscriptions by connection and by topic, however often they are put', async () => {
      const { store } = live;
      for (const topic of ['run/r1', 'pipeline/p1', 'run/r1'] as const) await store.subscribe('a=', topic, UNTIL);
      await store.subscribe('b=', 'run/r1', UNTIL);
      await store.subscribe('b=b', 'run/r2', UNTIL);
      expect(await store.topicsOf('a=')).toEqual(['pipeline/p1', 'run/r1']);
      expect(await store.topicsOf('b=')).toEqual(['run/r1']);
      expect(await store.subscribersOf('run/r1', CREATED)).toEqual(['a=', 'b=']);
      expect(await store.subscribersOf('pipeline/p1', CREATED)).toEqual(['a=']);
      expect(await store.subscribersOf('run/r', CREATED)).toEqual([]);
      for (const connection of ['a=', 'b=', 'b=b']) {
        for (const topic of await store.topicsOf(connection)) await store.unsubscribe(connection, topic);
      }
      expect(await store.isAnybodyThere(CREATED)).toBe(false);
    });

    it('takes a subscription out, and no other', async () => {
      const { store } = live;
      await store.subscribe('c', 'run/r3', UNTIL);
      await store.subscribe('c', 'run/r4', UNTIL);
      await store.unsubscribe('c', 'run/r3');
      await store.unsubscribe('c', 'run/never');
      expect(await store.topicsOf('c')).toEqual(['run/r4']);
      expect(await store.subscribersOf('run/r3', CREATED)).toEqual([]);
      expect(await store.isAnybodyThere(CREATED)).toBe(true);
      await store.unsubscribe('c', 'run/r4');
      expect(await store.isAnybodyThere(CREATED)).toBe(false);
    });

    it('passes over connections that cannot be open any more, however many there are', async () => {
      const { store } = live;
      for (let at = 0; at < 60; at++) await store.subscribe(`d${at}`, 'run/r5', UNTIL);
      expect(await store.subscribersOf('run/r5', UNTIL)).toEqual([]);
      expect(await store.isAnybodyThere(UNTIL)).toBe(false);
      await store.subscribe('e', 'run/r5', UNTIL + 1);
      expect(await store.subscribersOf('run/r5', UNTIL)).toEqual(['e']);
      expect(await store.isAnybodyThere(UNTIL)).toBe(true);
    });

    it('gives a ticket once, and not after its time', async () => {
      const { store } = live;
      await store.putTicket('one', { until: UNTIL, by: 'ada' });
      await store.putTicket('two', { until: UNTIL });
      expect(await store.takeTicket('one', CREATED)).toEqual({ until: UNTIL, by: 'ada' });
      expect(await store.takeTicket('one', CREATED)).toBeUndefined();
      expect(await store.takeTicket('two', UNTIL)).toBeUndefined();
      expect(await store.takeTicket('two', CREATED)).toBeUndefined();
      expect(await store.takeTicket('none', CREATED)).toBeUndefined();
    });

    it('gives a ticket to one of those who come with it at once', async () => {
      await live.store.putTicket('three', { until: UNTIL });
      const taken = await Promise.all(Array.from({ length: 5 }, () => live.store.takeTicket('three', CREATED)));
      expect(taken.filter((ticket) => ticket !== undefined)).toHaveLength(1);
    });
  });
}
