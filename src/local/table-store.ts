import { Readable } from 'node:stream';
import type { AttributeMap, Callback, Store, SubDatabase, Table } from 'dynalite/db/index.js';
import type { GroupedWrites } from '#local/grouped-writes.ts';
import { itemBytes } from '#local/item-size.ts';
import { readUnits, writeUnits } from '#local/table-capacity.ts';
import { type IndexChange, indexChanges, indexRowKey, type TableIndex } from '#local/table-indexes.ts';
import { WireError } from '#local/wire-answer.ts';

/**
 * What one request does to dynalite's store, so that an item and its index rows are written together or not at all,
 * and so that what it read and wrote can be billed.
 *
 * dynalite's actions write index rows one by one, then the item; this store ignores the former and writes all of it in
 * one LevelDB batch when the item comes. An action's read and write of an item happen under dynalite's lock of its key.
 */
export type RequestStore = {
  /** To be handed to a dynalite action. */
  readonly store: Store;
  /** The item as it was when the request read it, if it read one. */
  lastItemRead(): AttributeMap | undefined;
  /** Write units so far. */
  unitsWritten(): number;
  /** Read units of GetItem and BatchGetItem. */
  unitsGot(isConsistent: (table: string) => boolean): number;
  /** Bytes of the first `count` rows that Query or Scan went through. */
  bytesWalked(count: number): number;
};

/** The key space of a table's items in dynalite's LevelDB. */
export function itemPrefix(table: string): string {
  return `item-${table}~`;
}

/** The key space of an index's rows. */
export function indexPrefix(table: string, index: string): string {
  return `index-global~${table}~${index}~`;
}

/** The part of a LevelDB batch that changes the index rows of a table. */
export function indexOperations(table: string, changes: readonly IndexChange[]) {
  return changes.flatMap(({ index, deleted, put }) => {
    const prefix = indexPrefix(table, index.IndexName);
    return [
      ...(deleted === undefined ? [] : [{ type: 'del' as const, key: prefix + deleted }]),
      ...(put === undefined ? [] : [{ type: 'put' as const, key: prefix + put.key, value: put.row }]),
    ];
  });
}

/** One operation on dynalite's LevelDB. */
export type TableOperation =
  | { readonly type: 'put'; readonly key: string; readonly value: AttributeMap }
  | { readonly type: 'del'; readonly key: string };

/**
 * Wraps dynalite's store for one request.
 * @param startKey the request's `ExclusiveStartKey`
 */
export function requestStore(
  base: Store,
  writes: GroupedWrites<TableOperation>,
  tables: ReadonlyMap<string, Table>,
  startKey: AttributeMap | undefined,
): RequestStore {
  const reads: { table: string; item: AttributeMap | undefined }[] = [];
  const walked: number[] = [];
  let written = 0;
  let lastItemRead: AttributeMap | undefined;

  function itemDatabase(name: string): SubDatabase {
    const table = tables.get(name) as Table;
    const prefix = itemPrefix(name);
    const before = new Map<string, AttributeMap | undefined>();
    const write = (key: string, after: AttributeMap | undefined, callback: Callback<void>) => {
      const old = before.get(key);
      const changes = indexChanges(table, old, after);
      written += writeUnits(old, after) + changes.reduce((sum, change) => sum + change.writeUnits, 0);
      const own =
        after === undefined
          ? { type: 'del' as const, key: prefix + key }
          : { type: 'put' as const, key: prefix + key, value: after };
      writes.write([...indexOperations(name, changes), own]).then(() => callback(null), callback);
    };
    return {
      lock: base.getItemDb(name).lock,
      get(key, callback) {
        const item = base.db.getSync(prefix + key) as AttributeMap | undefined;
        reads.push({ table: name, item });
        before.set(key, item);
        lastItemRead = item;
        callback(null, item);
      },
      put: write,
      del: (key, callback) => write(key, undefined, callback),
      createValueStream: (options) => rows(base, prefix, options as Bounds, walked),
    };
  }

  function indexDatabase(_type: string, name: string, indexName: string): SubDatabase {
    const table = tables.get(name) as Table;
    const index = table.GlobalSecondaryIndexes?.find((each) => each.IndexName === indexName) as TableIndex;
    return {
      lock: undefined,
      get: (_key, callback) => callback(null),
      put: (_key, _row, callback) => callback(null),
      del: (_key, callback) => callback(null),
      createValueStream(options) {
        const start = startKey && indexRowKey(table, index, startKey);
        return rows(base, indexPrefix(name, indexName), startingAt(options as Bounds, start), walked);
      },
    };
  }

  const own = { getTable: tableGetter(tables), getItemDb: itemDatabase, getIndexDb: indexDatabase };
  return {
    store: Object.assign(Object.create(base) as Store, own),
    lastItemRead: () => lastItemRead,
    unitsWritten: () => written,
    unitsGot: (isConsistent) =>
      reads.reduce((sum, { table, item }) => sum + readUnits(item ? itemBytes(item) : 0, isConsistent(table)), 0),
    bytesWalked: (count) => walked.slice(0, count).reduce((sum, bytes) => sum + bytes, 0),
  };
}

type Bounds = { gt?: string; gte?: string; lt?: string; lte?: string; reverse?: boolean; limit?: number };

/** dynalite's own start of a page does not know the longer row keys used here. */
function startingAt(bounds: Bounds, start: string | undefined): Bounds {
  if (start === undefined) return bounds;
  const { gt, gte, lt, lte, ...rest } = bounds;
  if (!bounds.reverse)
    return { ...rest, gt: start, ...(lt === undefined ? {} : { lt }), ...(lte === undefined ? {} : { lte }) };
  return { ...rest, lt: start, ...(gt === undefined ? {} : { gt }), ...(gte === undefined ? {} : { gte }) };
}

function rows(base: Store, prefix: string, bounds: Bounds, walked: number[]): Readable {
  const low = bounds.gt === undefined ? { gte: prefix + (bounds.gte ?? '') } : { gt: prefix + bounds.gt };
  const high = bounds.lte === undefined ? { lt: prefix + (bounds.lt ?? '~') } : { lte: prefix + bounds.lte };
  const values = base.db.values({ ...low, ...high, reverse: bounds.reverse ?? false, limit: bounds.limit ?? -1 });
  return Readable.from(measured(values as AsyncIterable<AttributeMap>, walked));
}

async function* measured(values: AsyncIterable<AttributeMap>, walked: number[]) {
  for await (const item of values) {
    walked.push(itemBytes(item));
    yield item;
  }
}

function tableGetter(tables: ReadonlyMap<string, Table>): Store['getTable'] {
  return (name, checkStatus, callback) => {
    const done = typeof checkStatus === 'function' ? checkStatus : (callback as Callback<Table>);
    const table = tables.get(name);
    if (table === undefined) done(new WireError('ResourceNotFoundException', 'Requested resource not found'));
    else done(null, table);
  };
}
