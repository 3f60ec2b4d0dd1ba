import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { createDynamoDueIndex } from '#adapters/aws/dynamo-due.ts';
import { createDynamoLimitStore } from '#adapters/aws/dynamo-limit-store.ts';
import { createTable, type Table } from '#adapters/aws/table.ts';
import { limitKey } from '#adapters/aws/table-keys.ts';
import type { LimitStoreHarness } from './limit-store.contract.ts';
import type { TableServer } from './tables.ts';

/** Opens a DynamoDB store of limits on an empty table. */
export async function openDynamoLimitStore(
  server: TableServer,
): Promise<LimitStoreHarness & { readonly table: Table }> {
  const TableName = await server.createTable();
  const change = async (name: string, expression: string, values: Record<string, unknown>) => {
    await server.client.send(
      new UpdateCommand({
        TableName,
        Key: { ...limitKey(name) },
        UpdateExpression: expression,
        ExpressionAttributeValues: values,
      }),
    );
  };
  const table = createTable(server.client, TableName);
  return {
    store: createDynamoLimitStore(table),
    due: createDynamoDueIndex(table),
    table,
    damage: (name) => change(name, 'SET b = :body', { ':body': Buffer.from('no deflated text') }),
    makeNewer: (name) =>
      change(name, 'SET c = :schema, b = :body', { ':schema': 2, ':body': 'a layout of the future' }),
  };
}
