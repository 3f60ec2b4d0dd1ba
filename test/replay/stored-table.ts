/** The table that fixtures lie in: dynalite, in memory, and everything that reads and writes it. */
import { type AttributeValue, type DynamoDBClient, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { createDynamoDueIndex } from '#adapters/aws/dynamo-due.ts';
import { createDynamoLimitStore } from '#adapters/aws/dynamo-limit-store.ts';
import { createDynamoLiveStore } from '#adapters/aws/dynamo-live-store.ts';
import { createDynamoMemo } from '#adapters/aws/dynamo-memo.ts';
import { createDynamoPipelineStore } from '#adapters/aws/dynamo-pipeline-store.ts';
import { createDynamoReports } from '#adapters/aws/dynamo-reports.ts';
import { createDynamoRunStore } from '#adapters/aws/dynamo-run-store.ts';
import { createDynamoStartCounts } from '#adapters/aws/dynamo-start-counts.ts';
import { createTable } from '#adapters/aws/table.ts';
import { dueThings } from '../contract/due-index.contract.ts';
import type { TableServer } from '../contract/tables.ts';
import { SAVED_AT, type SavedCall, type SavedItem } from './fixture.ts';

/** The items of a table as they are saved. */
interface TableItems {
  /** Puts items as they were saved. */
  load(items: readonly SavedItem[]): Promise<void>;
  /** All items, by key. */
  items(): Promise<SavedItem[]>;
}

/** An empty table, and what is done to it. */
export interface StoredTable extends TableItems {
  /** Makes a call on the ports over the table, and gives what it gave. */
  call(call: Pick<SavedCall, 'port' | 'call' | 'with'>): Promise<unknown>;
}

/** Opens the ports over an empty table; their clock stands still at {@link SAVED_AT}. */
export async function openStoredTable(server: TableServer): Promise<StoredTable> {
  const TableName = await server.createTable();
  const table = createTable(server.client, TableName);
  const clock = { now: () => SAVED_AT };
  const due = createDynamoDueIndex(table);
  const ports = {
    runs: createDynamoRunStore(table, clock),
    limits: createDynamoLimitStore(table),
    pipelines: createDynamoPipelineStore(table),
    memo: createDynamoMemo(table),
    reports: createDynamoReports(table, clock),
    startCounts: createDynamoStartCounts(table),
    live: createDynamoLiveStore(table),
    due: { due: (now: number) => dueThings(due, now) },
  };
  return {
    ...openItems(server.client, TableName),
    async call({ port, call, with: given }) {
      const methods = ports[port] as unknown as Record<string, (...given: readonly unknown[]) => Promise<unknown>>;
      return methods[call]?.(...given);
    },
  };
}

/** Opens the items of a table. */
export function openItems(client: DynamoDBClient, TableName: string): TableItems {
  return {
    async load(items) {
      for (const item of items) await client.send(new PutItemCommand({ TableName, Item: fromSaved(item) }));
    },
    async items() {
      const { Items = [] } = await client.send(new ScanCommand({ TableName, ConsistentRead: true }));
      return Items.map(toSaved).sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
    },
  };
}

/** The key of an item, for messages and order. */
export function keyOf({ pk, sk }: SavedItem): string {
  return `${pk?.S} ${sk?.S}`;
}

/** JSON has no bytes: they are in base64, as on DynamoDB's wire. */
function toSaved(item: Record<string, AttributeValue>): SavedItem {
  const attributes = Object.entries(item).map(([name, value]) => [
    name,
    value.B ? { B: Buffer.from(value.B).toString('base64') } : value,
  ]);
  return Object.fromEntries(attributes.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)));
}

function fromSaved(item: SavedItem): Record<string, AttributeValue> {
  const attributes = Object.entries(item).map(([name, value]) => [
    name,
    typeof value.B === 'string' ? { B: Buffer.from(value.B, 'base64') } : value,
  ]);
  return Object.fromEntries(attributes);
}
