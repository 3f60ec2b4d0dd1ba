import { createDynamoLiveStore } from '#adapters/aws/dynamo-live-store.ts';
import { createTable } from '#adapters/aws/table.ts';
import { createMemoryLiveStore } from '#adapters/memory/memory-live-store.ts';
import { describeLiveStore } from './live-store.contract.ts';
import { TABLE_SERVERS } from './tables.ts';

describeLiveStore('memory', async () => ({ store: createMemoryLiveStore(), close: async () => {} }));

for (const [backend, start] of TABLE_SERVERS) {
  describeLiveStore(backend, async () => {
    const server = await start();
    const store = createDynamoLiveStore(createTable(server.client, await server.createTable()));
    return { store, close: () => server.close() };
  });
}
