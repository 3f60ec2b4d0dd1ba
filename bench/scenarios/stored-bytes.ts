/** What a table stores, by the size rules of DynamoDB. */
import { DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb';
import { itemBytes, type WireItem } from '#local/item-size.ts';

/** What DynamoDB adds to each item, and to each row of an index, for what it stores. */
const OVERHEAD_BYTES = 100;
/** Attributes of the indexes' keys; an item is in an index where it has both. */
const DUE_INDEX = ['ds', 'da'] as const;
const RUNS_INDEX = ['rp', 'rs'] as const;
const TABLE_KEY = ['pk', 'sk'] as const;

/** What is stored. */
export interface Stored {
  readonly items: number;
  /** Those of the indexes included. */
  readonly bytes: number;
}

/** Reads a whole table of the development host. */
export async function storedIn(wireUrl: string, tableName: string): Promise<Stored> {
  const client = new DynamoDBClient({
    endpoint: wireUrl,
    region: 'us-east-1',
    credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
  });
  let [items, bytes] = [0, 0];
  for await (const page of paginateScan({ client }, { TableName: tableName })) {
    for (const item of page.Items ?? []) {
      items += 1;
      bytes += bytesOf(toBase64(item));
    }
  }
  client.destroy();
  return { items, bytes };
}

function bytesOf(item: WireItem): number {
  const own = itemBytes(item) + OVERHEAD_BYTES;
  const due = isIn(item, DUE_INDEX) ? itemBytes(only(item, [...TABLE_KEY, ...DUE_INDEX])) + OVERHEAD_BYTES : 0;
  const runs = isIn(item, RUNS_INDEX) ? own : 0;
  return own + due + runs;
}

function isIn(item: WireItem, index: readonly string[]): boolean {
  return index.every((name) => item[name] !== undefined);
}

function only(item: WireItem, names: readonly string[]): WireItem {
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name)));
}

/** The client reads binary into bytes; sizes are told of what goes over the wire. */
function toBase64(item: Readonly<Record<string, object>>): WireItem {
  return Object.fromEntries(
    Object.entries(item).map(([name, value]): [string, WireItem[string]] => {
      if ('B' in value) return [name, { B: Buffer.from(value.B as Uint8Array).toString('base64') }];
      return [name, { ...value }];
    }),
  );
}
