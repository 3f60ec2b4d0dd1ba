/** The one index of what is due, over runs, limits and pipelines. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aggregateKey, DUE_SHARD_NAMES, dueShardOf, dueThingAt } from '#adapters/aws/table-keys.ts';
import { createMemoryDueIndex, DueMap } from '#adapters/memory/memory-due-index.ts';
import { createMemoryLimitStore } from '#adapters/memory/memory-limit-store.ts';
import { createMemoryPipelineStore } from '#adapters/memory/memory-pipeline-store.ts';
import { createMemoryRunStore } from '#adapters/memory/memory-run-store.ts';
import { describeDueIndex, dueThings } from './due-index.contract.ts';
import { openDynamoDueIndex } from './dynamo-due-index.harness.ts';
import { ODD_NAMES } from './sample-limit.ts';
import { CREATED, ODD_TEXTS } from './sample-run.ts';
import { TABLE_SERVERS, type TableServer } from './tables.ts';

describeDueIndex('memory', async () => {
  const runs = createMemoryRunStore();
  const limits = createMemoryLimitStore();
  const pipelines = createMemoryPipelineStore();
  const due = createMemoryDueIndex({ run: runs.stored, limit: limits.stored, pipeline: pipelines.stored });
  return { runs, limits, pipelines, due };
});

for (const [backend, start] of TABLE_SERVERS) {
  describe('over a table', () => {
    let server: TableServer;
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server.close());

    describeDueIndex(backend, () => openDynamoDueIndex(server));

    it('leaves out what has no business there', async () => {
      const { table, due } = await openDynamoDueIndex(server);
      await table.put({ pk: 'memo#x', sk: 'memo', ds: DUE_SHARD_NAMES[0], da: CREATED });
      expect(await dueThings(due, CREATED)).toEqual([]);
    });
  });
}

describe('keys of aggregates', () => {
  it('tell the run that they belong to, however odd its id', () => {
    for (const id of ODD_TEXTS) expect(dueThingAt(aggregateKey(id))).toEqual({ kind: 'run', id });
  });

  it('are in a shard that the tick reads', () => {
    for (const id of [...ODD_TEXTS, ...ODD_NAMES]) expect(DUE_SHARD_NAMES).toContain(dueShardOf(id));
  });
});

describe('the due index in memory', () => {
  it('has runs, limits and pipelines, soonest first, over many pages', async () => {
    const timesOf = (prefix: string, first: number) =>
      new DueMap(Array.from({ length: 80 }, (_, at) => [`${prefix}${at}`, { dueAt: first + at * 3 }] as const));
    const due = createMemoryDueIndex({
      run: timesOf('r', CREATED),
      limit: timesOf('engine/e', CREATED + 1),
      pipeline: timesOf('p', CREATED + 2),
    });
    const kinds: string[] = [];
    for await (const page of due.due(CREATED + 160)) kinds.push(...page.map(({ kind }) => kind));
    expect(kinds).toHaveLength(161);
    expect(kinds.slice(0, 6)).toEqual(['run', 'limit', 'pipeline', 'run', 'limit', 'pipeline']);
  });

  it('has nothing of what has no time, or no store', async () => {
    expect(await dueThings(createMemoryDueIndex({ run: new DueMap([['r', {}]]) }), CREATED)).toEqual([]);
  });

  it('follows every change of what is stored', () => {
    const text = fc.constantFrom('a', 'b', 'c', 'd');
    const change = fc.record({ id: text, dueAt: fc.option(fc.integer({ min: 0, max: 5 }), { nil: undefined }) });
    const removal = fc.record({ removed: text });
    fc.assert(
      fc.property(fc.array(fc.oneof(change, removal)), fc.integer({ min: 0, max: 5 }), (changes, now) => {
        const [stored, plain] = [new DueMap(), new Map<string, number | undefined>()];
        for (const one of changes) {
          if ('removed' in one) {
            expect(stored.delete(one.removed)).toBe(plain.delete(one.removed));
          } else {
            stored.set(one.id, one.dueAt === undefined ? {} : { dueAt: one.dueAt });
            plain.set(one.id, one.dueAt);
          }
        }
        const due = [...plain].flatMap(([id, dueAt]) => (dueAt !== undefined && dueAt <= now ? [{ id, dueAt }] : []));
        const times = stored.dueTimes(now);
        expect(times).toEqual([...new Set(due.map(({ dueAt }) => dueAt))].sort());
        const found = times.flatMap((dueAt) => stored.idsAt(dueAt).map((id) => ({ id, dueAt })));
        expect(found.toSorted(byId)).toEqual(due.toSorted(byId));
        stored.clear();
        expect(stored.dueTimes(now)).toEqual([]);
      }),
    );
  });
});

function byId(a: { readonly id: string }, b: { readonly id: string }): number {
  return a.id < b.id ? -1 : 1;
}
