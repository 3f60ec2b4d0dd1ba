import path from 'node:path';
import db, { type AttributeMap, type Store, type Table } from 'dynalite/db/index.js';
import { z } from 'zod';
import { openLevel } from '#local/disk.ts';
import { GroupedWrites } from '#local/grouped-writes.ts';
import { TABLE_ACTIONS, type TableAction, type TableRequest } from '#local/table-actions.ts';
import { readUnits, writeUnits } from '#local/table-capacity.ts';
import { hasSameIndexes, hasSameKey, TableError, tableOf } from '#local/table-definition.ts';
import { indexChanges } from '#local/table-indexes.ts';
import {
  indexOperations,
  indexPrefix,
  itemPrefix,
  type RequestStore,
  requestStore,
  type TableOperation,
} from '#local/table-store.ts';
import { type WireAnswer, WireError, wireAnswer, wireFailure } from '#local/wire-answer.ts';
import type { WireLog } from '#local/wire-log.ts';
import type { WriteGuard } from '#local/write-guard.ts';

/** DynamoDB tables on disk. An item and its index rows are written together, so a crash leaves no stray rows. */
export type TableService = {
  /**
   * Hosts an `AWS::DynamoDB::Table` or `::GlobalTable` with its resolved properties. One that is there already keeps
   * its items; if its indexes are other ones now, they are built anew.
   * @throws {TableError} `TABLE_CHANGED` if it is there with another key, `UNSUPPORTED_TABLE` naming the property
   */
  create(tableName: string, properties: unknown): Promise<void>;
  /**
   * One request of the wire protocol; `target` is the header, `DynamoDB_20120810.PutItem`.
   * `ReturnValuesOnConditionCheckFailure` is honoured, which dynalite does not do.
   */
  handle(target: string, body: Buffer): Promise<WireAnswer>;
  close(): Promise<void>;
};

/** What tables need. */
export type TablesOptions = {
  /** `<data>/dynamodb` */
  readonly folder: string;
  readonly wireLog: WireLog;
  /** Stands before every write of items. @default none */
  readonly guard?: Pick<WriteGuard, 'write'>;
};

/**
 * Opens the tables kept in a folder.
 * @throws {DiskError} `DATA_IN_USE`, `DATA_DAMAGED`, `DATA_NOT_WRITABLE`
 */
export async function openTables({ folder, wireLog, guard }: TablesOptions): Promise<TableService> {
  const make = () => db.create({ path: folder });
  const store = await openLevel(path.dirname(folder), folder, make, (made) => made.db);
  const batch = (operations: TableOperation[]) => store.db.batch(operations);
  const writes = new GroupedWrites<TableOperation>((operations) =>
    guard === undefined ? batch(operations) : guard.write(() => batch(operations)),
  );
  const tables = new Map<string, Table>();

  return {
    async create(tableName, properties) {
      const table = tableOf(tableName, properties);
      const known = (await store.db.get(definitionKey(tableName))) as Table | undefined;
      if (known !== undefined && !hasSameKey(known, table)) {
        throw new TableError(
          'TABLE_CHANGED',
          `Table ${tableName} has another key in the data folder ${folder} than in the template. Use another data folder.`,
        );
      }
      if (known !== undefined && !hasSameIndexes(known, table)) await rebuildIndexes(store, known, table);
      await store.db.put(definitionKey(tableName), table);
      tables.set(tableName, table);
    },
    async handle(target, body) {
      const api = target.slice(target.indexOf('.') + 1);
      const action = TABLE_ACTIONS.get(api);
      try {
        if (action === undefined) throw new WireError('UnknownOperationException', `${api} is not hosted`);
        wireLog.call('dynamodb', api);
        return wireAnswer('1.0', await perform({ api, action, store, writes, tables, wireLog }, body));
      } catch (error) {
        return failure(error);
      }
    },
    async close() {
      await writes.settled();
      await store.db.close();
    },
  };
}

function definitionKey(tableName: string): string {
  return `table~${tableName}`;
}

const REBUILD_BATCH = 500;

async function rebuildIndexes(store: Store, known: Table, table: Table): Promise<void> {
  for (const { IndexName } of known.GlobalSecondaryIndexes ?? []) {
    const prefix = indexPrefix(known.TableName, IndexName);
    await store.db.clear({ gte: prefix, lt: `${prefix}~` });
  }
  const prefix = itemPrefix(table.TableName);
  const items = store.db.values({ gte: prefix, lt: `${prefix}~` });
  for (let chunk = await items.nextv(REBUILD_BATCH); chunk.length > 0; chunk = await items.nextv(REBUILD_BATCH)) {
    const changes = chunk.flatMap((item) => indexChanges(table, undefined, item as AttributeMap));
    await store.db.batch(indexOperations(table.TableName, changes));
  }
  await items.close();
}

type Call = {
  readonly api: string;
  readonly action: TableAction;
  readonly store: Store;
  readonly writes: GroupedWrites<TableOperation>;
  readonly tables: ReadonlyMap<string, Table>;
  readonly wireLog: WireLog;
};

/** The fields that the accounting reads; dynalite checks the request itself. */
const requestSchema = z.looseObject({
  ReturnValuesOnConditionCheckFailure: z.enum(['ALL_OLD', 'NONE']).optional().catch(undefined),
});

async function perform(call: Call, body: Buffer): Promise<object> {
  const parsed = requestSchema.safeParse(jsonOf(body));
  if (!parsed.success) throw new WireError('SerializationException', 'The request is no JSON object');
  const wantsOldItem = parsed.data.ReturnValuesOnConditionCheckFailure === 'ALL_OLD';
  const request = call.action.check(parsed.data, call.store);
  const own = requestStore(call.store, call.writes, call.tables, request.ExclusiveStartKey);
  try {
    const result = await call.action.run(own.store, request);
    count(call, own, request, result);
    return result;
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    call.wireLog.count('writeUnits', writeUnits(own.lastItemRead(), request.Item));
    const item = own.lastItemRead();
    if (wantsOldItem && item !== undefined) error.body.Item = item;
    throw error;
  }
}

function count(call: Call, own: RequestStore, request: TableRequest, result: object): void {
  const isConsistent = request.ConsistentRead === true;
  switch (call.api) {
    case 'Query':
    case 'Scan': {
      const walked = 'ScannedCount' in result ? Number(result.ScannedCount) : 0;
      call.wireLog.count('readUnits', readUnits(own.bytesWalked(walked), isConsistent));
      return;
    }
    case 'GetItem':
      call.wireLog.count(
        'readUnits',
        own.unitsGot(() => isConsistent),
      );
      return;
    case 'BatchGetItem': {
      const perTable = new Map(Object.entries(request.RequestItems ?? {}));
      call.wireLog.count(
        'readUnits',
        own.unitsGot((table) => perTable.get(table)?.ConsistentRead === true),
      );
      return;
    }
    default:
      call.wireLog.count('writeUnits', own.unitsWritten());
  }
}

type DynaliteError = { statusCode: number; body: { __type: string; Item?: AttributeMap } };

function isDynaliteError(error: unknown): error is DynaliteError {
  return error instanceof Error && 'statusCode' in error && 'body' in error;
}

function isConditionFailure(error: unknown): error is DynaliteError {
  return isDynaliteError(error) && error.body.__type.endsWith('#ConditionalCheckFailedException');
}

function failure(error: unknown): WireAnswer {
  if (isDynaliteError(error)) return wireAnswer('1.0', error.body, error.statusCode);
  return wireFailure('1.0', error);
}

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
