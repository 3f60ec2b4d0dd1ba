import { afterAll, beforeAll } from 'vitest';
import { createDynamoPipelineStore } from '#adapters/aws/dynamo-pipeline-store.ts';
import { createTable } from '#adapters/aws/table.ts';
import { createMemoryPipelineStore } from '#adapters/memory/memory-pipeline-store.ts';
import { describePipelineStore } from './pipeline-store.contract.ts';
import { startDynalite, type TableServer } from './tables.ts';

let server: TableServer;

beforeAll(async () => {
  server = await startDynalite();
});

afterAll(() => server.close());

describePipelineStore('memory', async () => createMemoryPipelineStore());
describePipelineStore('dynalite', async () =>
  createDynamoPipelineStore(createTable(server.client, await server.createTable())),
);
