import { createDynamoMemo } from '#adapters/aws/dynamo-memo.ts';
import { createTable } from '#adapters/aws/table.ts';
import { createMemoryMemo } from '#adapters/memory/memory-memo.ts';
import { describeMemo } from './memo.contract.ts';
import { TABLE_SERVERS } from './tables.ts';

describeMemo('memory', async () => ({ memo: createMemoryMemo(), close: async () => {} }));

for (const [backend, start] of TABLE_SERVERS) {
  describeMemo(backend, async () => {
    const server = await start();
    const memo = createDynamoMemo(createTable(server.client, await server.createTable()));
    return { memo, close: () => server.close() };
  });
}
