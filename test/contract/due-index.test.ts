/** The one index of what is due, over runs, limits and pipelines. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDynamoDueIndex } from '#adapters/aws/dynamo-due.ts';
import { createDynamoLimitStore } from '#adapters/aws/dynamo-limit-store.ts';
import { createDynamoRunStore } from '#adapters/aws/dynamo-run-store.ts';
import { createTable, type Item, type Table } from '#adapters/aws/table.ts';
import { aggregateKey, DUE_SHARD_NAMES, dueShardOf, dueThingAt, HEADS_PARTITION } from '#adapters/aws/table-keys.ts';
import { createMemoryDueIndex, DueMap } from '#adapters/memory/memory-due-index.ts';
import { dueThings } from './limit-store.contract.ts';
import { ODD_NAMES, sampleLimit } from './sample-limit.ts';
import { CREATED, ODD_TEXTS, sampleRun } from './sample-run.ts';
import { startDynalite, startHostTables, type TableServer } from './tables.ts';

let servers: TableServer[];

beforeAll(async () => {
  servers = await Promise.all([startDynalite(), startHostTables()]);
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
});

async function openTable(server: number): Promise<Table> {
  const { client, createTable: create } = servers[server] as TableServer;
  return createTable(client, await create());
}

describe.each([
  ['dynalite', 0],
  ['the development host', 1],
])('the due index on %s', (_, server) => {
  it('has runs, limits and pipelines by their times', async () => {
    const table = await openTable(server);
    const due = createDynamoDueIndex(table);
    const run = sampleRun({ dueAt: CREATED + 1 });
    await createDynamoRunStore(table, { now: () => CREATED }).createRun(run);
    await createDynamoLimitStore(table).commitLimit(sampleLimit({ name: 'engine/spark', dueAt: CREATED + 2 }), 0);
    await table.put({ pk: HEADS_PARTITION, sk: 'spark', ds: dueShardOf('spark'), da: CREATED + 3 });
    const [first, second, third] = [
      { kind: 'run', id: run.id },
      { kind: 'limit', id: 'engine/spark' },
      { kind: 'pipeline', id: 'spark' },
    ];
    expect(await dueThings(due, CREATED)).toEqual([]);
    expect(await dueThings(due, CREATED + 1)).toEqual([first]);
    expect(await dueThings(due, CREATED + 2)).toEqual([second, first]);
    expect(await dueThings(due, CREATED + 3)).toEqual([second, first, third]);
  });

  it('keeps things of one name apart', async () => {
    const table = await openTable(server);
    const limits = createDynamoLimitStore(table);
    for (const kind of ['engine', 'pool', 'pipeline'] as const) {
      await limits.commitLimit(sampleLimit({ name: `${kind}/same`, dueAt: CREATED }), 0);
    }
    await table.put({ pk: HEADS_PARTITION, sk: 'same', ds: dueShardOf('same'), da: CREATED });
    await table.put({ ...aggregateKey('same'), ds: dueShardOf('same'), da: CREATED });
    const things = await dueThings(createDynamoDueIndex(table), CREATED);
    expect(new Set(things.map(({ kind, id }) => `${kind} ${id}`))).toEqual(
      new Set(['limit engine/same', 'limit pool/same', 'limit pipeline/same', 'pipeline same', 'run same']),
    );
  });

  it('leaves out what has no business there', async () => {
    const table = await openTable(server);
    const strange: Item = { pk: 'memo#x', sk: 'memo', ds: DUE_SHARD_NAMES[0], da: CREATED };
    await table.put(strange);
    expect(await dueThings(createDynamoDueIndex(table), CREATED)).toEqual([]);
  });
});

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
