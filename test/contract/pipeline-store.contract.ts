/** What every pipeline store promises. */
import { beforeEach, describe, expect, it } from 'vitest';
import type { PipelineDefinition } from '#domain/definition.ts';
import { DamagedPipelineError, NewerPipelineError } from '#domain/pipeline-head-codec.ts';
import type { PipelineHead, PipelineStore } from '#ports/index.ts';
import { CREATED, ODD_TEXTS } from './sample-run.ts';

function sampleHead(fields: Partial<PipelineHead> = {}): PipelineHead {
  return {
    name: 'etl',
    incarnation: 'abcdefgh',
    revision: 'rev-1',
    version: 1,
    createdAt: CREATED,
    updatedAt: CREATED,
    ...fields,
  };
}

/** A definition whose texts and keys a store could trip over; `JSON.parse` makes `__proto__` a key like any other. */
function oddDefinition(): PipelineDefinition {
  const payload = JSON.parse('{"__proto__":{"polluted":true},"constructor":[null,1.5e-7,""],"a":{"b":[]}}');
  return {
    name: 'etl',
    nodes: ODD_TEXTS.map((id, at) => ({
      id,
      params: { payload, text: id },
      dependsOn: ODD_TEXTS.slice(0, at),
    })),
    output: ODD_TEXTS,
  };
}

/** A fresh, empty store, and what only its backend can do to it. */
export interface PipelineStoreHarness {
  readonly store: PipelineStore;
  /** Damages a stored head. */
  damage(name: string): Promise<void>;
  /** Makes a stored head look like one that newer code wrote. */
  makeNewer(name: string): Promise<void>;
}

export function describePipelineStore(backend: string, open: () => Promise<PipelineStoreHarness>): void {
  describe(`PipelineStore on ${backend}`, () => {
    let harness: PipelineStoreHarness;
    let store: PipelineStore;

    beforeEach(async () => {
      harness = await open();
      store = harness.store;
    });

    describe('heads', () => {
      it('is made, read and replaced', async () => {
        const [first, second] = [sampleHead(), sampleHead({ revision: 'rev-2', version: 2, updatedAt: CREATED + 9 })];
        expect(await store.readHead('etl')).toBeUndefined();
        expect(await store.commitHead(first, 0)).toBe('committed');
        expect(await store.readHead('etl')).toEqual(first);
        expect(await store.commitHead(second, 1)).toBe('committed');
        expect(await store.readHead('etl')).toEqual(second);
      });

      it('U11 is not replaced where another change came first', async () => {
        const head = sampleHead();
        expect(await store.commitHead(head, 1)).toBe('conflict');
        await store.commitHead(head, 0);
        expect(await store.commitHead(sampleHead({ incarnation: 'hgfedcba' }), 0)).toBe('conflict');
        expect(await store.commitHead(sampleHead({ version: 3 }), 2)).toBe('conflict');
        expect(await store.readHead('etl')).toEqual(head);
      });

      it('lets one of many changes at once win', async () => {
        await store.commitHead(sampleHead(), 0);
        const changes = Array.from({ length: 6 }, (_, at) => sampleHead({ version: 2, revision: `rev-${at}` }));
        const answers = await Promise.all(changes.map((change) => store.commitHead(change, 1)));
        expect(answers.filter((answer) => answer === 'committed')).toHaveLength(1);
        expect(await store.readHead('etl')).toEqual(changes[answers.indexOf('committed')]);
      });

      it('lists by name, a page at a time', async () => {
        const names = ['a', 'B', 'a-b', 'a.b', 'A', 'z_9', '0', 'constructor', 'ab'];
        for (const name of names) await store.commitHead(sampleHead({ name }), 0);
        const found: string[] = [];
        let after: string | undefined;
        do {
          const page = await store.listHeads(2, after);
          expect(page.items.length).toBeLessThanOrEqual(2);
          found.push(...page.items.map((head) => head.name));
          after = page.last;
        } while (after !== undefined);
        expect(found).toEqual([...names].sort());
      });

      it('U12 keeps everything that a head may say', async () => {
        const order = { at: CREATED, by: 'somebody' };
        const head = sampleHead({
          ready: {
            type: 'Ready',
            status: 'False',
            reason: 'NoEngine',
            message: ODD_TEXTS.join(' '),
            lastTransitionTime: CREATED,
            observedRevision: 'rev-1',
          },
          tells: true,
          engines: ['gpu', 'constructor'],
          paused: order,
          cursors: ODD_TEXTS.map((id) => [id, { timing: 'rate 60000', createdAt: CREATED, settled: CREATED + 1 }]),
          rejected: [{ entry: '__proto__', instant: CREATED, code: 'INVALID_INPUT', message: 'no' }],
          backfills: [
            {
              id: '0123456789abcdef',
              revision: 'rev-1',
              from: 0,
              to: CREATED,
              direction: 'backward',
              maxActiveRuns: 3,
              ...order,
              entries: [['0', CREATED]],
              total: 10,
              started: 4,
              active: ['a', 'b'],
            },
          ],
          deleting: { at: CREATED, isForced: true },
          dueAt: CREATED + 60_000,
        });
        await store.commitHead(head, 0);
        expect(await store.readHead('etl')).toEqual(head);
        expect(await store.listHeads(1)).toEqual({ items: [head] });
      });

      it('is taken away under its version alone, and made anew', async () => {
        await store.commitHead(sampleHead(), 0);
        expect(await store.removeHead('etl', 2)).toBe('conflict');
        expect(await store.removeHead('etl', 1)).toBe('committed');
        expect(await store.readHead('etl')).toBeUndefined();
        expect(await store.removeHead('etl', 1)).toBe('conflict');
        expect(await store.commitHead(sampleHead({ incarnation: 'hgfedcba' }), 0)).toBe('committed');
      });

      it('ends the list with the page that holds the last head', async () => {
        expect(await store.listHeads(10)).toEqual({ items: [] });
        const heads = ['a', 'b', 'c', 'd'].map((name) => sampleHead({ name }));
        for (const head of heads) await store.commitHead(head, 0);
        expect(await store.listHeads(4)).toEqual({ items: heads });
        expect(await store.listHeads(2)).toEqual({ items: heads.slice(0, 2), last: 'b' });
        expect(await store.listHeads(2, 'b')).toEqual({ items: heads.slice(2) });
        expect(await store.listHeads(2, 'bb')).toEqual({ items: heads.slice(2) });
        expect(await store.listHeads(2, 'd')).toEqual({ items: [] });
      });
    });

    describe('heads that cannot be read', () => {
      it('C98 are told, and left out of lists', async () => {
        const heads = ['a', 'b', 'c', 'd'].map((name) => sampleHead({ name }));
        for (const head of heads) await store.commitHead(head, 0);
        await harness.damage('a');
        await harness.makeNewer('c');
        await expect(store.readHead('a')).rejects.toThrow(DamagedPipelineError);
        await expect(store.readHead('c')).rejects.toThrow(NewerPipelineError);
        expect(await store.listHeads(10)).toEqual({ items: [heads[1], heads[3]] });
        expect(await store.listHeads(1)).toEqual({ items: [heads[1]], last: 'b' });
        expect(await store.listHeads(1, 'b')).toEqual({ items: [heads[3]] });
      });

      it('are not overwritten where newer code wrote them', async () => {
        await store.commitHead(sampleHead(), 0);
        await harness.makeNewer('etl');
        expect(await store.commitHead(sampleHead({ version: 2 }), 1)).toBe('conflict');
        expect(await store.commitHead(sampleHead(), 0)).toBe('conflict');
        await expect(store.readHead('etl')).rejects.toThrow(NewerPipelineError);
      });
    });

    describe('uses of engines', () => {
      it('are listed by name, a page at a time', async () => {
        for (const name of ['c', 'a', 'B', 'constructor']) await store.putUse('gpu', name, 1);
        await store.putUse('emr', 'a', 1);
        await store.putUse('gpu', 'a', 1);
        expect(await store.listUses('gpu', 3)).toEqual({ items: ['B', 'a', 'c'], last: 'c' });
        expect(await store.listUses('gpu', 3, 'c')).toEqual({ items: ['constructor'] });
        expect(await store.listUses('gpu', 4)).toEqual({ items: ['B', 'a', 'c', 'constructor'] });
        expect(await store.listUses('none', 3)).toEqual({ items: [] });
      });

      it('are taken away unless a later version of the head put them', async () => {
        await store.putUse('gpu', 'etl', 4);
        await store.putUse('gpu', 'etl', 2);
        await store.removeUse('gpu', 'etl', 3);
        expect(await store.listUses('gpu', 9)).toEqual({ items: ['etl'] });
        await store.removeUse('gpu', 'etl', 4);
        await store.removeUse('gpu', 'etl', 4);
        expect(await store.listUses('gpu', 9)).toEqual({ items: [] });
      });
    });

    describe('definitions', () => {
      it('gives back exactly what was put', async () => {
        const definition = oddDefinition();
        await store.putDefinition('etl', 'abcdefgh', 'rev-1', definition, CREATED);
        const read = await store.readDefinition('etl', 'rev-1');
        expect(JSON.stringify(read)).toBe(JSON.stringify(definition));
        expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
      });

      it('knows nothing under another name or revision', async () => {
        await store.putDefinition('etl', 'abcdefgh', 'rev-1', oddDefinition(), CREATED);
        expect(await store.readDefinition('etl', 'rev-2')).toBeUndefined();
        expect(await store.readDefinition('etl2', 'rev-1')).toBeUndefined();
        expect(await store.readDefinition('etl', 'rev')).toBeUndefined();
      });

      it('keeps a definition of megabytes', async () => {
        const nodes = Array.from({ length: 10_000 }, (_, at) => ({
          id: `node-${at}`,
          params: { function: 'f', payload: { seed: Math.sin(at) * 1e9, text: `${Math.cos(at)}`.repeat(16) } },
        }));
        const definition: PipelineDefinition = { name: 'etl', nodes };
        await store.putDefinition('etl', 'abcdefgh', 'rev-1', definition, CREATED);
        expect(JSON.stringify(await store.readDefinition('etl', 'rev-1')) === JSON.stringify(definition)).toBe(true);
      });

      it('U13 is found by its revision after the pipeline was made anew', async () => {
        const definition = oddDefinition();
        await store.putDefinition('etl', 'abcdefgh', 'rev-1', definition, CREATED);
        await store.putDefinition('etl', 'hgfedcba', 'rev-2', { ...definition, description: 'other' }, CREATED + 1);
        expect(await store.readDefinition('etl', 'rev-1')).toEqual(definition);
      });
    });

    describe('revisions', () => {
      it('lists those of an incarnation, newest first', async () => {
        const definition = oddDefinition();
        for (const [at, revision] of ['rev-b', 'rev-c', 'rev-a'].entries()) {
          await store.putDefinition('etl', 'abcdefgh', revision, definition, CREATED + at);
        }
        await store.putDefinition('etl', 'hgfedcba', 'rev-d', definition, CREATED + 9);
        expect(await store.listRevisions('etl', 'abcdefgh')).toEqual([
          { revision: 'rev-a', createdAt: CREATED + 2 },
          { revision: 'rev-c', createdAt: CREATED + 1 },
          { revision: 'rev-b', createdAt: CREATED },
        ]);
        expect(await store.listRevisions('etl', 'hgfedcba')).toEqual([{ revision: 'rev-d', createdAt: CREATED + 9 }]);
        expect(await store.listRevisions('etl', 'abc')).toEqual([]);
      });

      it('keeps the time of the first put', async () => {
        await store.putDefinition('etl', 'abcdefgh', 'rev-1', oddDefinition(), CREATED);
        await store.putDefinition('etl', 'abcdefgh', 'rev-1', oddDefinition(), CREATED + 50);
        expect(await store.listRevisions('etl', 'abcdefgh')).toEqual([{ revision: 'rev-1', createdAt: CREATED }]);
      });
    });
  });
}
