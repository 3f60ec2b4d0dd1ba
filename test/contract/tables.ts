/** The two backends of DynamoDB's wire protocol that the stores are tried on, both on loopback. */
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTableCommand,
  DynamoDBClient,
} from '@aws-sdk/client-dynamodb';
import dynalite from 'dynalite';
import { openTables } from '#local/tables.ts';
import { createWireLog, type WireLog } from '#local/wire-log.ts';
import { listen } from '../integration/wire-listener.ts';

/** A server of tables. */
export interface TableServer {
  readonly client: DynamoDBClient;
  /** Makes an empty table and gives its name. */
  createTable(): Promise<string>;
  close(): Promise<void>;
}

/** Keys and indexes of the table, as the stack makes it. */
export const TABLE = {
  KeySchema: [
    { AttributeName: 'pk', KeyType: 'HASH' },
    { AttributeName: 'sk', KeyType: 'RANGE' },
  ],
  AttributeDefinitions: [
    { AttributeName: 'pk', AttributeType: 'S' },
    { AttributeName: 'sk', AttributeType: 'S' },
    { AttributeName: 'ds', AttributeType: 'S' },
    { AttributeName: 'da', AttributeType: 'N' },
    { AttributeName: 'rp', AttributeType: 'S' },
    { AttributeName: 'rs', AttributeType: 'S' },
  ],
  GlobalSecondaryIndexes: [
    {
      IndexName: 'due',
      KeySchema: [
        { AttributeName: 'ds', KeyType: 'HASH' },
        { AttributeName: 'da', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'KEYS_ONLY' },
    },
    {
      IndexName: 'runs',
      KeySchema: [
        { AttributeName: 'rp', KeyType: 'HASH' },
        { AttributeName: 'rs', KeyType: 'RANGE' },
      ],
      Projection: { ProjectionType: 'ALL' },
    },
  ],
} as const satisfies Partial<CreateTableCommandInput>;

/** dynalite as it is, in memory: no old item on a failed condition. */
export async function startDynalite(): Promise<TableServer> {
  const server = dynalite({ createTableMs: 0, deleteTableMs: 0, updateTableMs: 0 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = new DynamoDBClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  let tables = 0;
  return {
    client,
    async createTable() {
      tables += 1;
      const TableName = `table-${tables}`;
      await client.send(new CreateTableCommand({ ...TABLE, TableName, BillingMode: 'PAY_PER_REQUEST' } as never));
      await untilActive(client, TableName);
      return TableName;
    },
    close() {
      client.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

async function untilActive(client: DynamoDBClient, TableName: string): Promise<void> {
  let status: string | undefined;
  while (status !== 'ACTIVE') {
    const answer = await client.send(new DescribeTableCommand({ TableName }));
    status = answer.Table?.TableStatus;
  }
}

/** The development host's tables: the old item on a failed condition, and every unit counted. */
export async function startHostTables(): Promise<TableServer & { readonly wireLog: WireLog }> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-tables-'));
  const wireLog = createWireLog();
  const tables = await openTables({ folder, wireLog });
  const listener = await listen({ DynamoDB_20120810: tables.handle });
  const client = new DynamoDBClient(listener.clientConfig);
  let made = 0;
  return {
    client,
    wireLog,
    async createTable() {
      made += 1;
      await tables.create(`table-${made}`, TABLE);
      return `table-${made}`;
    },
    async close() {
      client.destroy();
      await listener.close();
      await tables.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** The servers of tables that every machine with Node can start, by name. */
export const TABLE_SERVERS: readonly (readonly [string, () => Promise<TableServer>])[] = [
  ['dynalite', startDynalite],
  ['the development host', startHostTables],
];
