import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { createDynamoPipelineStore } from '#adapters/aws/dynamo-pipeline-store.ts';
import { createTable } from '#adapters/aws/table.ts';
import { HEADS_PARTITION } from '#adapters/aws/table-keys.ts';
import type { PipelineStoreHarness } from './pipeline-store.contract.ts';
import type { TableServer } from './tables.ts';

/** Opens a DynamoDB store of pipelines on an empty table. */
export async function openDynamoPipelineStore(server: TableServer): Promise<PipelineStoreHarness> {
  const TableName = await server.createTable();
  const change = async (name: string, expression: string, values: Record<string, unknown>) => {
    await server.client.send(
      new UpdateCommand({
        TableName,
        Key: { pk: HEADS_PARTITION, sk: name },
        UpdateExpression: expression,
        ExpressionAttributeValues: values,
      }),
    );
  };
  return {
    store: createDynamoPipelineStore(createTable(server.client, TableName)),
    damage: (name) => change(name, 'SET b = :body', { ':body': Buffer.from('no deflated text') }),
    makeNewer: (name) =>
      change(name, 'SET c = :schema, b = :body', { ':schema': 2, ':body': 'a layout of the future' }),
  };
}
