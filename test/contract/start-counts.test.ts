import { createDynamoStartCounts } from '#adapters/aws/dynamo-start-counts.ts';
import { createTable } from '#adapters/aws/table.ts';
import { createMemoryStartCounts } from '#adapters/memory/memory-start-counts.ts';
import { describeStartCounts } from './start-counts.contract.ts';
import { TABLE_SERVERS } from './tables.ts';

describeStartCounts('memory', async () => ({ counts: createMemoryStartCounts(), close: async () => {} }));

for (const [backend, start] of TABLE_SERVERS) {
  describeStartCounts(backend, async () => {
    const server = await start();
    const counts = createDynamoStartCounts(createTable(server.client, await server.createTable()));
    return { counts, close: () => server.close() };
  });
}
