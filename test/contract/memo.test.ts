import { describe, expect, it } from 'vitest';
import { createDynamoMemo } from '#adapters/aws/dynamo-memo.ts';
import { createTable } from '#adapters/aws/table.ts';
import { createMemoryMemo } from '#adapters/memory/memory-memo.ts';
import type { Memo } from '#ports/index.ts';
import { startDynalite } from './tables.ts';

const NOW = 1_800_000_000_000;

function contract(open: () => Promise<{ memo: Memo; close: () => Promise<void> }>) {
  it('gives an output until its time is over', async () => {
    const { memo, close } = await open();
    await memo.write('k', '{"a":1}', NOW + 1_000);
    expect(await memo.read('k', NOW)).toBe('{"a":1}');
    expect(await memo.read('k', NOW + 1_000)).toBeUndefined();
    expect(await memo.read('other', NOW)).toBeUndefined();
    await close();
  });

  it('keeps the newest of two outputs, large ones too', async () => {
    const { memo, close } = await open();
    const large = JSON.stringify('😊'.repeat(100_000));
    await memo.write('k', '1', NOW + 1_000);
    await memo.write('k', large, NOW + 5_000);
    expect(await memo.read('k', NOW + 2_000)).toBe(large);
    await close();
  });
}

describe('the memo in memory', () => contract(async () => ({ memo: createMemoryMemo(), close: async () => {} })));

describe('the memo on dynalite', () => {
  contract(async () => {
    const server = await startDynalite();
    const table = createTable(server.client, await server.createTable());
    return { memo: createDynamoMemo(table), close: () => server.close() };
  });
});
