import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDynamoPipelineStore } from '#adapters/aws/dynamo-pipeline-store.ts';
import { createTable } from '#adapters/aws/table.ts';
import { definitionSortKey, pipelinePartition } from '#adapters/aws/table-keys.ts';
import { createMemoryPipelineStore } from '#adapters/memory/memory-pipeline-store.ts';
import { DamagedPipelineError, type PackedHead } from '#domain/pipeline-head-codec.ts';
import { openDynamoPipelineStore } from './dynamo-pipeline-store.harness.ts';
import { describePipelineStore } from './pipeline-store.contract.ts';
import { startDynalite, TABLE_SERVERS, type TableServer } from './tables.ts';

describePipelineStore('memory', async () => {
  const store = createMemoryPipelineStore();
  const change = (name: string, fields: object) => {
    store.stored.set(name, { ...(store.stored.get(name) as PackedHead), ...fields });
  };
  return {
    store,
    damage: async (name) => change(name, { body: '{"incarnation":' }),
    makeNewer: async (name) => change(name, { schemaVersion: 2, body: 'a layout of the future' }),
  };
});

for (const [backend, start] of TABLE_SERVERS) {
  describe('in a table', () => {
    let server: TableServer;
    beforeAll(async () => {
      server = await start();
    });
    afterAll(() => server.close());
    describePipelineStore(backend, () => openDynamoPipelineStore(server));
  });
}

describe('C98 a stored definition that is not what was put', () => {
  let server: TableServer;
  beforeAll(async () => {
    server = await startDynalite();
  });
  afterAll(() => server.close());

  const definition = { name: 'etl', nodes: [{ id: 'a', params: { function: 'f' } }] };

  it.each<[string, object]>([
    ['no text', {}],
    ['no JSON', { t: '{"name":' }],
    ['no definition', { t: '{"name":"etl"}' }],
    ['no deflated text', { z: Buffer.from('nothing') }],
    ['a text that lacks its chunks', { n: 1, h: 'digest' }],
  ])('%s: it is damaged, and so says the store', async (_what, text) => {
    const table = createTable(server.client, await server.createTable());
    const store = createDynamoPipelineStore(table);
    await store.putDefinition('etl', 'i', 'rev1', definition, 0);
    await table.put({ pk: pipelinePartition('etl'), sk: definitionSortKey('rev1'), ...text });
    await expect(store.readDefinition('etl', 'rev1')).rejects.toThrow(DamagedPipelineError);
    expect(await store.readDefinition('etl', 'rev2')).toBeUndefined();
  });
});
