/** What every inbox promises: whatever is rung reaches the scheduler, which reads it back as what was rung. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toExecutionName } from '#domain/execution-name.ts';
import type { DueThing, Inbox } from '#ports/index.ts';
import type { Watches } from '#ports/live.ts';
import { parseInboxMessage } from '#scheduler/inbox-message.ts';
import { nextId, ODD_TEXTS } from './sample-run.ts';

/** An empty inbox, and the scheduler's end of it. */
export interface InboxHarness {
  readonly inbox: Inbox;
  /** Takes out so many messages, once they are there; fewer, if no more come within some seconds. */
  take(count: number): Promise<string[]>;
  /** Messages that nobody can take out yet. */
  delayed(): Promise<number>;
  close(): Promise<void>;
}

export function describeInbox(backend: string, open: () => Promise<InboxHarness>): void {
  describe(`Inbox on ${backend}`, () => {
    let harness: InboxHarness;
    let inbox: Inbox;
    beforeAll(async () => {
      harness = await open();
      inbox = harness.inbox;
    });
    afterAll(() => harness.close());
    const read = async (count: number) => {
      const bodies = await harness.take(count);
      return bodies.map((body) => parseInboxMessage(body, 'millrace'));
    };
    const asRun = (id: string): DueThing => ({ kind: 'run', id });

    it('rings a run', async () => {
      const run = nextId();
      await inbox.ring(run);
      expect(await read(1)).toEqual([{ kind: 'ring', run }]);
    });

    it('rings about an attempt', async () => {
      const about = { run: nextId(), nonce: 'abcdefgh', node: 3, attempt: 2 };
      await inbox.ringAbout(about.run, toExecutionName('millrace', about));
      expect(await read(1)).toEqual([{ kind: 'ring', run: about.run, about }]);
    });

    it('rings each kind of thing', async () => {
      const things: DueThing[] = [
        { kind: 'limit', id: 'engine/a.b-c' },
        { kind: 'limit', id: 'pool/__proto__' },
        { kind: 'pipeline', id: 'etl' },
      ];
      for (const thing of things) {
        await inbox.ringThing(thing);
        expect(await read(1)).toEqual([{ kind: 'thing', thing }]);
      }
      const run = nextId();
      await inbox.ringThing(asRun(run));
      expect(await read(1)).toEqual([{ kind: 'ring', run }]);
    });

    it('rings many at once, each one', async () => {
      const runs = Array.from({ length: 25 }, () => nextId());
      await inbox.ringAll([...runs.map(asRun), { kind: 'pipeline', id: 'etl' }]);
      const messages = await read(26);
      const rung = messages.flatMap((message) => (message.kind === 'ring' ? [message.run] : []));
      expect(rung.sort()).toEqual(runs);
      expect(messages).toContainEqual({ kind: 'thing', thing: { kind: 'pipeline', id: 'etl' } });
      await inbox.ringAll([]);
    });

    it('carries any id', async () => {
      await inbox.ringAll(ODD_TEXTS.map(asRun));
      const messages = await read(ODD_TEXTS.length);
      const rung = messages.flatMap((message) => (message.kind === 'ring' ? [message.run] : []));
      expect(rung.sort()).toEqual([...ODD_TEXTS].sort());
    });

    it('rings after a delay, and not before', async () => {
      const [soon, late] = [nextId(), nextId()];
      await inbox.ring(soon, 1);
      await inbox.ringThing(asRun(late), 1_000_000);
      await expect.poll(() => harness.delayed()).toBe(2);
      expect(await read(1)).toEqual([{ kind: 'ring', run: soon }]);
      expect(await harness.delayed()).toBe(1);
    });
  });
}

/** What every asker for watches promises: the scheduler hears which run it is. */
export function describeWatches(
  backend: string,
  open: () => Promise<Pick<InboxHarness, 'take' | 'close'> & { readonly watches: Watches }>,
): void {
  describe(`Watches on ${backend}`, () => {
    it('ask for a run to be watched', async () => {
      const { watches, take, close } = await open();
      const runs = [nextId(), nextId()];
      for (const run of runs) await watches.ask(run);
      const asked = (await take(2)).map((body) => parseInboxMessage(body, 'millrace'));
      expect(asked).toEqual(expect.arrayContaining(runs.map((run) => ({ kind: 'watch', run }))));
      await close();
    });
  });
}
