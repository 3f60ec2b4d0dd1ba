import db, { type AttributeMap, type Table } from 'dynalite/db/index.js';
import { itemBytes, type WireItem } from '#local/item-size.ts';

/** A global secondary index of a table. */
export type TableIndex = NonNullable<Table['GlobalSecondaryIndexes']>[number];

/** What a write of an item changes in one index. */
export type IndexChange = {
  readonly index: TableIndex;
  /** The row to delete, because the item left the index or moved in it. */
  readonly deleted?: string;
  /** The row to put, because the item entered the index, moved in it or has other projected attributes. */
  readonly put?: { readonly key: string; readonly row: AttributeMap };
  /** What DynamoDB bills for it. */
  readonly writeUnits: number;
};

/** What replacing `before` by `after` (either may be missing) changes in the indexes of its table. */
export function indexChanges(
  table: Table,
  before: AttributeMap | undefined,
  after: AttributeMap | undefined,
): IndexChange[] {
  return (table.GlobalSecondaryIndexes ?? []).flatMap((index) => {
    const change = indexChange(table, index, before, after);
    return change === undefined ? [] : [change];
  });
}

/**
 * The key of an index row: the index's own key, then the item's. dynalite's row key ends in 24 bits of a hash of the
 * item's key, so that two items with the same index key may share a row there; here they never do.
 */
export function indexRowKey(table: Table, index: TableIndex, item: AttributeMap): string {
  return `${db.createIndexKey(item, table, index.KeySchema)}/${db.createKey(item, table)}`;
}

function indexChange(
  table: Table,
  index: TableIndex,
  before: AttributeMap | undefined,
  after: AttributeMap | undefined,
): IndexChange | undefined {
  const old = before !== undefined && isIn(index, before) ? projected(table, index, before) : undefined;
  const row = after !== undefined && isIn(index, after) ? projected(table, index, after) : undefined;
  if (old === undefined && row === undefined) return undefined;
  const oldKey = old && indexRowKey(table, index, old);
  const key = row && indexRowKey(table, index, row);
  if (row === undefined || key === undefined) return { index, deleted: oldKey as string, writeUnits: units(old) };
  if (old === undefined || oldKey === undefined) return { index, put: { key, row }, writeUnits: units(row) };
  if (oldKey !== key) return { index, deleted: oldKey, put: { key, row }, writeUnits: units(old) + units(row) };
  if (sameAttributes(old, row)) return undefined;
  return { index, put: { key, row }, writeUnits: Math.max(units(old), units(row)) };
}

function isIn(index: TableIndex, item: AttributeMap): boolean {
  return index.KeySchema.every(({ AttributeName }) => item[AttributeName] !== undefined);
}

function projected(table: Table, index: TableIndex, item: AttributeMap): AttributeMap {
  if (index.Projection.ProjectionType === 'ALL') return item;
  const row: AttributeMap = {};
  const keys = [...index.KeySchema, ...table.KeySchema].map(({ AttributeName }) => AttributeName);
  for (const name of [...keys, ...(index.Projection.NonKeyAttributes ?? [])]) {
    const value = item[name];
    if (value !== undefined) row[name] = value;
  }
  return row;
}

function sameAttributes(one: WireItem, other: WireItem): boolean {
  const names = Object.keys(one);
  if (names.length !== Object.keys(other).length) return false;
  return names.every((name) => JSON.stringify(one[name]) === JSON.stringify(other[name]));
}

function units(row: WireItem | undefined): number {
  return row === undefined ? 0 : Math.max(1, Math.ceil(itemBytes(row) / 1024));
}
