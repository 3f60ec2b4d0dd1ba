import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDynamoMemo } from '#adapters/aws/dynamo-memo.ts';
import { createTable } from '#adapters/aws/table.ts';
import { memoKey } from '#adapters/aws/table-keys.ts';
import { createMemoryMemo } from '#adapters/memory/memory-memo.ts';
import { describeMemo } from './memo.contract.ts';
import { CREATED } from './sample-run.ts';
import { startDynalite, TABLE_SERVERS, type TableServer } from './tables.ts';

describeMemo('memory', async () => ({ memo: createMemoryMemo(), close: async () => {} }));

for (const [backend, start] of TABLE_SERVERS) {
  describeMemo(backend, async () => {
    const server = await start();
    const memo = createDynamoMemo(createTable(server.client, await server.createTable()));
    return { memo, close: () => server.close() };
  });
}

describe('C98 an entry of the memo that is damaged', () => {
  let server: TableServer;
  beforeAll(async () => {
    server = await startDynalite();
  });
  afterAll(() => server.close());

  it.each<[string, object]>([
    ['no time', { t: '1' }],
    ['no text', { until: CREATED + 1 }],
    ['a text that is not compressed', { until: CREATED + 1, z: Buffer.from('nothing') }],
    ['a text that lacks its chunks', { until: CREATED + 1, n: 1, h: 'digest' }],
  ])('%s: the memo knows nothing, and keeps what comes next', async (_what, attributes) => {
    const table = createTable(server.client, await server.createTable());
    const memo = createDynamoMemo(table);
    await table.put({ ...memoKey('k'), ...attributes });
    expect(await memo.read('k', CREATED)).toBeUndefined();
    await memo.write('k', '2', CREATED + 1);
    expect(await memo.read('k', CREATED)).toBe('2');
  });
});
