import { CreateTableCommand, DynamoDBClient, waitUntilTableExists } from '@aws-sdk/client-dynamodb';
import { TABLE, type TableServer } from '../../contract/tables.ts';

/** Tables of an emulator, made by calls as the stack has them; ending it is not theirs. */
export function openEmulatedTables(): TableServer {
  const client = new DynamoDBClient({});
  let tables = 0;
  return {
    client,
    async createTable() {
      tables += 1;
      const TableName = `table-${process.pid}-${tables}`;
      await client.send(new CreateTableCommand({ ...TABLE, TableName, BillingMode: 'PAY_PER_REQUEST' } as never));
      await waitUntilTableExists({ client, maxWaitTime: 30, minDelay: 1 }, { TableName });
      return TableName;
    },
    async close() {
      client.destroy();
    },
  };
}
