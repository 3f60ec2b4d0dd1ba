import { createDynamoDueIndex } from '#adapters/aws/dynamo-due.ts';
import { createDynamoLimitStore } from '#adapters/aws/dynamo-limit-store.ts';
import { createDynamoPipelineStore } from '#adapters/aws/dynamo-pipeline-store.ts';
import { createDynamoRunStore } from '#adapters/aws/dynamo-run-store.ts';
import { createTable, type Table } from '#adapters/aws/table.ts';
import type { DueIndexHarness } from './due-index.contract.ts';
import { CREATED } from './sample-run.ts';
import type { TableServer } from './tables.ts';

/** Opens the three stores and their index on an empty table. */
export async function openDynamoDueIndex(server: TableServer): Promise<DueIndexHarness & { readonly table: Table }> {
  const table = createTable(server.client, await server.createTable());
  return {
    table,
    runs: createDynamoRunStore(table, { now: () => CREATED }),
    limits: createDynamoLimitStore(table),
    pipelines: createDynamoPipelineStore(table),
    due: createDynamoDueIndex(table),
  };
}
