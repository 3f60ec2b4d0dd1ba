import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { createDynamoDueIndex } from '#adapters/aws/dynamo-due.ts';
import { createDynamoRunStore } from '#adapters/aws/dynamo-run-store.ts';
import { createTable } from '#adapters/aws/table.ts';
import { aggregateKey } from '#adapters/aws/table-keys.ts';
import type { Clock } from '#ports/index.ts';
import type { RunStoreHarness } from './run-store.contract.ts';
import { CREATED } from './sample-run.ts';
import type { TableServer } from './tables.ts';

/** Opens a DynamoDB run store on an empty table. */
export async function openDynamoRunStore(
  server: TableServer,
  clock: Clock = { now: () => CREATED },
): Promise<RunStoreHarness> {
  const TableName = await server.createTable();
  const change = async (id: string, expression: string, values: Record<string, unknown>) => {
    await server.client.send(
      new UpdateCommand({
        TableName,
        Key: { ...aggregateKey(id) },
        UpdateExpression: expression,
        ExpressionAttributeValues: values,
      }),
    );
  };
  const table = createTable(server.client, TableName);
  return {
    store: createDynamoRunStore(table, clock),
    due: createDynamoDueIndex(table),
    damage: (id) => change(id, 'SET b = :body', { ':body': Buffer.from('no deflated text') }),
    makeNewer: (id) => change(id, 'SET c = :schema, b = :body', { ':schema': 2, ':body': 'a layout of the future' }),
  };
}
